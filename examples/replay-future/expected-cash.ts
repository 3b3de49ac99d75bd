/** The expected result of holding ESZ13, calculated from the recorded CSV files alone in BigInt, without code of the server. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const SAMPLES = new URL('../../samples/options-and-futures/', import.meta.url);
/** Prices count hundredths of a point, cash counts cents: a point is 50 dollars. */
const CENTS_PER_POINT = 50n;
const CONTRACTS = 2n;
/** Charges per contract, in cents: commission of broker_01, exchange, NFA. */
const CHARGES = 150n + 138n + 2n;

/** In dollars, but the price. */
export function expectedCash(): {
  readonly bought: string;
  readonly wednesday: string;
  readonly thursday: string;
  readonly friday: string;
} {
  const bought = quoteAt('2013-12-18T15:30:00Z').ask;
  let marked = bought;
  let cash = 50_000_00n - CONTRACTS * CHARGES;
  const settleAt = (instant: string): string => {
    const mark = markAt(instant);
    cash += (mark - marked) * CENTS_PER_POINT * CONTRACTS;
    marked = mark;
    return text(cash);
  };
  return {
    bought: text(bought),
    // 16:00 New York, twice, and 09:30.
    wednesday: settleAt('2013-12-18T21:00:00Z'),
    thursday: settleAt('2013-12-19T21:00:00Z'),
    friday: settleAt('2013-12-20T14:30:00Z'),
  };
}

/** The last trade if it is between bid and ask, else the nearer of these. */
function markAt(instant: string): bigint {
  const { bid, ask } = quoteAt(instant);
  const last = hundredths(latest('trades', instant).close);
  return last < bid ? bid : last > ask ? ask : last;
}

function quoteAt(instant: string): { readonly bid: bigint; readonly ask: bigint } {
  const { bid_close, ask_close } = latest('quotes', instant);
  return { bid: hundredths(bid_close), ask: hundredths(ask_close) };
}

/** The last row of ESZ13 that is known: a bar of a minute is, when it is over. */
function latest(kind: 'quotes' | 'trades', instant: string): Record<string, string | undefined> {
  const known = ['2013-12-18', '2013-12-20']
    .flatMap((day) => rows(gunzipSync(readFileSync(new URL(`ES_${day}_${kind}.csv.gz`, SAMPLES))).toString()))
    .filter(({ ts = '', symbol }) => symbol === 'ESZ13' && Date.parse(ts) + 60_000 <= Date.parse(instant));
  const row = known.at(-1);
  if (row === undefined) throw new Error(`no ${kind} before ${instant}`);
  return row;
}

/** The rows of a CSV text without quoting, by column. */
function rows(csv: string): Record<string, string | undefined>[] {
  const [header = '', ...lines] = csv.trimEnd().split('\n');
  const names = header.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, index) => [name, cells[index]]));
  });
}

/** `1780.25` as 178025. */
function hundredths(price = ''): bigint {
  const [whole = '', fraction = ''] = price.split('.');
  if (whole === '' || fraction.length > 2) throw new Error(`${price} is no price`);
  return BigInt(whole + fraction.padEnd(2, '0'));
}

const text = (amount: bigint): string => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;
