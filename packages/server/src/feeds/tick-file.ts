import { Instant, Price, Quantity } from '@sandpit/core';
import type { Quote } from '@sandpit/core';
import type { HaltNews } from './feed.js';

/*
 * Files of ticks (D185): the messages of a live source, one a line, in the order in which simulations processed them. `Q` a quote and `T` a
 * trade; `H` and `R` a halt and its end; `B` the official open or close; `G` and `E` the instants at which quotes of a symbol begin and
 * cease to age.
 */

export const TICK_COLUMNS = [
  'seq',
  'received',
  'ts',
  'symbol',
  'kind',
  'bid',
  'bid_size',
  'ask',
  'ask_size',
  'last',
  'last_size',
  'flags',
] as const;

export type TickKind = 'Q' | 'T' | 'H' | 'R' | 'B' | 'G' | 'E';
const KINDS: ReadonlySet<string> = new Set(['Q', 'T', 'H', 'R', 'B', 'G', 'E']);

/** One line of a file of ticks. */
export interface TickRow {
  readonly seq: number;
  /** By the clock of the simulations. */
  readonly received: Instant;
  /** By the clock of the source, never after `received`; of `G` the last time at which the source was connected. */
  readonly stamp: Instant;
  readonly symbol: string;
  readonly kind: TickKind;
  readonly quote: Pick<Quote, 'bid' | 'ask' | 'bidSize' | 'askSize' | 'last' | 'lastSize'>;
  readonly flags: readonly string[];
}

const priceText = (price: Price | undefined): string => (price === undefined ? '' : Price.format(price));
const sizeText = (size: Quantity | undefined): string => (size === undefined ? '' : Quantity.format(size));

/** The last cell of the line of a quote. */
export function quoteFlags({
  delayed,
  indicative,
  openToCome,
  closeToCome,
  freshUntil = Instant.last,
}: Quote): string {
  let flags = '';
  if (delayed === true) flags = 'delayed';
  if (indicative === true) flags = withFlag(flags, 'indicative');
  if (openToCome === true) flags = withFlag(flags, 'opening');
  if (closeToCome === true) flags = withFlag(flags, 'closing');
  return freshUntil < Instant.last ? withFlag(flags, freshFlag(freshUntil)) : flags;
}

const withFlag = (flags: string, flag: string): string => (flags === '' ? flag : `${flags} ${flag}`);

/** End of the time in which a quote does not count as halted, if the source does not report halts. */
const freshFlag = (until: Instant): string => `fresh=${until}`;

/** The line of a tick, without its end. A quote has its sides, a trade its price; the rest is unchanged. */
export function tickLine(tick: {
  readonly seq: number;
  readonly received: Instant;
  readonly stamp?: Instant;
  readonly symbol: string;
  readonly kind: TickKind;
  readonly quote?: Quote;
  readonly halt?: HaltNews;
  readonly official?: 'OPEN' | 'CLOSE';
}): string {
  const { seq, received, symbol, kind, quote, halt } = tick;
  if (kind === 'Q' && quote !== undefined)
    return `${seq},${received},${tick.stamp ?? quote.at},${symbol},Q,${priceText(quote.bid)},${sizeText(quote.bidSize)},${priceText(quote.ask)},${sizeText(quote.askSize)},,,${quoteFlags(quote)}`;
  const isTrade = kind === 'T';
  const stamp = kind === 'G' ? (quote?.freshUntil ?? received) : (tick.stamp ?? quote?.at ?? received);
  const flags = [
    ...(halt !== undefined && 'reason' in halt ? [halt.reason] : []),
    ...(halt !== undefined && 'reason' in halt && halt.lastsMs !== undefined ? [`for=${halt.lastsMs}`] : []),
    ...(tick.official === undefined ? [] : [tick.official.toLowerCase()]),
    ...(quote?.closeToCome === true ? ['closing'] : []),
    ...(kind !== 'G' && quote?.freshUntil !== undefined && quote.freshUntil < Instant.last
      ? [freshFlag(quote.freshUntil)]
      : []),
  ];
  const price = isTrade ? quote?.last : tick.official === 'CLOSE' ? quote?.close : quote?.open;
  return [
    ...[seq, received, stamp, symbol, kind, '', '', '', ''],
    isTrade || kind === 'B' ? priceText(price) : '',
    isTrade ? sizeText(quote?.lastSize) : '',
    flags.join(' '),
  ].join(',');
}

/** Parses the cells of a line. Returns the problem of an invalid line as text. */
export function tickRowOf(cells: readonly string[]): TickRow | string {
  const [seq = '', received = '', ts = '', symbol = '', kind = '', bid = '', bidSize = ''] = cells;
  const [ask = '', askSize = '', last = '', lastSize = '', flags = ''] = cells.slice(7);
  if (!/^\d{1,15}$/.test(seq)) return `not a running number: "${seq}"`;
  if (!/^\d{1,15}$/.test(received)) return `not an instant in milliseconds: "${received}"`;
  if (!/^\d{0,15}$/.test(ts)) return `not an instant in milliseconds: "${ts}"`;
  if (symbol === '') return 'no symbol';
  if (!KINDS.has(kind)) return `not one of Q, T, H, R, B, G, E: "${kind}"`;
  const quote: { -readonly [Part in keyof TickRow['quote']]: TickRow['quote'][Part] } = {};
  for (const [name, text] of [
    ['bid', bid],
    ['ask', ask],
    ['last', last],
  ] as const) {
    if (text === '') continue;
    const price = Price.parse(text);
    if (price === undefined || price <= 0) return `not a price above zero: "${text}"`;
    quote[name] = price;
  }
  for (const [name, text] of [
    ['bidSize', bidSize],
    ['askSize', askSize],
    ['lastSize', lastSize],
  ] as const) {
    if (text === '') continue;
    const size = Quantity.parse(text);
    if (size === undefined || size < 0) return `not a size: "${text}"`;
    quote[name] = size;
  }
  if (quote.bid !== undefined && quote.ask !== undefined && quote.bid > quote.ask) return 'bid is above ask';
  const at = Number(received);
  return {
    seq: Number(seq),
    received: Instant.ofMs(at),
    stamp: Instant.ofMs(ts === '' ? at : Math.min(at, Number(ts))),
    symbol: symbol.toUpperCase(),
    kind: kind as TickKind,
    quote,
    flags: flags.split(' ').filter((flag) => flag !== ''),
  };
}
