/** The end of a run in words: orders, fills, refusals, profit, requests and blocked hosts. */
import type { Sandpit } from '@sandpit/client';
import type { Tally } from './proxy.js';

const MOST_REASONS = 500;

/** Figures of a portfolio. */
export interface Figures {
  readonly orders: number;
  readonly fills: number;
  readonly equity: number;
}

export async function figuresOf(client: Sandpit, portfolioId: string): Promise<Figures> {
  const params = { portfolioId };
  const [portfolio, orders, fills] = await Promise.all([
    client.call('getPortfolio', { params }),
    client.call('listOrders', { query: { portfolioId, limit: 1 } }),
    client.call('listActivities', { params, query: { category: 'EXECUTION', limit: 1 } }),
  ]);
  return {
    orders: orders.pagination.total,
    fills: fills.pagination.total,
    equity: portfolio.totalEquity,
  };
}

/** Rejected orders among the latest ones, by reason. */
export async function rejectionsOf(
  client: Sandpit,
  portfolioId: string,
  latest: number,
): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  if (latest === 0) return found;
  const { data } = await client.call('listOrders', {
    query: { portfolioId, limit: Math.min(latest, MOST_REASONS) },
  });
  for (const { rejection } of data)
    if (rejection !== undefined) found.set(rejection.message, (found.get(rejection.message) ?? 0) + 1);
  return found;
}

export interface RunReport {
  readonly before: Figures;
  readonly after: Figures;
  /** By reason. */
  readonly refusals: Tally;
  /** By host. */
  readonly requests: Tally;
  readonly blocked: Tally;
  /** URL of the portfolio in the dashboard; absent when the server ends with the run. */
  readonly link?: string;
}

export function summaryOf({ before, after, refusals, requests, blocked, link }: RunReport): string {
  const orders = after.orders - before.orders;
  const fills = after.fills - before.fills;
  const refused = [...refusals.values()].reduce((sum, count) => sum + count, 0);
  const lines = [
    `sandpit run: ${plural(orders, 'order')}, ${plural(fills, 'fill')}, ${plural(refused, 'refusal')}, profit ${dollars(after.equity - before.equity)}`,
    ...listed('refused', refusals),
    ...listed('requests', requests),
    ...listed('blocked', blocked),
    ...(link === undefined ? [] : [`  dashboard          ${link}`]),
  ];
  return `${lines.join('\n')}\n`;
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const dollars = (amount: number): string => {
  const cents = Math.round(amount * 100) / 100;
  const text = Math.abs(cents).toLocaleString('en-US', { style: 'currency', currency: 'USD' });
  return cents < 0 ? `-${text}` : text;
};

/** Most frequent first. */
const listed = (what: string, tally: Tally): readonly string[] =>
  [...tally]
    .sort(([a, some], [b, more]) => more - some || (a < b ? -1 : 1))
    .map(
      ([name, count], index) =>
        `  ${(index === 0 ? what : '').padEnd(9)} ${String(count).padStart(7)}  ${printable(name)}`,
    );

/** Without control characters: names come from requests and from servers. */
const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
