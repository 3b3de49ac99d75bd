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
      // At the full minute: the value at the end of the previous minute.
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
    // A second import into the same directory adds to the first.
    expect(made('corporate_actions.csv')).toEqual([
      '2014-06-09,AAPL,cash_dividend,,0.47',
      '2014-06-09,AAPL,split,7:1,',
      '2014-06-09,KO,split,1:2,',
    ]);
    expect(made('daily_bars.csv').map((line) => line.slice(0, 15))).toEqual([
      '2014-06-06,AAPL',
      '2014-06-09,AAPL',
      '2014-06-09,KO,4',
    ]);
  });

  describe('with a file of corporate actions', () => {
    const HEADER =
      'ex_date,symbol,type,split_new_for_old,cash_per_share,declared,new_symbol,basis_percent,pay_date';
    const prices = (): string =>
      put(
        'AAPL.csv',
        'date,close,high,low,open,volume,divCash,splitFactor',
        '2026-01-05,100,101,99,100,10,0,1',
        '2026-01-06,50,51,49,50,10,0,2',
      );

    it('has them in the recording, in any order of columns, with the actions of other files', async () => {
      const actions = put(
        'announced.csv.gz',
        'type;symbol;ex_date;new_symbol;split_new_for_old;cash_per_share;basis_percent;pay_date',
        '# spin-off of 2026',
        'spin_off;aapl;2026-01-08;SPUN;0.241917;;23.48;',
        'merger;SPUN;2026-01-12;ACQ;1:3;2.50;;2026-01-14',
        'split;AAPL;2026-01-06;;2:1;;;',
        'delisting;ACQ;2026-01-20;;;0;;',
      );
      const { code, complaint, report } = await convert(prices(), actions);
      expect(code, complaint).toBe(EXIT.done);
      expect(
        readFileSync(join(folder, 'out', 'corporate_actions.csv'), 'utf8')
          .trim()
          .split('\n'),
      ).toEqual([
        'ex_date,symbol,type,split_new_for_old,cash_per_share,new_symbol,basis_percent,pay_date',
        '2026-01-06,AAPL,split,2:1,,,,',
        '2026-01-08,AAPL,spin_off,0.241917,,SPUN,23.48,',
        '2026-01-12,SPUN,merger,1:3,2.50,ACQ,,2026-01-14',
        '2026-01-20,ACQ,delisting,,0,,,',
      ]);
      expect(report).toContainEqual(
        expect.objectContaining({ size: 'actions', from: 'announced.csv.gz', read: 4, first: '2026-01-06' }),
      );
      // A later import keeps them, and adds a column.
      const more = put('more.csv', HEADER, '2026-01-09,AAPL,special_dividend,,15,2026-01-02,,,2026-01-23');
      await convert(prices(), more);
      const merged = made('corporate_actions.csv');
      expect(merged).toHaveLength(5);
      expect(merged).toContain('2026-01-09,AAPL,special_dividend,,15,,,2026-01-23,2026-01-02');
      expect(merged).toContain('2026-01-08,AAPL,spin_off,0.241917,,SPUN,23.48,,');
      // An action that excludes one of the directory is refused, and the directory stays as it is.
      const excluded = put('excluded.csv', HEADER, '2026-01-08,AAPL,delisting,,0,,,,');
      const { complaint: why } = await convert(prices(), excluded);
      expect(why).toContain('AAPL has a delisting and a spin_off on 2026-01-08; leave one out');
      expect(made('corporate_actions.csv')).toEqual(merged);
    });

    it('is refused for a bad one, naming its line, and nothing is written', async () => {
      const cases = [
        [
          '2026-01-08,AAPL,spinoff,1:3,,,SPUN,20,',
          'line 3: unknown type "spinoff"; the types are split, cash_',
        ],
        ['2026-01-08,AAPL,spin_off,1:3,,,SPUN,,', 'line 3: not a percentage of the cost between 0 and 100'],
        ['2026-01-08,AAPL,spin_off,0,,,SPUN,20,', 'line 3: not a ratio of shares'],
        ['2026-01-08,AAPL,symbol_change,,,,AAPL,,', 'line 3: not the symbol of new shares: "AAPL"'],
        ['2026-01-08,AAPL,split,2:1,,,NEWX,,', 'line 3: new_symbol must be empty for a split'],
        ['2026-01-08,AAPL,merger,,-1,,,,', 'line 3: not an amount above zero: "-1"'],
        ['01/08/2026,AAPL,split,2:1,,,,,', 'line 3: '],
        ['2026-01-08,TpC,split,2:1,,,,,', 'line 3: '],
        ['2026-01-08,AAPL,split,2:1', 'line 3: 4 cells where the header has 9'],
        ['2026-01-08,AAPL,cash_dividend,,1,,,,2026-13-01', 'line 3: not a date (YYYY-MM-DD): "2026-13-01"'],
      ] as const;
      const good = '2026-01-07,AAPL,cash_dividend,,0.25,,,,';
      for (const [row, message] of cases) {
        const path = put('announced.csv', HEADER, good, row);
        const { code, complaint } = await convert(prices(), path);
        expect(code, row).toBe(EXIT.refused);
        expect(complaint, row).toContain(`${path}, ${message}`);
      }
      const split = '2026-01-08,AAPL,split,2:1,,,,,';
      for (const [row, message] of [
        [
          '2026-01-08,AAPL,split,3:1,,,,,',
          '2026-01-08 AAPL split is there twice, as split_new_for_old 2:1 and ',
        ],
        ['2026-01-08,aapl,delisting,,0,,,,', 'AAPL has a delisting and a split on 2026-01-08; leave one out'],
        ['2026-01-08,AAPL,stock_dividend,11:10,,,,,', 'AAPL has a stock_dividend and a split on 2026-01-08'],
        ['2026-01-08,AAPL,merger,,95,,,,', 'AAPL has a merger and a split on 2026-01-08'],
      ] as const) {
        const path = put('announced.csv', HEADER, split, good, row);
        const { code, complaint } = await convert(prices(), path);
        expect(code, row).toBe(EXIT.refused);
        expect(complaint, row).toContain(`${path}, line 4: ${message}`);
      }
      for (const [header, message] of [
        [`${HEADER},ratio`, 'line 1: unknown column "ratio"; the columns are ex_date, symbol, type, '],
        ['ex_date,type,cash_per_share', 'line 1: the column symbol is missing'],
        ['ex_date,symbol,type,type', 'line 1: a column is there twice'],
      ])
        expect((await convert(prices(), put('announced.csv', header ?? '', good))).complaint).toContain(
          message,
        );
      const twice = put('announced.csv', HEADER, '2026-01-06,AAPL,split,3:1,,,,,');
      expect((await convert(prices(), twice)).complaint).toContain(
        '2026-01-06 AAPL split is there twice, as split_new_for_old 3:1 and split_new_for_old 2:1; leave one out',
      );
      const alone = await convert(put('announced.csv', HEADER, good));
      expect(alone.complaint).toContain(
        'corporate actions alone are no recording; name the files of prices too',
      );
      expect((await convert(prices(), put('announced.csv', HEADER))).complaint).toContain(
        'its header is all that it has',
      );
      expect(readdirSync(folder)).not.toContain('out');
    });
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
    expect(complaint).toContain('line 1: 2026-03-08T02:30 did not exist in America/New_York');
    expect(made('IBM_1min_trades.csv')).toEqual([
      '2026-01-05T14:30:00Z,IBM,1,1.2,1,1.1,5',
      '2026-11-01T05:30:00Z,IBM,1,1,1,1,5',
    ]);
  });

  it('sandpit import: writes nothing for a file whose header matches no known layout, or whose bad rows are too many', async () => {
    const strange = put('strange.csv', 'when,what', '1,2');
    expect((await convert(strange)).complaint).toContain('the header matches no known layout ("when,what")');
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

  const MASSIVE = 'ticker,volume,open,close,high,low,window_start,transactions';
  const massive = (at: string, symbol = 'AAPL'): string =>
    `${symbol},1,10,10.1,10.2,9.9,${Date.parse(at)}000000,1`;
  const YAHOO = 'Date,Open,High,Low,Close,Adj Close,Volume';
  const DATABENTO = 'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol';
  const TIINGO = 'date,close,high,low,open,volume,divCash,splitFactor';

  describe('size of bars (D254)', () => {
    it('Massive: days at midnight of New York are days, dated as there', async () => {
      const path = put(
        'a.csv',
        MASSIVE,
        ...['2026-03-05T05:00Z', '2026-03-06T05:00Z', '2026-03-09T04:00Z'].map((at) => massive(at)),
      );
      const { report } = await convert(path);
      expect(made('daily_bars.csv').map((line) => line.slice(0, 10))).toEqual([
        '2026-03-05',
        '2026-03-06',
        '2026-03-09',
      ]);
      expect(report).toMatchObject([{ size: '1d', symbols: 1, sessions: 3, gaps: 0 }]);
    });

    it('Massive: a file of one day with many symbols is days as well', async () => {
      await convert(
        put('2026-01-05.csv', MASSIVE, massive('2026-01-05T05:00Z'), massive('2026-01-05T05:00Z', 'MSFT')),
      );
      expect(made('daily_bars.csv')).toHaveLength(2);
    });

    it('Massive: rows with gaps are minutes by their greatest common divisor', async () => {
      const times = ['2026-01-05T14:31Z', '2026-01-05T14:36Z', '2026-01-05T14:39Z'];
      expect((await convert(put('a.csv', MASSIVE, ...times.map((at) => massive(at))))).report).toMatchObject([
        { size: '1m', rows: 3 },
      ]);
      const fives = put('b.csv', MASSIVE, ...times.slice(0, 2).map((at) => massive(at)));
      expect((await convert(fives)).complaint).toContain('b.csv, line 2: bars of 5 minutes');
      expect((await convert(fives, '--bar', '1m')).code).toBe(EXIT.done);
    });

    it('asks for the size of one row alone', async () => {
      const path = put('a.csv', MASSIVE, massive('2026-01-05T05:00Z'));
      const { code, complaint } = await convert(path);
      expect(code).toBe(EXIT.refused);
      expect(complaint).toContain(
        'a.csv, line 2: one row alone does not show the size of its bar; state it (--bar 1m or --bar 1d)',
      );
      expect((await convert(path, '--bar', '1d')).code).toBe(EXIT.done);
      expect(made('daily_bars.csv')[0]).toContain('2026-01-05,AAPL');
    });

    it('Databento: rtype 35 is a day with the date of UTC, 34 an hour', async () => {
      const row = (rtype: number): string =>
        `2026-01-06T00:00:00.000000000Z,${rtype},2,1,1.00,2.00,1.00,1.50,5,AAPL`;
      await convert(put('a.csv', DATABENTO, row(35)));
      expect(made('daily_bars.csv')).toEqual(['2026-01-06,AAPL,1,2,1,1.5,5']);
      expect((await convert(put('b.csv', DATABENTO, row(34)))).complaint).toContain(
        'line 2: bars of 1 hour (rtype 34)',
      );
    });

    it('yfinance: hours are refused at their first line', async () => {
      const hours = ['14:30', '15:30', '16:30'].map((time) => `2026-01-05 ${time}:00+00:00,10,10,10,10,1`);
      const path = put(
        'a.csv',
        'Price,Close,High,Low,Open,Volume',
        'Ticker,AAPL,AAPL,AAPL,AAPL,AAPL',
        'Datetime,,,,,',
        ...hours,
      );
      expect((await convert(path, '--as-traded')).complaint).toContain('a.csv, line 4: bars of 1 hour');
    });

    it('yfinance: two tickers are both imported', async () => {
      const path = put(
        'a.csv',
        'Price,Close,Close,High,High,Low,Low,Open,Open,Volume,Volume',
        'Ticker,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT,AAPL,MSFT',
        'Date,,,,,,,,,,',
        '2026-01-05,10,20,11,21,9,19,10,20,1,2',
        '2026-01-06,10,,11,,9,,10,,1,',
      );
      await convert(path, '--as-traded');
      expect(made('daily_bars.csv')).toEqual([
        '2026-01-05,AAPL,10,11,9,10,1',
        '2026-01-05,MSFT,20,21,19,20,2',
        '2026-01-06,AAPL,10,11,9,10,1',
      ]);
      const { complaint } = await convert(path, '--as-traded', '--symbol', 'AAPL');
      expect(complaint).toContain('it has 2 symbols (AAPL, MSFT), --symbol names one');
    });

    it('Stooq: <PER> states the size', async () => {
      const stooq = (period: string): string =>
        put(
          `${period}.txt`,
          '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>',
          `AAPL.US,${period},20260105,000000,10,10,10,10,5,0`,
        );
      expect((await convert(stooq('5'), '--as-traded')).complaint).toContain(
        'line 2: bars of 5 minutes (<PER> 5)',
      );
      await convert(stooq('D'), '--as-traded');
      expect(made('daily_bars.csv')).toEqual(['2026-01-05,AAPL,10,10,10,10,5']);
    });

    it('reads the resolution in the name of a file, and refuses rows that contradict it', async () => {
      const rows = ['1767623400,10,11,9,10,1', '1767709800,10,11,9,10,1'];
      await convert(put('NASDAQ_AAPL, 1D_x.csv', 'time,open,high,low,close,Volume', ...rows), '--as-traded');
      expect(made('daily_bars.csv').map((line) => line.slice(0, 15))).toEqual([
        '2026-01-05,AAPL',
        '2026-01-06,AAPL',
      ]);
      const hourly = put('NASDAQ_AAPL, 60.csv', 'time,open,high,low,close,Volume', ...rows);
      expect((await convert(hourly, '--as-traded')).complaint).toContain(
        'line 2: bars of 1 hour (the name of the file)',
      );
      const twice = put(
        'AAPL_1d.csv',
        'timestamp,open,high,low,close,volume',
        '2026-01-05 09:30,1,1,1,1,1',
        '2026-01-05 10:30,1,1,1,1,1',
      );
      expect((await convert(twice, '--vendor', 'alphavantage', '--as-traded')).complaint).toContain(
        'line 3: a second bar of AAPL on 2026-01-05',
      );
    });

    it('refuses weeks and months', async () => {
      const rows = (dates: readonly string[]): string[] => dates.map((date) => `${date},1,1,1,1,1,1`);
      const weeks = put('AAPL.csv', YAHOO, ...rows(['2026-01-05', '2026-01-12', '2026-01-19']));
      expect((await convert(weeks, '--as-traded')).complaint).toContain('bars of 1 week');
      const months = put('MSFT.csv', YAHOO, ...rows(['2026-01-01', '2026-02-01', '2026-03-01']));
      expect((await convert(months, '--as-traded')).complaint).toContain('bars of 1 month');
    });

    it('refuses a mix of dates and times, at the first line that differs', async () => {
      const path = put('AAPL.csv', YAHOO, '2026-01-05,1,1,1,1,1,1', '2026-01-06 09:30,1,1,1,1,1,1');
      expect((await convert(path, '--as-traded')).complaint).toContain(
        'AAPL.csv, line 3: some rows have a time of day',
      );
    });
  });

  describe('scale and numbers (D254)', () => {
    it('Databento: prices without a point are billionths, and one without among others is unusable', async () => {
      const row = (close: string, minute = 31): string =>
        `2026-01-05T14:${minute}:00.000000000Z,33,2,1,187500000000,187500000000,187500000000,${close},5,AAPL`;
      await convert(put('a.csv', DATABENTO, row('187500000000')));
      expect(made('a_trades.csv')).toEqual(['2026-01-05T14:31:00Z,AAPL,187.5,187.5,187.5,187.5,5']);
      const mixed = put(
        'b.csv',
        DATABENTO,
        '2026-01-05T14:31:00Z,33,2,1,187.5,187.5,187.5,187.5,5,AAPL',
        row('187500000000', 32),
      );
      expect((await convert(mixed)).complaint).toContain('has no point, and the prices before it have one');
    });

    it('refuses whole prices of ten million and more elsewhere, and reads those of BRK.A', async () => {
      const row = (price: string): string => `2026-01-05,${price},${price},${price},${price},${price},1`;
      expect((await convert(put('AAPL.csv', YAHOO, row('18750000')), '--as-traded')).complaint).toMatch(
        /AAPL.csv, line 2: all prices are whole numbers of 10000000 and more.*priceDecimals/,
      );
      expect((await convert(put('AAPL.csv', YAHOO, row('187500000000')), '--as-traded')).complaint).toContain(
        'too large for a price; scaled prices need a layout with priceDecimals',
      );
      expect((await convert(put('BRK-A.csv', YAHOO, row('750000')), '--as-traded')).code).toBe(EXIT.done);
      expect(made('daily_bars.csv')).toEqual(['2026-01-05,BRK.A,750000,750000,750000,750000,1']);
    });

    it('reads quotes, groups of three and binary fractions', async () => {
      const path = put(
        'AAPL.csv',
        YAHOO,
        '"2026-01-05","254.52999877929688","254.5292510986328","254.5","254.52999877929688","1","45,000,000"',
      );
      expect((await convert(path, '--as-traded', '--bad-rows', '0')).complaint).toContain(
        'open or close outside of low and high',
      );
      const right = put(
        'MSFT.csv',
        YAHOO,
        '"2026-01-05","254.52999877929688","255.5292510986328","254.5","254.52999877929688","1","45,000,000"',
      );
      await convert(right, '--as-traded');
      expect(made('daily_bars.csv')).toEqual(['2026-01-05,MSFT,254.53,255.5292511,254.5,254.53,45000000']);
    });

    it('finds 1.234,56 and 1.23M unusable', async () => {
      const path = put(
        'AAPL.csv',
        YAHOO.replaceAll(',', ';'),
        '2026-01-05;1.234,56;1.234,56;1.234,56;1.234,56;1;1',
        '2026-01-06;1;1;1;1;1;1.23M',
      );
      const { complaint } = await convert(path, '--as-traded');
      expect(complaint).toContain('AAPL.csv, line 2: "1.234,56" is not a number; 2 of 2 rows cannot be used');
    });
  });

  describe('rows that are left out (D254)', () => {
    const tiingo = (i: number, dividend = '0', close = '10'): string =>
      `${new Date(Date.UTC(2020, 0, 1 + i)).toISOString().slice(0, 10)},${close},10,10,10,1,${dividend},1`;

    it('counts kinds that Sandpit does not keep apart from unusable rows', async () => {
      const rows = Array.from({ length: 1000 }, (_, i) => {
        const at = `2026-01-05T${String(10 + Math.floor(i / 60)).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}Z`;
        return i < 70 ? massive(at, 'ABC.WS') : i < 72 ? massive(at).replace('10.1', 'x') : massive(at);
      });
      const { code, complaint, report } = await convert(put('a.csv', MASSIVE, ...rows.slice(0, 840)));
      expect(code).toBe(EXIT.done);
      expect(complaint).toContain('70 warrants left out, 2 unusable');
      expect(report).toMatchObject([{ read: 840, rows: 768, skipped: 2, leftOut: { warrants: 70 } }]);
    });

    it('refuses a file with more than 5 % of broken rows', async () => {
      const rows = Array.from({ length: 1000 }, (_, i) => tiingo(i, '0', i < 60 ? 'x' : '10'));
      expect((await convert(put('AAPL.csv', TIINGO, ...rows))).complaint).toContain(
        'AAPL.csv, line 2: "x" is not a number; 60 of 1000 rows cannot be used',
      );
    });

    it('refuses a broken row with a dividend or a split, whatever --bad-rows says', async () => {
      const rows = Array.from({ length: 1000 }, (_, i) => tiingo(i));
      for (const row of [
        tiingo(1000, '0.5', 'x'),
        `${tiingo(1000).slice(0, -1)}0.33`,
        tiingo(1000, '0', 'x').slice(0, -4),
      ]) {
        const { code, complaint } = await convert(put('AAPL.csv', TIINGO, ...rows, row), '--bad-rows', '100');
        expect(code).toBe(EXIT.refused);
        expect(complaint).toMatch(/AAPL\.csv, line 1002: .*dividend or a split, which must not be lost/);
      }
    });

    it('keeps the case of TpC, which is not TPC', async () => {
      const path = put(
        'a.csv',
        MASSIVE,
        ...['TpC', 'TPC', 'ABCx'].flatMap((symbol) =>
          ['14:31', '14:32'].map((time) => massive(`2026-01-05T${time}Z`, symbol)),
        ),
      );
      const { complaint } = await convert(path);
      expect(made('a_trades.csv').map((line) => line.split(',')[1])).toEqual([
        'T.PRC',
        'TPC',
        'T.PRC',
        'TPC',
      ]);
      expect(complaint).toContain('2 symbols in mixed case left out');
    });

    it('refuses several symbols where --symbol names one', async () => {
      const path = put('a.csv', MASSIVE, massive('2026-01-05T14:31Z'), massive('2026-01-05T14:32Z', 'MSFT'));
      expect((await convert(path, '--symbol', 'AAPL')).complaint).toContain(
        'several symbols (AAPL, MSFT), --symbol names one',
      );
      const publishers = put(
        'b.csv',
        DATABENTO,
        '2026-01-05T14:31:00Z,33,2,1,1.0,1.0,1.0,1.0,5,AAPL',
        '2026-01-05T14:31:00Z,33,3,1,1.0,1.0,1.0,1.0,5,AAPL',
      );
      expect((await convert(publishers)).complaint).toContain('line 3: rows of publishers 2 and 3');
    });

    it('summarizes gaps, sessions and the largest overnight change without an action', async () => {
      const path = put(
        'AAPL.csv',
        TIINGO,
        '2026-01-05,10,10,10,10,1,0,1',
        '2026-01-06,5,5,5,5,1,0,2',
        '2026-01-08,8,8,8,8,1,0,1',
        '2026-01-10,8,8,8,8,1,0,1',
      );
      const { complaint, report } = await convert(path);
      expect(report).toMatchObject([
        {
          symbols: 1,
          sessions: 3,
          gaps: 1,
          firstGap: 'AAPL 2026-01-07',
          outsideSessions: 1,
          largestOvernightRatio: { symbol: 'AAPL', date: '2026-01-08', ratio: 1.6 },
          unmovedSplits: [],
        },
      ]);
      expect(complaint).toContain(
        '1 symbol, 4 daily bars, 3 sessions, 2026-01-05 to 2026-01-10 (New York)\n1 gap (first: AAPL 2026-01-07)',
      );
    });

    it('warns of a split that the price does not follow', async () => {
      const path = put('AAPL.csv', TIINGO, '2026-01-05,10,10,10,10,1,0,1', '2026-01-06,10,10,10,10,1,0,4');
      expect((await convert(path)).complaint).toContain(
        'the price does not follow the split of AAPL 2026-01-06',
      );
    });
  });

  describe('further layouts (D254)', () => {
    it('yfinance: history has days with dividends, splits and distributed gains', async () => {
      const path = put(
        'SPY.csv',
        'Date,Open,High,Low,Close,Volume,Dividends,Stock Splits,Capital Gains',
        '2026-01-05 00:00:00-05:00,10,11,9,10,1,0.0,0.0,0.0',
        '2026-01-06 00:00:00-05:00,5,6,4,5,1,0.26,2.0,0.1',
      );
      await convert(path, '--as-traded');
      expect(made('daily_bars.csv')).toHaveLength(2);
      expect(made('corporate_actions.csv')).toEqual([
        '2026-01-06,SPY,cash_dividend,,0.36',
        '2026-01-06,SPY,split,2:1,',
      ]);
    });

    it('reads an index by its prefix as one', async () => {
      await convert(put('^GSPC.csv', YAHOO, '2026-01-05,1,1,1,1,1,0'), '--as-traded');
      expect(made('daily_bars.csv')).toEqual(['2026-01-05,GSPC,1,1,1,1,0,INDEX']);
      await convert(
        put(
          'i.csv',
          'ticker,open,close,high,low,window_start',
          ...['14:31', '14:32'].map((time) => `I:NDX,1,1,1,1,${Date.parse(`2026-01-05T${time}Z`)}000000`),
        ),
      );
      expect(made('i_index.csv')).toEqual([
        '2026-01-05T14:31:00Z,NDX,1,1,1,1',
        '2026-01-05T14:32:00Z,NDX,1,1,1,1',
      ]);
    });

    it('Alpha Vantage, Nasdaq and HistData: actions, dollar signs, standard time all year', async () => {
      await convert(
        put(
          'IBM.csv',
          'timestamp,open,high,low,close,adjusted_close,volume,dividend_amount,split_coefficient',
          '2026-01-06,2,2,2,2,2,1,0.5,1.0',
          '2026-01-05,1,1,1,1,1,1,0.0,1.0',
        ),
      );
      await convert(
        put(
          'AAPL.csv',
          'Date,Close/Last,Volume,Open,High,Low',
          '01/05/2026,$10.00,"1,000",$10.00,$11.00,$9.00',
        ),
        '--as-traded',
      );
      expect(made('daily_bars.csv').map((line) => line.slice(0, 15))).toEqual([
        '2026-01-05,AAPL',
        '2026-01-05,IBM,',
        '2026-01-06,IBM,',
      ]);
      const path = put('SPX.csv', '20260706 093000;1;1;1;1;0', '20260706 093100;1;1;1;1;0');
      await convert(path, '--vendor', 'histdata', '--as-traded');
      expect(made('SPX_trades.csv')[0]).toContain('2026-07-06T14:30:00Z,SPX');
    });
  });

  describe('declared layouts (D254)', () => {
    const own = {
      kind: 'bars',
      columns: { time: 't', symbol: 's', open: 'o', high: 'o', low: 'o', close: 'o' },
      time: { unit: 'text', zone: 'America/Chicago' },
      adjusted: 'none',
    };
    const declare = (layout: object): string => put('own.json', JSON.stringify(layout));
    const rows = (...times: readonly string[]): string =>
      put('a.csv', 't,s,o', ...times.map((time) => `${time},AAPL,10`));
    const importOwn = async (layout: object, ...times: readonly string[]) =>
      convert(rows(...times), '--layout', declare(layout), '--bad-rows', '50');

    it('reads times in their zone, hours that occur twice in the order of the file', async () => {
      const { complaint } = await importOwn(
        own,
        '2026-01-05 08:31',
        '2026-11-01 01:30',
        '2026-11-01 01:30',
        '2026-03-08 02:30',
      );
      expect(complaint).toContain('line 5: 2026-03-08T02:30 did not exist in America/Chicago');
      expect(made('a_trades.csv').map((line) => line.split(',')[0])).toEqual([
        '2026-01-05T14:31:00Z',
        '2026-11-01T06:30:00Z',
        '2026-11-01T07:30:00Z',
      ]);
    });

    it('reads hours that occur twice in a file with the newest row first', async () => {
      const newYork = { ...own, time: { unit: 'text', zone: 'America/New_York' } };
      await importOwn(
        newYork,
        '2026-11-01 02:30',
        '2026-11-01 02:29',
        '2026-11-01 01:30',
        '2026-11-01 01:30',
      );
      expect(made('a_trades.csv').map((line) => line.slice(11, 16))).toEqual([
        '05:30',
        '06:30',
        '07:29',
        '07:30',
      ]);
    });

    it('applies marks: END to minutes, not to days', async () => {
      const ends = { ...own, time: { unit: 'text', zone: 'America/New_York', marks: 'END' } };
      await importOwn(ends, '2026-01-05 09:32');
      expect(made('a_trades.csv')[0]).toContain('2026-01-05T14:31:00Z');
      await importOwn({ ...ends, kind: 'daily' }, '2026-01-05');
      expect(made('daily_bars.csv')[0]).toContain('2026-01-05');
    });

    it('reads times without colons in a column of their own', async () => {
      const columns = { ...own.columns, timeOfDay: 'tod' };
      const path = put(
        'a.csv',
        't,tod,s,o',
        '20260105,83100,AAPL,10',
        '20260105,083200,AAPL,10',
        '20260105,0833,AAPL,10',
      );
      await convert(path, '--layout', declare({ ...own, columns }));
      expect(made('a_trades.csv').map((line) => line.slice(11, 16))).toEqual(['14:31', '14:32', '14:33']);
    });

    it('refuses bars of another size than the layout says', async () => {
      expect(
        (await importOwn(own, '2026-01-05 09:00', '2026-01-05 10:00', '2026-01-05 11:00')).complaint,
      ).toContain('bars of 1 hour');
      expect((await importOwn(own, '2026-01-05 00:00', '2026-01-06 00:00')).complaint).toContain(
        'every row is at midnight',
      );
    });

    it.each([
      [
        { time: { unit: 'text', zone: 'EST' } },
        'time.zone "EST" is not a time zone: name a place (America/New_York for exchange time, Etc/GMT+5 for UTC−5 all year as in HistData)',
      ],
      [{ time: { unit: 'text', zone: 'EST5EDT' } }, 'time.zone "EST5EDT"'],
      [{ time: { unit: 'text', marks: 'MIDDLE' } }, 'time.marks must be one of START, END or AT'],
      [{ time: { unit: 'hours' } }, 'time.unit must be one of s, ms, us, ns, text'],
      [
        { time: { unit: 'text', timezone: 'UTC' } },
        'time has no field "timezone"; it has unit, zone, marks, dates',
      ],
      [{ lots: '100' }, 'lots must be a whole number'],
      [{ priceDecimals: 2.5 }, 'priceDecimals must be a whole number from 0 to 15'],
      [{ kind: 'minutes' }, 'kind must be one of bars, quotes, daily'],
      [{ adjusted: false }, 'adjusted must be one of none, split, unknown'],
      [{ seperator: ';' }, 'the layout has no field "seperator"'],
      [{ columns: { ...own.columns, vwap: 'v' } }, 'columns has no field "vwap"'],
      [{ columns: { time: 't' } }, 'columns.open is required for bars'],
      [{ columns: { ...own.columns, open: 3 } }, 'columns.open must be the name of a column'],
      [{ headerLines: 0 }, 'columns.time must be a position from 0'],
      [{ delimiter: '||' }, 'delimiter must be one character'],
      [{ absent: 'NA' }, 'absent must be a list of texts'],
    ])('refuses %j', async (field, why) => {
      const { code, complaint } = await importOwn({ ...own, ...field }, '2026-01-05 09:31');
      expect(code).toBe(EXIT.refused);
      expect(complaint).toContain('own.json: ');
      expect(complaint).toContain(why);
    });

    it('names a declared column that the header lacks, and a file that is not JSON', async () => {
      expect(
        (await importOwn({ ...own, columns: { ...own.columns, open: 'Open' } }, '2026-01-05 09:31'))
          .complaint,
      ).toContain('line 1: no column "Open" for open; the header has t, s, o');
      expect((await convert(rows('2026-01-05'), '--layout', put('own.json', '{'))).complaint).toContain(
        'own.json: not a layout in JSON',
      );
    });
  });
});
