/** The code of the quickstart and the tutorials, extracted from their pages and run on one server. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { credentialsIn, ServerProcess } from '../packages/server/src/testing/server-process.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
const has = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args).status === 0;
const hasShell = has('bash', '--version') && has('curl', '--version');
const hasPython = has('python3', '--version');
const hasPytest = hasPython && has('python3', '-c', 'import pytest');

interface Block {
  readonly language: string;
  /** The name of the file that the block is; '' = a part of a program. */
  readonly file: string;
  readonly code: string;
}

const blocksOf = (page: string): Block[] =>
  [...readFileSync(join(ROOT, 'docs', page), 'utf8').matchAll(/^```(\w+) ?([\w.]*)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', file = '', code = '']) => ({ language, file, code }),
  );

const codeOf = (page: string, language: string): string[] =>
  blocksOf(page)
    .filter((block) => block.language === language && block.file === '')
    .map(({ code }) => code);

let folder: string;
let server: ServerProcess;
let address: string;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-tutorials-'));
  server = ServerProcess.launch({ DATA_DIR: join(folder, 'data') });
  address = await server.listening;
  const { apiKey } = credentialsIn(join(folder, 'data'));
  env = {
    PATH: process.env.PATH ?? '',
    PYTHONPATH: [join(ROOT, 'packages/python'), folder].join(delimiter),
    PYTHONDONTWRITEBYTECODE: '1',
    SANDPIT_URL: address,
    SANDPIT_API_KEY: apiKey,
  };
}, 60_000);
afterAll(async () => {
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

/** JavaScript that imports the client from this repository. */
const asModule = (code: string): string =>
  ts
    .transpileModule(code, {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
    })
    .outputText.replaceAll(/'sandpit-broker(\/testing)?'/g, (_, testing?: string) => {
      const file = testing === undefined ? 'index.js' : 'sandbox/index.js';
      return `'${pathToFileURL(join(ROOT, 'packages/client/dist', file)).href}'`;
    });

async function output(command: string, ...args: readonly string[]): Promise<string> {
  return (await run(command, args, { cwd: folder, env })).stdout.trim();
}
async function typescript(code: string): Promise<string> {
  writeFileSync(join(folder, 'program.mjs'), asModule(code));
  return output(process.execPath, 'program.mjs');
}
async function python(code: string): Promise<string> {
  writeFileSync(join(folder, 'program.py'), code);
  return output('python3', 'program.py');
}
const shell = (code: string): Promise<string> =>
  output(
    'bash',
    '-euo',
    'pipefail',
    '-c',
    code.replaceAll('http://127.0.0.1:3000', address).replace('curl -sS', `curl -w '\\n' -sS`),
  );

describe('quickstart.md', () => {
  it.runIf(hasShell)('buys ten shares in curl', async () => {
    const [order, executions] = (await shell(codeOf('quickstart.md', 'sh').join('\n'))).split('\n');
    expect(JSON.parse(order ?? '')).toMatchObject({ status: 'FILLED', filledQuantity: 10 });
    expect(JSON.parse(executions ?? '')).toMatchObject({ data: [{ explanation: { rule: 'TOUCH' } }] });
  });

  it('buys ten shares in TypeScript', async () => {
    expect(await typescript(codeOf('quickstart.md', 'ts').join('\n'))).toMatch(
      /^bought 10 AAPL at [\d.]+ by the rule TOUCH$/,
    );
  });

  it.runIf(hasPython)('buys ten shares in Python', async () => {
    expect(await python(codeOf('quickstart.md', 'py').join('\n'))).toMatch(
      /^bought 10 AAPL at [\d.]+ by the rule TOUCH$/,
    );
  });
});

describe('tutorials/first-bot.md', () => {
  it.runIf(hasShell)(
    'buys with a bracket in curl',
    async () => {
      const [order, executions, exits] = (
        await shell(codeOf('tutorials/first-bot.md', 'sh').join('\n'))
      ).split('\n');
      expect(JSON.parse(order ?? '')).toMatchObject({ status: 'FILLED', filledQuantity: 10 });
      expect(JSON.parse(executions ?? '')).toMatchObject({ data: [{ explanation: { rule: 'TOUCH' } }] });
      expect(JSON.parse(exits ?? '')).toMatchObject({
        data: expect.arrayContaining([
          expect.objectContaining({ orderType: 'LIMIT', status: 'ACTIVE' }),
          expect.objectContaining({ orderType: 'STOP', status: 'ACTIVE' }),
        ]) as unknown,
      });
    },
    30_000,
  );

  it('buys with a bracket in TypeScript', async () => {
    const [order = ''] = codeOf('tutorials/first-bot.md', 'ts');
    expect(await typescript(order)).toMatch(/^bought 10 AAPL at [\d.]+ by the rule TOUCH$/);
  }, 30_000);

  it.runIf(hasPython)(
    'trades the same in TypeScript and Python',
    async () => {
      const [order = '', bot = ''] = codeOf('tutorials/first-bot.md', 'py');
      expect(await python(order)).toMatch(/^bought 10 AAPL at [\d.]+ by the rule TOUCH$/);
      const said = await python(bot);
      expect(said).toMatch(/^[1-9]\d* trades, equity \d+/);
      expect(await typescript(codeOf('tutorials/first-bot.md', 'ts')[1] ?? '')).toBe(said);
    },
    60_000,
  );
});

describe('tutorials/covered-call.md', () => {
  const profit = /\| profit \| \+([\d.,]+) \|/.exec(
    readFileSync(join(ROOT, 'docs/tutorials/covered-call.md'), 'utf8'),
  )?.[1];
  const equity = 20_000 + Number(profit);
  const told = [
    'reserved 100',
    'INSUFFICIENT_POSITION',
    expect.stringMatching(/^ASSIGNED .*AAPL260116C00155000/) as unknown,
    `equity ${equity}`,
  ];

  it.runIf(hasShell)(
    'ends in an assignment in curl',
    async () => {
      const answers = (await shell(codeOf('tutorials/covered-call.md', 'sh').join('\n')))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as unknown);
      expect(answers).toEqual(
        expect.arrayContaining([
          [expect.objectContaining({ symbol: 'AAPL', reservedQuantity: 100 })],
          expect.objectContaining({
            error: expect.objectContaining({ code: 'INSUFFICIENT_POSITION' }) as unknown,
          }),
          [expect.objectContaining({ date: '2026-01-20', cash: 15_500 })],
        ]),
      );
      expect(answers.at(-1)).toMatchObject({ totalEquity: equity, settledCash: equity });
    },
    30_000,
  );

  it('ends in an assignment in TypeScript', async () => {
    expect((await typescript(codeOf('tutorials/covered-call.md', 'ts').join('\n'))).split('\n')).toEqual(
      told,
    );
  }, 30_000);

  it.runIf(hasPython)(
    'ends in an assignment in Python',
    async () => {
      expect((await python(codeOf('tutorials/covered-call.md', 'py').join('\n'))).split('\n')).toEqual(told);
    },
    30_000,
  );
});

describe('tutorials/ci-suite.md', () => {
  const suite = 'suite';
  const write = (language: string): void => {
    mkdirSync(join(folder, suite), { recursive: true });
    for (const { file, code } of blocksOf('tutorials/ci-suite.md').filter((one) => one.language === language))
      if (file !== '') writeFileSync(join(folder, suite, file), language === 'ts' ? asModule(code) : code);
  };

  it('passes with the test runner of Node', async () => {
    write('ts');
    const { stdout } = await run(process.execPath, ['--test'], { cwd: join(folder, suite), env });
    expect(stdout).toMatch(/^# pass 3$/m);
  }, 30_000);

  it.runIf(hasPytest)(
    'passes with pytest',
    async () => {
      write('py');
      const { stdout } = await run('python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
        cwd: join(folder, suite),
        env,
      });
      expect(stdout).toContain('3 passed');
    },
    30_000,
  );
});
