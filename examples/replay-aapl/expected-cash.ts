/** The cash that the bot must end with, calculated from the recorded CSV files alone in BigInt, without code of the server. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const SAMPLES = new URL('../../samples/equities/', import.meta.url);
/** Prices and cash count 10^-4 dollars. */
const DOLLAR = 10_000n;

/** Days in these years on which New York closed at one in the afternoon. */
const EARLY_CLOSES = new Set([
  ...['2012-07-03', '2012-11-23', '2012-12-24'],
  ...['2013-07-03', '2013-11-29', '2013-12-24'],
  ...['2014-07-03', '2014-11-28', '2014-12-24'],
  ...['2015-11-27', '2015-12-24'],
]);

/** In dollars. */
export function expectedCash(): {
  readonly finalCash: string;
  readonly days: number;
  readonly orders: number;
} {
  const actions = rows(readFileSync(new URL('corporate_actions.csv', SAMPLES), 'utf8'));
  let cash = 300_000n * DOLLAR;
  let shares = 0n;
  let before = '';
  let days = 0;
  let orders = 0;
  for (const bar of rows(gunzipSync(readFileSync(new URL('daily_bars.csv.gz', SAMPLES))).toString())) {
    const { date = '', open = '' } = bar;
    if (bar.symbol !== 'AAPL' || date < '2012-01-01' || date > '2015-12-31') continue;
    // An action applies to the shares held at the previous day's close.
    for (const action of actions) {
      if (action.symbol !== 'AAPL' || action.ex_date !== date) continue;
      if (action.type === 'cash_dividend') cash += shares * decimal(action.cash_per_share ?? '');
      if (action.type === 'split') {
        const [many = '', one = ''] = (action.split_new_for_old ?? '').split(':');
        shares = (shares * BigInt(many)) / BigInt(one);
      }
    }
    if (EARLY_CLOSES.has(date)) continue;
    days++;
    // At 09:45 the market is at the open of the daily bar: bid = ask = last.
    const price = decimal(open);
    const trade = (quantity: bigint): void => {
      cash -= wholeCents(quantity * price);
      shares += quantity;
      orders++;
    };
    if (date === '2015-12-31') trade(-shares);
    if (before !== '' && before.slice(0, 4) !== date.slice(0, 4)) trade(-(shares / 4n));
    if (before.slice(0, 7) !== date.slice(0, 7)) trade((5_000n * DOLLAR) / price);
    before = date;
  }
  if (shares !== 0n || cash % 100n !== 0n) throw new Error('the calculation does not come out even');
  return { finalCash: `${cash / DOLLAR}.${String((cash % DOLLAR) / 100n).padStart(2, '0')}`, days, orders };
}

/** Cash moves in whole cents: half a cent goes away from zero. */
function wholeCents(amount: bigint): bigint {
  return ((amount + (amount < 0n ? -50n : 50n)) / 100n) * 100n;
}

/** The rows of a CSV text without quoting, by column. */
function rows(text: string): Record<string, string | undefined>[] {
  const [header = '', ...lines] = text.trimEnd().split('\n');
  const names = header.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(names.map((name, index) => [name, cells[index]]));
  });
}

/** `645.57` as a count of 10^-4 dollars. */
function decimal(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  if (fraction.length > 4) throw new Error(`${text} has too many decimals`);
  return BigInt(whole + fraction.padEnd(4, '0'));
}
