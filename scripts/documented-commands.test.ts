/** Every command in the documentation exists in the directory that the page names, with the options shown. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandbox } from 'sandpit-broker/testing';
import { EXIT, programOf, run } from '../packages/cli/src/program.js';
import { PROGRAMS } from '../packages/server/src/testing/joined-programs.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/README.md',
  'scripts/packing/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.startsWith('decisions'))
    .map((path) => join('docs', path)),
];

interface Printed {
  readonly page: string;
  readonly words: readonly string[];
}

/** Commands in blocks of shell code and in code spans. Brackets around optional parts, comments and leading settings are removed. */
function printedIn(page: string): Printed[] {
  const text = read(page);
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, code = '']) => code.split('\n'));
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '');
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  return (
    [...blocks, ...spans]
      .flatMap((line) => line.replace(/\s#.*$/, '').split(/&&|\||<\(|\$\(|;/))
      .map((line) =>
        line
          .replace(/[[\]()\\]/g, ' ')
          .trim()
          .replace(/^(?:source|[A-Z_]+=\S*)\s+/g, ''),
      )
      .map((line) => line.replace(/^(?:[A-Z_]+=\S+\s+)+/, ''))
      // `sandpit listening on …` is a line that the server prints.
      .filter((line) => /^(?:npm|npx|sandpit)\s(?!listening)/.test(line))
      .map((line) => ({ page, words: line.match(/"[^"]*"|\S+/g) ?? [] }))
  );
}

const printed = PAGES.flatMap(printedIn);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}
const { name, version, bin, scripts } = JSON.parse(read('package.json')) as Manifest;

const silent = { isTerminal: false, write: () => undefined, complain: () => undefined };
const program = programOf(silent);

/** Commands that are programs of the server, and the usage that each prints. */
const SERVER_PROGRAMS = ['token', 'keys', 'tenant', 'verify', 'backup', 'record', 'migrate', 'cluster'];
/** Packages of others that the documentation installs. */
const OTHER_PACKAGES = ['standardwebhooks'];
const usages = new Map<string, string>();
function usageOf(command: string): string {
  const file = join(PROGRAMS, `${command}-command.js`);
  const usage = usages.get(command) ?? execFileSync(process.execPath, [file, '--help'], { encoding: 'utf8' });
  usages.set(command, usage);
  return usage;
}

const optionsIn = (words: readonly string[]): string[] =>
  words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split('=')[0] ?? word);

/** The reason why `sandpit …` could not be typed as printed; undefined = it could. */
function wrongIn(words: readonly string[]): string | undefined {
  const [first, ...rest] = words;
  if (first === undefined || /^-/.test(first)) return unknownOption(program, words);
  const command = find(program, first);
  if (command === undefined) return `there is no command ${first}`;
  if (SERVER_PROGRAMS.includes(first)) return notInUsage(usageOf(first), rest);
  const second = rest[0] === undefined ? undefined : find(command, rest[0]);
  return unknownOption(second ?? command, rest);
}

const find = (command: Command, word: string): Command | undefined =>
  command.commands.find((one) => one.name() === word || one.aliases().includes(word));

function unknownOption(command: Command, words: readonly string[]): string | undefined {
  const known = [...command.options, ...program.options].flatMap(({ short, long }) => [short, long]);
  const unknown = optionsIn(words).find((option) => !known.includes(option) && option !== '--help');
  return unknown === undefined ? undefined : `${command.name()} has no option ${unknown}`;
}

function notInUsage(usage: string, words: readonly string[]): string | undefined {
  const unknown = optionsIn(words).find((option) => !usage.includes(option) && option !== '--help');
  return unknown === undefined ? undefined : `its usage does not mention ${unknown}`;
}

/** The programs that a checkout has: those of its packages for development, and its own. */
const isInstalled = (command: string): boolean =>
  command in bin || existsSync(join(ROOT, 'node_modules/.bin', command));

function wrong([program = '', ...rest]: readonly string[]): string | undefined {
  if (program === 'sandpit') return wrongIn(rest);
  const words = rest.filter((word) => !['-s', '-y', '--yes', '--no'].includes(word));
  const [verb = '', ...given] = words;
  if (program === 'npx') {
    if (verb === 'sandpit' || verb === name) return wrongIn(given);
    return isInstalled(verb) ? undefined : `a checkout has no program ${verb}`;
  }
  if (verb === 'run') {
    const [script = '', ...args] = given.filter((word) => word !== '--');
    if (!Object.hasOwn(scripts, script)) return `there is no script ${script}`;
    if (script === 'sandpit') return wrongIn(args);
    return SERVER_PROGRAMS.includes(script) ? notInUsage(usageOf(script), args) : undefined;
  }
  if (verb === 'install') {
    const wanted = given.filter((word) => !word.startsWith('-'));
    return wanted.every((one) => one === name || OTHER_PACKAGES.includes(one))
      ? undefined
      : `installs ${wanted.join(', ')}`;
  }
  return ['ci', 'start', 'test', 'pack', 'audit'].includes(verb) ? undefined : `npm has no ${verb} here`;
}

describe('commands in the documentation', () => {
  it('are found: npm scripts, programs of packages, the command line', () => {
    const lines = printed.map(({ words }) => words.join(' '));
    for (const line of ['npm start', 'npx sandpit doctor', 'npx sandpit buy AAPL 10', 'npm run check'])
      expect(lines).toContain(line);
    expect(lines.length).toBeGreaterThan(50);
  });

  it('exist, with the options that they are printed with', () => {
    const problems = printed.flatMap(({ page, words }) => {
      const problem = wrong(words);
      return problem === undefined ? [] : [`${page}: ${words.join(' ')}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });

  it('a wrong command, option, script, program or package is noticed', () => {
    for (const line of [
      'npx sandpit purchase AAPL',
      'npx sandpit buy AAPL 10 --price 5',
      'sandpit token --who me',
      'npm run serve',
      'npx nonesuch',
      'npx -y sandpit-sim up',
      'npm install sandpit',
    ])
      expect(wrong(line.split(' ')), line).toBeDefined();
  });

  it('name the version of the package file', () => {
    for (const page of PAGES)
      for (const [, found] of read(page).matchAll(/sandpit-broker-(\d[\w.-]*?)\.tgz/g))
        expect(found, page).toBe(version);
  });
});

/** Words of a line as a shell divides it, without its comment. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/\s#\s.*$/, '').matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );

describe('commands of the client in the documentation, executed in the order of their page', () => {
  /** Programs of a server's machine, and commands that run until they are stopped: other tests execute them. */
  const ELSEWHERE = [
    ...SERVER_PROGRAMS,
    ...[
      'up',
      'sandbox',
      'mcp',
      'watch',
      'import',
      'webhooks listen',
      'competition verify',
      'run',
      'invite',
      'tws',
      'eval',
    ],
  ];
  /** Ids that stand for those of earlier answers. Ids of webhooks do not: a delivery would leave this machine. */
  const FILLED = ['SIMULATION_ID', 'SNAPSHOT_ID', 'COMPETITION_ID'];
  /** Refusals by the market of the test, or because the page shows lines of several situations. */
  const REFUSED: Readonly<Record<string, string>> = {
    'sim fill every-status': 'Only an empty simulation can be filled with a fixture',
    'sim fork main': 'from.at must not be before the beginning of the simulation',
    'competition enter': 'The competition is over',
    'portfolio import Portfolio_Positions.csv --skip-unsupported': 'into a portfolio without positions',
  };
  const linesOf = (page: string): string[] =>
    [...read(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
      .flatMap(([, code = '']) => code.split('\n'))
      .flatMap((line) => /^(?:npx )?sandpit (.*)$/.exec(line)?.[1] ?? [])
      .filter((line) => !ELSEWHERE.some((one) => line === one || line.startsWith(`${one} `)));

  let folder: string;
  const before = process.cwd();
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sandpit-commands-'));
    process.chdir(folder);
    const [cup = ''] = /(?<=^```json\n)[\s\S]*?(?=^```$)/m.exec(read('docs/how-to/competitions.md')) ?? [];
    writeFileSync('cup.json', cup);
    writeFileSync('Portfolio_Positions.csv', 'symbol,quantity,price\nAAPL,10,120.5\n');
  });
  afterAll(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  it.each(PAGES.filter((page) => linesOf(page).length > 0))('%s', { timeout: 60_000 }, async (page) => {
    const sim = await sandbox({ start: '2026-01-07T10:00:00-05:00', cash: 10_000, server: true });
    for (const symbol of ['AAPL', 'MSFT', 'SPY']) await sim.quote(symbol, 199.9, 200);
    const { simulationId } = sim;
    const { token } = await sim.client.call('createSimulationToken', { params: { simulationId } });
    const ids = new Map<string, string>();
    for (const line of linesOf(page)) {
      const words = wordsOf(line).map((word) => ids.get(word) ?? word);
      let out = '';
      let complaint = '';
      const code = await run(['--url', sim.client.transport.baseUrl, '--token', token, ...words], {
        isTerminal: false,
        write: (text) => void (out += text),
        complain: (text) => void (complaint += text),
      });
      for (const name of FILLED) {
        const field = name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
        const [, id] = new RegExp(`"${field}": "([^"]+)"`).exec(out) ?? [];
        if (id !== undefined) ids.set(name, id);
      }
      const refusal = Object.entries(REFUSED).find(([one]) => line.startsWith(one))?.[1];
      const isOfUnknown = words.some((word) => /^[A-Z_]+_ID$/.test(word));
      const expected = refusal === undefined && !isOfUnknown ? EXIT.done : EXIT.refused;
      expect([line, code, complaint]).toEqual([line, expected, complaint]);
      if (refusal !== undefined) expect(complaint).toContain(refusal);
    }
    await sim.close();
  });
});

it('npx finds the command of a checkout in its folder', () => {
  const npx = process.platform === 'win32' ? 'npx.cmd' : 'npx';
  const told = execFileSync(npx, ['--no', '--', 'sandpit', '--version'], { cwd: ROOT, encoding: 'utf8' });
  expect(told).toBe(`${version}\n`);
});
