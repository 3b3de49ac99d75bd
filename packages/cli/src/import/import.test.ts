/** Vendors' files, with invented numbers, into the neutral layout. Each has a trap that its vendor really sets. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT, run } from '../program.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'sandpit-import-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, ...lines: readonly string[]): string => {
  const path = join(folder, name);
  const text = `${lines.join('\n')}\n`;
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
};
const made = (name: string): string[] =>
  readFileSync(join(folder, 'out', name), 'utf8')
    .trim()
    .split('\n')
    .slice(1);

async function convert(...args: readonly string[]) {
  let out = '';
  let complaint = '';
  const code = await run(['import', ...args, '--to', join(folder, 'out')], {
    isTerminal: false,
    write: (text) => void (out += text),
    complain: (text) => void (complaint += text),
  });
  return { code, complaint, report: out === '' ? [] : (JSON.parse(out) as Record<string, unknown>[]) };
}

describe('imported market data', () => {
  it('is minutes by ticker, sorted by time, prices in an order of their own (Massive)', async () => {
    const path = put(
      '2026-01-05.csv.gz',
      'ticker,volume,open,close,high,low,window_start,transactions',
      'AAPL,1000,10.1,10.2,10.3,10.0,1767623400000000000,5',
      'AAPL,900,10.2,10.25,10.30,10.2,1767623460000000000,4',
      'BRK/B,7.5,500,501,502,499,1767623400000000000,2',
    );
    const { code, report } = await convert(path);
    expect(code).toBe(EXIT.done);
    expect(made('2026-01-05_trades.csv')).toEqual([
      '2026-01-05T14:30:00Z,AAPL,10.1,10.3,10,10.2,1000',
      '2026-01-05T14:30:00Z,BRK.B,500,502,499,501,7.5',
      '2026-01-05T14:31:00Z,AAPL,10.2,10.3,10.2,10.25,900',
    ]);
    expect(report).toMatchObject([
      { rows: 3, skipped: 0, first: '2026-01-05 09:30', last: '2026-01-05 09:31' },
    ]);
  });

  it('is quotes of a day as minutes, a side of 0 being none (Massive options)', async () => {
    const head =
      'ticker,ask_exchange,ask_price,ask_size,bid_exchange,bid_price,bid_size,sequence_number,sip_timestamp';
    const quote = (ask: string, bid: string, at: string): string =>
      `O:SPY260327P00390000,300,${ask},11,301,${bid},7,1,${at}`;
    const path = put(
      'quotes.csv',
      head,
      quote('1.10', '1.00', '1767623400000000001'),
      quote('1.25', '0.95', '1767623430000000000'),
      quote('1.15', '1.05', '1767623459000000000'),
      // At the full minute: what stands at the end of the one before.
      quote('1.2', '0', '1767623460000000000'),
      quote('1.3', '1.4', '1767623470000000000'),
    );
    const { report, complaint } = await convert(path, '--bad-rows', '20');
    expect(made('quotes_quotes.csv')).toEqual([
      '2026-01-05T14:30:00Z,SPY260327P00390000,,,,,,1.1,1.25,1.1,1.2,11',
    ]);
    expect(report).toMatchObject([{ read: 5, skipped: 1 }]);
    expect(complaint).toContain('line 6: bid above ask');
  });

  it('reads whole billionths and skips missing prices (Databento)', async () => {
    put(
      'bbo.csv',
      'ts_recv,ts_event,rtype,publisher_id,instrument_id,side,price,size,flags,sequence,bid_px_00,ask_px_00,bid_sz_00,ask_sz_00,bid_ct_00,ask_ct_00,symbol',
      '2026-01-05T14:31:00.000000000Z,,1,1,1,N,,0,0,1,5000.25,9223372036854775807,3,0,1,0,ESH6',
    );
    const layout = put(
      'own.json',
      JSON.stringify({
        kind: 'bars',
        columns: { time: 't', symbol: 's', open: 'o', high: 'h', low: 'l', close: 'c' },
        time: { unit: 's', marks: 'end' },
        priceDecimals: 9,
        adjusted: 'none',
      }),
    );
    put('raw.txt', 't,s,o,h,l,c', '1767623460,ESU5,5000250000000,5001000000000,5000000000000,5000500000000');
    await convert(join(folder, 'bbo.csv'));
    expect(made('bbo_quotes.csv')).toEqual([
      '2026-01-05T14:30:00Z,ESH26,5000.25,5000.25,5000.25,5000.25,3,,,,,',
    ]);
    await convert(join(folder, 'raw.txt'), '--layout', layout);
    expect(made('raw_trades.csv')).toEqual(['2026-01-05T14:30:00Z,ESU35,5000.25,5001,5000,5000.5,0']);
  });

  it('reads unadjusted days with dividends and splits (Tiingo, WIKI)', async () => {
    const head =
      'date,close,high,low,open,volume,adjClose,adjHigh,adjLow,adjOpen,adjVolume,divCash,splitFactor';
    put(
      'AAPL.csv',
      head,
      '2014-06-06,645.57,651.26,644.47,649.9,12497800,90,91,90,91,87484600,0.0,1.0',
      '2014-06-09,93.7,93.88,91.75,92.7,75415000,90,91,90,91,75415000,0.47,7.0',
    );
    put(
      'WIKI_KO.csv',
      'Date,Open,High,Low,Close,Volume,Ex-Dividend,Split Ratio,Adj. Open,Adj. High,Adj. Low,Adj. Close,Adj. Volume',
      '2014-06-09,40,41,39,40.5,100,0,0.5,1,1,1,1,1',
    );
    await convert(join(folder, 'AAPL.csv'));
    expect(made('daily_bars.csv')[1]).toBe('2014-06-09,AAPL,92.7,93.88,91.75,93.7,75415000');
    expect(made('corporate_actions.csv')).toEqual([
      '2014-06-09,AAPL,cash_dividend,,0.47',
      '2014-06-09,AAPL,split,7:1,',
    ]);
    await convert(join(folder, 'WIKI_KO.csv'), '--symbol', 'KO');
    expect(made('corporate_actions.csv')).toEqual(['2014-06-09,KO,split,1:2,']);
  });

  it('reads adjusted prices only on request; skips three header lines (yfinance)', async () => {
    const path = put(
      'prices.csv',
      'Price,Close,High,Low,Open,Volume',
      'Ticker,MSFT,MSFT,MSFT,MSFT,MSFT',
      'Date,,,,,',
      '2026-01-05,471.5,472,470,470.5,1000',
      '2026-01-06,NaN,NaN,NaN,NaN,0',
    );
    const refused = await convert(path);
    expect(refused.code).toBe(EXIT.refused);
    expect(refused.complaint).toContain('adjusted for splits');
    const { report } = await convert(path, '--as-traded', '--bad-rows', '50');
    expect(made('daily_bars.csv')).toEqual(['2026-01-05,MSFT,470.5,472,470,471.5,1000']);
    expect(report).toMatchObject([{ read: 2, rows: 1, skipped: 1 }]);
  });

  it('is in New York time, which has hours that never were and hours that were twice (Cboe, Kibot)', async () => {
    const path = put(
      'cboe.csv',
      'underlying_symbol,quote_datetime,root,expiration,strike,option_type,bid_size,bid,ask_size,ask,open_interest',
      '^SPX,2026-07-06 09:31:00,SPXW,2026-07-10,6000.000,C,5,10.1,6,10.3,77',
      '^SPX,2026-01-05 09:31:00,SPXW,2026-01-09,6000.5,P,0,0,6,0.05,77',
    );
    await convert(path);
    expect(made('cboe_quotes.csv')).toEqual([
      '2026-01-05T14:30:00Z,SPXW260109P06000500,,,,,,0.05,0.05,0.05,0.05,6',
      '2026-07-06T13:30:00Z,SPXW260710C06000000,10.1,10.1,10.1,10.1,5,10.3,10.3,10.3,10.3,6',
    ]);
    const kibot = put(
      'IBM_1min.txt',
      '03/08/2026,02:30,1,1,1,1,5',
      '11/01/2026,01:30,1,1,1,1,5',
      '01/05/2026,09:30,1,1.2,1,1.1,5',
    );
    const { complaint } = await convert(kibot, '--vendor', 'kibot', '--as-traded', '--bad-rows', '70');
    expect(complaint).toContain('line 1: "03/08/2026 02:30" never was in New York');
    expect(complaint).toContain('line 2: "11/01/2026 01:30" was twice in New York');
    expect(made('IBM_1min_trades.csv')).toEqual(['2026-01-05T14:30:00Z,IBM,1,1.2,1,1.1,5']);
  });

  it('parseFile: returns no rows for a file with too many errors or of an unknown format', async () => {
    const strange = put('strange.csv', 'when,what', '1,2');
    expect((await convert(strange)).complaint).toContain('of no known layout');
    const wrong = put(
      'wrong.csv',
      'ticker,volume,open,close,high,low,window_start',
      'A,1,1,1,1,1,5',
      'A,1,1,x,1,1,1767623400000000000',
    );
    const { code, complaint } = await convert(wrong);
    expect(code).toBe(EXIT.refused);
    expect(complaint).toContain('2 of 2 rows cannot be used');
    expect((await convert(join(folder, 'nowhere.csv'))).code).toBe(EXIT.refused);
    expect(readdirSync(folder)).not.toContain('out');
  });
});
