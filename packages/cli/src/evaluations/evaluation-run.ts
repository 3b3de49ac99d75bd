/** `sandpit eval run`: agents play every cell of an evaluation, each run a process of its own. */
import { createWriteStream, renameSync } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Sandpit } from '@sandpit/client';
import type { EvaluationBody } from '@sandpit/protocol';
import { requireIsolation } from '../run/isolation.js';
import { OwnServer } from '../run/own-server.js';
import { RunDirectory } from '../run/run-directory.js';
import { RunFailure } from '../run/run-failure.js';
import { runAgent } from './agent-process.js';

const POLL_MS = 200;
const ENDED = 409;
const NEW_LINE = 10;

export interface Agent {
  readonly name: string;
  /** For a shell. */
  readonly command: string;
}

export interface EvaluationRunOptions {
  readonly body: EvaluationBody;
  readonly agents: readonly Agent[];
  /** Cells that are played at a time. */
  readonly parallel: number;
  readonly isIsolated: boolean;
  /** File for the export. */
  readonly to?: string;
  /** A server that runs; absent = one of this run. */
  readonly client?: Sandpit;
  /** Settings of a server of this run, by their names. */
  readonly settings: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
}

/** The evaluation with its matrix and figures. */
export type EvaluationResult = Awaited<ReturnType<typeof resultOf>>;

const resultOf = (client: Sandpit, evaluationId: string) =>
  client.call('getEvaluation', { params: { evaluationId } });

interface CellToPlay {
  readonly entrant: string;
  readonly command: string;
  readonly scenario: string;
  readonly seed: string | number;
  readonly trial: number;
  readonly token: string;
  readonly portfolioId: string;
}

/** Runs an evaluation to its end. Everything that it has opened is closed, whatever happens. */
export async function runEvaluation(options: EvaluationRunOptions): Promise<EvaluationResult> {
  if (options.isIsolated) requireIsolation();
  const opened: (() => Promise<unknown>)[] = [];
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  try {
    const directory = new RunDirectory();
    opened.push(() => directory.remove());
    const client = options.client ?? (await ownServer(options, opened));
    return await runAt(client, directory, options, stopped.signal);
  } finally {
    for (const close of opened.reverse()) await close().catch(() => undefined);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  }
}

async function ownServer(
  { settings }: EvaluationRunOptions,
  opened: (() => Promise<unknown>)[],
): Promise<Sandpit> {
  const server = await OwnServer.start({ MARKET_FEED: 'synthetic', LOG_LEVEL: 'error', ...settings });
  opened.push(() => server.close());
  return new Sandpit({ url: server.url, apiKey: server.apiKey });
}

async function runAt(
  client: Sandpit,
  directory: RunDirectory,
  { body, agents, parallel, isIsolated, to, say }: EvaluationRunOptions,
  signal: AbortSignal,
): Promise<EvaluationResult> {
  const { evaluationId, warnings } = await client.call('createEvaluation', { body });
  for (const { code, message } of warnings) say(`${code}: ${message}`);
  const cells: CellToPlay[] = [];
  for (const { name, command } of agents) {
    const entry = await client.call('enterEvaluation', { params: { evaluationId }, body: { entrant: name } });
    cells.push(...entry.cells.map((cell) => ({ ...cell, entrant: name, command })));
  }
  const url = client.transport.baseUrl;
  let number = 0;
  const isStopped = (): boolean => signal.aborted;
  const play = async (): Promise<void> => {
    for (let cell = cells.shift(); cell !== undefined && !isStopped(); cell = cells.shift()) {
      const { token, portfolioId, entrant, command, scenario, seed, trial } = cell;
      number += 1;
      const access = { url, token, portfolioId };
      const code = await runAgent(directory, { command, access, isIsolated, name: `cell-${number}` }, signal);
      if (code !== 0)
        say(`${entrant}, ${scenario}, seed ${seed}, trial ${trial}: the command ended with ${code}`);
      if (!isStopped()) await finish(url, token);
    }
  };
  await Promise.all(Array.from({ length: parallel }, play));
  if (isStopped()) throw new RunFailure('stopped');
  let result = await resultOf(client, evaluationId);
  while (result.status !== 'DONE' && !isStopped()) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    result = await resultOf(client, evaluationId);
  }
  if (to !== undefined) await writeExport(client, evaluationId, to, isIsolated);
  return result;
}

/** Ends a cell whose command has ended, unless its market has. */
async function finish(url: string, token: string): Promise<void> {
  const response = await fetch(`${url}/v1/evaluation/finish`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  if (!response.ok && response.status !== ENDED) throw new RunFailure(text);
}

/** Writes the file of the evaluation; its first line says whether the agents were isolated. */
async function writeExport(
  client: Sandpit,
  evaluationId: string,
  to: string,
  isIsolated: boolean,
): Promise<void> {
  const file = await client.exportEvaluation(evaluationId);
  const draft = `${to}.part`;
  await pipeline(
    Readable.fromWeb(file as Parameters<typeof Readable.fromWeb>[0]),
    firstLineWith({ isolated: isIsolated }),
    createWriteStream(draft, { mode: 0o600 }),
  );
  renameSync(draft, to);
}

/** Adds fields to the JSON of the first line. */
function firstLineWith(fields: Readonly<Record<string, unknown>>): Transform {
  let first: Buffer[] | undefined = [];
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (first === undefined) {
        done(null, chunk);
        return;
      }
      const end = chunk.indexOf(NEW_LINE);
      first.push(end === -1 ? chunk : chunk.subarray(0, end));
      if (end === -1) {
        done();
        return;
      }
      const line = JSON.parse(Buffer.concat(first).toString('utf8')) as object;
      first = undefined;
      this.push(`${JSON.stringify({ ...line, ...fields })}\n`);
      done(null, chunk.subarray(end + 1));
    },
  });
}
