import pg from 'pg';

/** Runs statements while a database accepts no connection. */
async function offline(url: string, work: (client: pg.Client, name: string) => Promise<void>): Promise<void> {
  const { pathname } = new URL(url);
  const name = pathname.slice(1);
  const other = new URL(url);
  other.pathname = '/postgres';
  const client = new pg.Client({ connectionString: other.href });
  await client.connect();
  try {
    await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await client.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [
      name,
    ]);
    await work(client, name);
    await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  } finally {
    await client.end();
  }
}

/** Copies a database as a backup does. Connections to it are cut. */
export const backUp = (url: string): Promise<void> =>
  offline(url, async (client, name) => {
    await client.query(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
  });

/** Puts the copy in the place of a database. Connections to it are cut. */
export const restore = (url: string): Promise<void> =>
  offline(url, async (client, name) => {
    await client.query(`DROP DATABASE ${name}`);
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${name}_copy`);
  });

/** Runs a statement on the tables of a store. */
export async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, options: '-c search_path=sandpit' });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
