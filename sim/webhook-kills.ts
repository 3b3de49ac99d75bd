/**
 * Kills a real server with webhooks under load, again and again, and counts what the receiver got: no event is lost, none is made up, and
 * only those that were under way come twice.
 *
 *   npx tsc -b && npx tsx sim/webhook-kills.ts --kills 100
 *
 * Traders place and cancel orders in several portfolios; the receiver refuses some events. After the last kill the server runs until nothing
 * is left to send; then what came is compared with the stream of order events from the beginning.
 *
 * Leaves out: power cuts, and retries later than the first.
 */
import { parseArgs } from 'node:util';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { WebhookReceiver } from '../packages/server/src/testing/webhook-receiver.js';
import { Chance } from './chance.js';
import { JWT_SECRET, tokenOf } from './tokens.js';

export interface WebhookKills {
  readonly kills: number;
  readonly seed: number;
  /** Most orders that are placed before a kill. */
  readonly orders?: number;
}

export interface WebhookKillReport {
  kills: number;
  /** Events of the stream. */
  expected: number;
  /** Tries that the receiver accepted. */
  accepted: number;
  lost: number;
  madeUp: number;
  repeated: number;
  /** First tries of a portfolio that came before an earlier event's. */
  outOfOrder: number;
  /** Tries of a delivery that did not end with its event, as the server lists them. */
  unfinished: readonly unknown[];
}

const PORTFOLIOS = 5;
const TRADERS = 8;
/** Orders that are placed before a kill, at least. */
const FEWEST_ORDERS = 10;
/** Share of the events that are answered with 503 once. */
const REFUSED_SHARE = 0.02;

interface Trading {
  readonly url: string;
  readonly isOver: () => boolean;
  readonly onPlaced: () => void;
}

const headers = { authorization: `Bearer ${tokenOf()}`, 'content-type': 'application/json' };

/** Undefined when the server is gone. */
async function ask(
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, string> | undefined> {
  try {
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Record<string, string>;
  } catch {
    return undefined;
  }
}

async function trade({ url, isOver, onPlaced }: Trading, portfolioId: string): Promise<void> {
  while (!isOver()) await placeAndCancel(url, portfolioId, onPlaced);
}

/** The id of the order; undefined when the server is gone. */
async function placeAndCancel(
  url: string,
  portfolioId: string,
  onPlaced: () => void = () => undefined,
): Promise<string | undefined> {
  const placed = await ask(url, 'POST', '/v1/orders', {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'LIMIT',
    limitPrice: 1,
    positionIntent: 'BUY_TO_OPEN',
    quantity: 1,
    timeInForce: 'GTC',
  });
  if (placed?.orderId === undefined) return undefined;
  onPlaced();
  await ask(url, 'PUT', `/v1/orders/${placed.orderId}/cancel`);
  return placed.orderId;
}

/**
 * Ids and portfolios of all events of the order stream from the beginning, in order, up to the end of an order that is placed for
 * the purpose: a heartbeat may come between any two events. RESERVING has no webhook type.
 */
async function streamed(url: string, portfolioId: string): Promise<ReadonlyMap<string, string>> {
  const events = new Map<string, string>();
  const last = await placeAndCancel(url, portfolioId);
  if (last === undefined) throw new Error('the server is gone');
  const response = await fetch(`${url}/v1/stream/orders?lastEventId=0-0`, { headers });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const [, id = ''] = /^id: (.*)$/m.exec(frame) ?? [];
      const [, name] = /^event: (.*)$/m.exec(frame) ?? [];
      const [, data = '{}'] = /^data: (.*)$/m.exec(frame) ?? [];
      if (name !== 'order-update') continue;
      const { event, orderId, portfolioId = '' } = JSON.parse(data) as Readonly<Record<string, string>>;
      if (event !== 'RESERVING') events.set(id, portfolioId);
      if (orderId === last && event === 'CANCELED') return events;
    }
  }
  throw new Error('the stream ended');
}

export async function webhookKills({ kills, seed, orders = 60 }: WebhookKills): Promise<WebhookKillReport> {
  const chance = new Chance(seed);
  const receiver = await WebhookReceiver.open();
  const accepted: { readonly id: string; readonly portfolioId: string }[] = [];
  // Once each: the try after the next one comes after five minutes.
  const refused = new Set<string>();
  receiver.respond = ({ data }, response) => {
    const isRefused = !refused.has(data.id) && chance.hits(REFUSED_SHARE);
    if (isRefused) refused.add(data.id);
    if (!isRefused) accepted.push({ id: data.id, portfolioId: String(data.portfolioId) });
    response.writeHead(isRefused ? 503 : 204).end();
  };
  try {
    return await inDirectory(async (directory) => {
      const environment = {
        DATA_DIR: directory,
        JWT_SECRET,
        MARKET_FEED: 'push',
        MARKET_CALENDAR: 'always-open',
        WEBHOOK_ALLOW_PRIVATE: 'on',
        RATE_LIMIT_DEFAULT: '1000000',
        STREAM_HEARTBEAT_MS: '500',
      };
      let server = ServerProcess.launch(environment);
      let url = await server.listening;
      const portfolios: string[] = [];
      for (let i = 0; i < PORTFOLIOS; i++) {
        const opened = await ask(url, 'POST', '/v1/accounts/portfolios', {
          accountId: '11111111-1111-4111-8111-111111111111',
          portfolioType: 'CASH',
          accountType: 'INDIVIDUAL',
          brokerId: 'default',
          initialCash: 1_000_000,
        });
        portfolios.push(opened?.portfolioId ?? '');
      }
      await ask(url, 'PUT', '/v1/simulation/quotes', { quotes: [{ symbol: 'AAPL', bid: 99, ask: 100 }] });
      const created = await ask(url, 'POST', '/v1/webhooks', { url: receiver.url, events: ['order.*'] });
      if (created?.webhookId === undefined) throw new Error(JSON.stringify(created));
      let trading: readonly Promise<void>[] = [];
      for (let kill = 0; kill < kills; kill++) {
        let isOver = false;
        let left = chance.int(FEWEST_ORDERS, orders);
        await new Promise<void>((resolve) => {
          const onPlaced = (): void => {
            left -= 1;
            if (left === 0) resolve();
          };
          trading = Array.from({ length: TRADERS }, (_, index) =>
            trade({ url, isOver: () => isOver, onPlaced }, portfolios[index % PORTFOLIOS] ?? ''),
          );
        });
        await server.end('SIGKILL');
        isOver = true;
        await Promise.all(trading);
        server = ServerProcess.launch(environment);
        url = await server.listening;
      }
      const expected = await streamed(url, portfolios[0] ?? '');
      const unfinished = await settled(url, created.webhookId, () => {
        const got = new Set(accepted.map(({ id }) => id));
        return [...expected.keys()].every((id) => got.has(id));
      });
      await server.end('SIGTERM');
      const tried = receiver.events.map(({ data }) => data);
      return { ...reportOf(kills, expected, accepted, tried), unfinished };
    });
  } finally {
    await receiver.close();
  }
}

/** Waits until everything has come and nothing is PENDING, or nothing has come for a while: then gives what is PENDING. */
async function settled(url: string, webhookId: string, isAll: () => boolean): Promise<readonly unknown[]> {
  let left: readonly unknown[] = [];
  for (let i = 0; i < 120; i++) {
    const pending = await fetch(`${url}/v1/webhooks/${webhookId}/deliveries?status=PENDING`, { headers });
    const { data, pagination } = (await pending.json()) as {
      readonly data: readonly unknown[];
      readonly pagination: { readonly total: number };
    };
    if (pagination.total === 0 && isAll()) return [];
    left = data;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return left;
}

function reportOf(
  kills: number,
  expected: ReadonlyMap<string, string>,
  accepted: readonly { readonly id: string }[],
  tried: readonly { readonly id: string; readonly portfolioId?: unknown }[],
): Omit<WebhookKillReport, 'unfinished'> {
  const got = new Set(accepted.map(({ id }) => id));
  const firsts = new Set<string>();
  const latest = new Map<unknown, number>();
  const places = new Map([...expected.keys()].map((id, index) => [id, index]));
  let outOfOrder = 0;
  for (const { id, portfolioId } of tried) {
    if (firsts.has(id)) continue;
    firsts.add(id);
    const place = places.get(id) ?? -1;
    if (place < (latest.get(portfolioId) ?? -1)) outOfOrder += 1;
    latest.set(portfolioId, place);
  }
  return {
    kills,
    expected: expected.size,
    accepted: accepted.length,
    lost: [...expected.keys()].filter((id) => !got.has(id)).length,
    madeUp: [...got].filter((id) => !expected.has(id)).length,
    repeated: accepted.length - got.size,
    outOfOrder,
  };
}

if (process.argv[1]?.endsWith('webhook-kills.ts') === true) {
  const { values } = parseArgs({
    options: { kills: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
  });
  const report = await webhookKills({ kills: Number(values.kills), seed: Number(values.seed) });
  console.dir(report, { depth: 4 });
  process.exitCode = report.lost + report.madeUp + report.outOfOrder > 0 ? 1 : 0;
}
