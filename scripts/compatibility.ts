/**
 * Makes `docs/dialects/COMPATIBILITY.md` (D278): runs clients of other services unmodified under `sandpit run` and counts their calls.
 * `npx tsx scripts/compatibility.ts [NAME…]`, after a build. Variables such as `ALPACA_PY` name checkouts of the Python clients
 * (`foreign-clients.ts` sets them). A client that is not here keeps its row.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = join(ROOT, 'docs/dialects/COMPATIBILITY.md');

interface Client {
  readonly name: string;
  readonly version: string;
  readonly broker: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface Call {
  readonly name: string;
  /** Why it failed. */
  readonly why?: string;
}

/** Calls that a dialect does not serve, or serves in another way, by its page. */
const DIFFERENT = /crypto|forex|locate|cusip real|^get(?:OrdersByAccount|OrderByOrderId)$/i;

const script = (name: string): string => join(ROOT, 'scripts/compatibility', name);

function versionOf(module: string): string {
  const manifest = readFileSync(join(ROOT, 'node_modules', module, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

function clientsHere(): readonly Client[] {
  const node = (name: string, module: string, file: string, broker = 'alpaca'): Client => ({
    name,
    version: versionOf(module),
    broker,
    command: [process.execPath, script(file)],
  });
  const python = (name: string, sources: string | undefined, file: string, broker: string): Client[] =>
    sources === undefined
      ? []
      : [
          {
            name,
            version: commitOf(sources),
            broker,
            command: ['python3', script(file)],
            env: {
              PYTHONPATH: [sources, process.env.PYTHONPATH ?? ''].filter((one) => one !== '').join(':'),
            },
          },
        ];
  return [
    node('`@alpacahq/alpaca-trade-api`', 'alpaca-v3', 'alpaca-js-3.mjs'),
    node('`@alpacahq/alpaca-trade-api`', 'alpaca-v4', 'alpaca-js-4.mjs'),
    node('`tradier-api`', 'tradier-api', 'tradier-api.mjs', 'tradier'),
    node('`@stoqey/ib`', '@stoqey/ib', 'stoqey-ib.mjs', 'ibkr'),
    ...python('`ib_async`', process.env.IB_ASYNC, 'ib_async_calls.py', 'ibkr'),
    node('`@sudowealth/schwab-api`', '@sudowealth/schwab-api', 'schwab-sudowealth.mjs', 'schwab'),
    ...python('`alpaca-py`', process.env.ALPACA_PY, 'alpaca_py.py', 'alpaca'),
    ...python('`schwab-py`', process.env.SCHWAB_PY, 'schwab_py.py', 'schwab'),
    ...python('`Schwabdev`', process.env.SCHWABDEV, 'schwabdev_calls.py', 'schwab'),
    ...python('`lumiwealth-tradier`', process.env.LUMIWEALTH_TRADIER, 'tradier_lumiwealth.py', 'tradier'),
    ...python('`uvatradier`', process.env.UVATRADIER, 'tradier_uva.py', 'tradier'),
  ];
}

const commitOf = (directory: string): string =>
  execFileSync('git', ['-C', directory, 'rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

function callsOf({ broker, command, env }: Client): readonly Call[] {
  const main = join(ROOT, 'packages/cli/dist/main.js');
  const given = [main, 'run', '--quiet', '--broker', broker, '--', ...command];
  const { stdout, stderr, status } = spawnSync(process.execPath, given, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  const line = stdout.split('\n').find((one) => one.startsWith('{"calls"'));
  if (line === undefined) throw new Error(`${command.join(' ')} ended with ${String(status)}: ${stderr}`);
  return (JSON.parse(line) as { readonly calls: readonly Call[] }).calls;
}

interface Row {
  readonly client: string;
  readonly version: string;
  readonly cells: string;
  readonly different: readonly string[];
}

function rowOf(client: Client): Row {
  const calls = callsOf(client);
  const failed = calls.filter(({ why }) => why !== undefined);
  const broken = failed.filter(({ name }) => !DIFFERENT.test(name));
  if (broken.length > 0)
    throw new Error(
      `${client.name} ${client.version}: ${broken.map(({ name, why = '' }) => `${name}: ${why}`).join('; ')}`,
    );
  const date = new Date().toISOString().slice(0, 10);
  return {
    client: client.name,
    version: client.version,
    cells: `${calls.length} | ${calls.length - failed.length} | ${failed.length} | ${date}`,
    different: failed.map(
      ({ name, why = '' }) => `- ${client.name} ${client.version}: \`${name}\` (${why.split('\n')[0] ?? ''})`,
    ),
  };
}

/** Rows and differences of the page as it is. */
function rowsBefore(): readonly Row[] {
  if (!existsSync(PAGE)) return [];
  const page = readFileSync(PAGE, 'utf8');
  return [...page.matchAll(/^\| (`[^|]+`)\s*\| (\S+)\s*\| ([^\n]*\d{4}-\d{2}-\d{2})\s*\|$/gm)].map(
    ([, client = '', version = '', cells = '']) => ({
      client,
      version,
      cells,
      different: page.split('\n').filter((line) => line.startsWith(`- ${client} ${version}: `)),
    }),
  );
}

const names = process.argv.slice(2);
const rows = clientsHere()
  .filter(({ name }) => names.length === 0 || names.some((one) => name.includes(one)))
  .map(rowOf);
const isHere = (row: Row): boolean =>
  rows.some(
    ({ client, version }) => client === row.client && version.split('.')[0] === row.version.split('.')[0],
  );
const all = [...rows, ...rowsBefore().filter((row) => !isHere(row))];
const page = `# Compatibility of clients

Clients as published, run under [\`sandpit run\`](../how-to/run.md) without a change to them or to their settings. \`scripts/compatibility.ts\` makes this page; a
version without a number is a commit. *Whole*: calls that were answered and that the client accepted. *Different*: calls that the page of the
[dialect](../contract/dialects.md#d272) lists as not available.

| client | version | calls tried | whole | different | date |
| --- | --- | --- | --- | --- | --- |
${all.map(({ client, version, cells }) => `| ${client} | ${version} | ${cells} |`).join('\n')}

## Different

${all.flatMap(({ different }) => different).join('\n') || 'None.'}
`;
writeFileSync(PAGE, await format(page, { ...(await resolveConfig(PAGE)), parser: 'markdown' }));
process.stdout.write(`${PAGE}\n`);
