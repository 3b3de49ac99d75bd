/**
 * Runs the Python clients of other services from their sources: `npx tsx scripts/foreign-clients.ts FOLDER [NAME…]`, after a build. First the example
 * bots, each of which must place a bracket whose entry is filled, then `compatibility.ts`.
 *
 * FOLDER gets a checkout of each client at the commit below, unless it is there already. `python3` needs the packages of
 * `foreign-clients/requirements.txt`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Source {
  readonly repository: string;
  readonly commit: string;
  /** Variable by which `compatibility.ts` finds the checkout. */
  readonly variable?: string;
}

const SOURCES: readonly Source[] = [
  { repository: 'alpacahq/alpaca-py', commit: 'bd1fa9e', variable: 'ALPACA_PY' },
  { repository: 'alexgolec/schwab-py', commit: 'a55cb29', variable: 'SCHWAB_PY' },
  { repository: 'tylerebowers/Schwabdev', commit: 'a5aa524', variable: 'SCHWABDEV' },
  { repository: 'ib-api-reloaded/ib_async', commit: '2afdae4', variable: 'IB_ASYNC' },
  { repository: 'erdewit/eventkit', commit: 'caec938' },
  { repository: 'Lumiwealth/lumiwealth-tradier', commit: 'b5b89ef', variable: 'LUMIWEALTH_TRADIER' },
  { repository: 'thammo4/uvatradier', commit: 'ddbf9ea', variable: 'UVATRADIER' },
];

const BOTS = [
  ['alpaca', 'alpaca_bot.py'],
  ['ibkr', 'ibkr_bot.py'],
  ['schwab', 'schwab_bot.py'],
] as const;

const [given, ...names] = process.argv.slice(2);
if (given === undefined) throw new Error('usage: npx tsx scripts/foreign-clients.ts FOLDER [NAME…]');
const folder = resolve(given);

function checkoutOf({ repository, commit }: Source): string {
  const directory = join(folder, repository.split('/')[1] ?? '');
  if (existsSync(directory)) return directory;
  const git = (...words: readonly string[]): Buffer => execFileSync('git', words, { stdio: 'inherit' });
  git('clone', '--quiet', '--filter=blob:none', `https://github.com/${repository}`, directory);
  git('-C', directory, 'checkout', '--quiet', commit);
  return directory;
}

/** A client that reads its own version finds it in the metadata of an installed package. */
function metadataOf(checkout: string): string {
  const directory = join(folder, 'metadata');
  const version =
    /^version = "(.+)"$/m.exec(readFileSync(join(checkout, 'pyproject.toml'), 'utf8'))?.[1] ?? '0';
  const metadata = join(directory, `ib_async-${version}.dist-info`);
  mkdirSync(metadata, { recursive: true });
  writeFileSync(join(metadata, 'METADATA'), `Metadata-Version: 2.1\nName: ib_async\nVersion: ${version}\n`);
  return directory;
}

mkdirSync(folder, { recursive: true });
const checkouts = SOURCES.map((source) => ({ ...source, directory: checkoutOf(source) }));
const ibAsync = checkouts.find(({ variable }) => variable === 'IB_ASYNC')?.directory ?? '';
const env = {
  ...process.env,
  PYTHONPATH: [...checkouts.map(({ directory }) => directory), metadataOf(ibAsync)].join(delimiter),
  ...Object.fromEntries(
    checkouts.flatMap(({ variable, directory }) => (variable ? [[variable, directory]] : [])),
  ),
};

for (const [broker, bot] of BOTS) {
  const main = join(ROOT, 'packages/cli/dist/main.js');
  const command = ['run', '--broker', broker, '--', 'python3', join(ROOT, 'examples/bots', bot)];
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...command], {
    encoding: 'utf8',
    env,
  });
  process.stdout.write(`${bot}\n${stdout}${stderr}`);
  if (status !== 0 || !stderr.includes('sandpit run: 3 orders, 1 fill, 0 refusals'))
    throw new Error(`${bot} ended with ${String(status)}`);
}
execFileSync('npx', ['tsx', join(ROOT, 'scripts/compatibility.ts'), ...names], { stdio: 'inherit', env });
