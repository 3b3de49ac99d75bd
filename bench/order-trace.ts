/**
 * Where an order waits between its arrival and its answer: `POST /v1/orders` on the real server process with the SQLite store at a low load, and
 * the time at which each order and each commit pass from one thread to the next. A preload takes these times, so the server is the one that
 * people start.
 *
 * Leaves out: rate limits, streams and readers, TLS, the network, the time in the sockets before the server has read the head of the request.
 *
 *   npx tsc -b && npx tsx bench/order-trace.ts      BENCH_CONNECTIONS, BENCH_SECONDS, BENCH_RATE (orders a second; absent = as many as
 *   are answered)
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, prepare } from './http.js';
import { median, quantile, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { environmentIn, startBrokerage, stop, tokenFor } from './served.js';

/**
 * Runs in every thread of the server before anything else, so it is plain JavaScript. Each line it writes is a passage: its name, a number (of
 * a batch, or the start of a request) and its time, all times in milliseconds of one clock.
 */
const PRELOAD = `
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const threads = require('node:worker_threads');
const { subscribe } = require('node:diagnostics_channel');
const passages = [];
const now = () => Number(process.hrtime.bigint()) / 1e6;
const pass = (name, number) => passages.push([name, number, now()]);
const write = () => writeFileSync(join(process.env.BENCH_TRACE, threads.threadId + '.json'), JSON.stringify(passages));
const { postMessage, on } = threads.MessagePort.prototype;
threads.MessagePort.prototype.postMessage = function (message, transfer) {
  if (message?.kind === 'batch') pass('sent', message.number);
  if (message?.kind === 'committed') pass('committed', message.upTo);
  // The writer's last message: the process does not wait for the end of its thread.
  if (message?.kind === 'closed') write();
  return postMessage.call(this, message, transfer);
};
const receive = threads.receiveMessageOnPort;
threads.receiveMessageOnPort = (port) => {
  const received = receive(port);
  if (received?.message?.kind === 'batch') pass('taken', received.message.number);
  return received;
};
threads.MessagePort.prototype.on = function (event, listener) {
  if (event !== 'message') return on.call(this, event, listener);
  return on.call(this, event, (message) => {
    if (message?.kind === 'batch') pass('taken', message.number);
    listener(message);
  });
};
require('node:module').syncBuiltinESMExports();
const { emit } = threads.Worker.prototype;
threads.Worker.prototype.emit = function (event, message) {
  if (event === 'message' && message?.kind === 'committed') pass('known', message.upTo);
  return emit.apply(this, arguments);
};
const started = new WeakMap();
subscribe('http.server.request.start', ({ request }) => {
  if (request.method === 'POST' && request.url === '/v1/orders') started.set(request, now());
});
subscribe('http.server.response.finish', ({ request }) => {
  if (started.has(request)) pass('answered', started.get(request));
});
if (threads.isMainThread) process.on('exit', write);
`;

type Passage = readonly ['sent' | 'taken' | 'committed' | 'known' | 'answered', number, number];

/** The parts of an order's time, in their order. */
const SPANS = [
  'arrival to hand-over: parsing, checks, the decision, its record',
  'hand-over to the start of its commit: the writer wakes, or ends the commit before',
  'its commit: pages, sums, sync',
  'commit to the main thread: the thread wakes, or ends its turn',
  'main thread to answer',
] as const;

async function measureTrace(): Promise<readonly Row[]> {
  const connections = sizeOf('CONNECTIONS', 8);
  const seconds = sizeOf('SECONDS', 5);
  const rate = process.env['BENCH_RATE'];
  return withDirectory(async (directory) => {
    const env = environmentIn(join(directory, 'data'));
    mkdirSync(env.DATA_DIR);
    const traces = join(directory, 'traces');
    mkdirSync(traces);
    const preload = join(directory, 'trace.cjs');
    writeFileSync(preload, PRELOAD);
    const token = await tokenFor(env);
    const brokerage = await startBrokerage({
      ...env,
      NODE_OPTIONS: `--require ${preload}`,
      BENCH_TRACE: traces,
    });
    try {
      const bodies = await prepare(brokerage.url, token, connections);
      const wish = { url: brokerage.url, token, seconds, bodies };
      await load(rate === undefined ? wish : { ...wish, perSecond: Number(rate) });
    } finally {
      await stop(brokerage.process);
    }
    const orders = spansIn(traces);
    const slowest = slowestOf(orders);
    const details = `${connections} connections, ${orders.length} orders; 99 of 100: `;
    const leavesOut = 'rate limits, streams and readers, TLS, network';
    return ['all', ...SPANS].map((measure, index): Row => {
      const values = orders
        .map((spans) => (index === 0 ? totalOf(spans) : (spans[index - 1] ?? 0)))
        .sort((a, b) => a - b);
      return {
        measure: `an order's wait: ${measure}`,
        value: median(values) * 1000,
        unit: 'µs',
        details:
          details +
          `${(quantile(values, 0.99) * 1000).toFixed(0)} µs; mean of the slowest hundredth of orders: ${(
            meanOf(slowest, index) * 1000
          ).toFixed(0)} µs`,
        leavesOut,
      };
    });
  });
}

const totalOf = (spans: readonly number[]): number => spans.reduce((sum, span) => sum + span, 0);

function slowestOf(orders: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const limit = quantile(
    orders.map(totalOf).sort((a, b) => a - b),
    0.99,
  );
  return orders.filter((spans) => totalOf(spans) >= limit);
}

/** Mean of a span of these orders; 0 = of all spans together. */
const meanOf = (orders: readonly (readonly number[])[], index: number): number =>
  orders.reduce((sum, spans) => sum + (index === 0 ? totalOf(spans) : (spans[index - 1] ?? 0)), 0) /
  orders.length;

/** Milliseconds of each span, for each order of the second half of the run. */
function spansIn(traces: string): readonly (readonly number[])[] {
  const passages = readdirSync(traces).flatMap(
    (file) => JSON.parse(readFileSync(join(traces, file), 'utf8')) as readonly Passage[],
  );
  const named = (name: Passage[0]): readonly Passage[] =>
    passages.filter((passage) => passage[0] === name).sort((a, b) => a[2] - b[2]);
  const sent = named('sent');
  const taken = new Map(named('taken').map(([, number, at]) => [number, at]));
  const committed = new Map(named('committed').map(([, number, at]) => [number, at]));
  const known = named('known');
  const answered = named('answered');
  const orders: number[][] = [];
  let sentBefore = 0;
  let knownBefore = 0;
  for (const [, start, end] of answered.slice(answered.length >> 1)) {
    // Answers are written in the turn in which the commit became known.
    while ((known[knownBefore + 1]?.[2] ?? Infinity) <= end) knownBefore++;
    while ((sent[sentBefore]?.[2] ?? Infinity) < start) sentBefore++;
    while (sentBefore > 0 && (sent[sentBefore - 1]?.[2] ?? 0) >= start) sentBefore--;
    const first = (known[knownBefore - 1]?.[1] ?? -1) + 1;
    const last = known[knownBefore]?.[1] ?? -1;
    let own = sentBefore;
    while ((sent[own]?.[1] ?? Infinity) < first) own++;
    const [, number = -1, sentAt = Number.NaN] = sent[own] ?? [];
    const takenAt = taken.get(number) ?? Number.NaN;
    const committedAt = committed.get(last) ?? Number.NaN;
    const knownAt = known[knownBefore]?.[2] ?? Number.NaN;
    const spans = [
      sentAt - start,
      takenAt - sentAt,
      committedAt - takenAt,
      knownAt - committedAt,
      end - knownAt,
    ];
    if (number <= last && spans.every((span) => span >= 0)) orders.push(spans);
  }
  return orders;
}

await runAlone(import.meta.url, measureTrace);
