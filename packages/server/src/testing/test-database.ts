import { connect } from 'node:net';

/** The URL of a new database in the PostgreSQL that all test files share. */
export async function newDatabase(): Promise<string> {
  const path = process.env['SANDPIT_TEST_POSTGRES'];
  if (path === undefined) throw new Error('No PostgreSQL: vitest.config.ts names scripts/postgres-setup.ts');
  const socket = connect(path);
  let url = '';
  for await (const chunk of socket) url += String(chunk);
  if (!url.startsWith('postgres://')) throw new Error(url);
  return url;
}
