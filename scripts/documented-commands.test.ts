/** Every command in the documentation exists in the directory that the page names, with the options shown. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { programOf } from '../packages/cli/src/program.js';

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
  const file = join(ROOT, `packages/server/dist/${command}-command.js`);
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

it('npx finds the command of a checkout in its folder', () => {
  const npx = process.platform === 'win32' ? 'npx.cmd' : 'npx';
  const told = execFileSync(npx, ['--no', '--', 'sandpit', '--version'], { cwd: ROOT, encoding: 'utf8' });
  expect(told).toBe(`${version}\n`);
});
