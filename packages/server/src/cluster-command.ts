import { BadSetting, readSettings } from './config.js';
import { lastWords } from './run-server.js';
import { withLosses } from './store/postgres/lost-records.js';
import { printUsage } from './usage.js';

const USAGE = `usage: sandpit cluster accept-loss [CELL…]

Puts simulations back into service that lack acknowledged records, with the records that the database has. CELL is the name in the server's log:
main/TENANT, market, or the id of a simulation. Without CELL it lists those that are out of service. DATABASE_URL names the database; servers
may be running. Clients that resume a stream from a lost event get a reset.`;

/** `sandpit cluster accept-loss CELL`. Exits 0 when every cell is in service. */
async function main(): Promise<number> {
  const [verb, ...ids] = process.argv.slice(2);
  if (verb !== 'accept-loss') throw new BadSetting(USAGE);
  const { databaseUrl: url } = readSettings();
  if (url === undefined) throw new BadSetting('DATABASE_URL: name the database whose loss is to be accepted');
  return withLosses(url, async (losses) => {
    if (ids.length === 0) {
      for (const { id, missing } of await losses.list()) console.log(`${id} lacks ${missing} records`);
      return 0;
    }
    let code = 0;
    for (const id of ids) {
      const accepted = await losses.accept(id);
      if (accepted === undefined) {
        console.error(`sandpit: ${id} is not out of service, or there is no such simulation`);
        code = 1;
      } else
        console.log(
          `${id} is in service again: it ends with record ${accepted.sequence}, ${accepted.missing} acknowledged records are lost`,
        );
    }
    return code;
  });
}

try {
  process.exitCode = printUsage(USAGE) ? 0 : await main();
} catch (error) {
  console.error(lastWords(error));
  process.exitCode = 1;
}
