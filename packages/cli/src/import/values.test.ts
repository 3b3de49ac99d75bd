import { describe, expect, it } from 'vitest';
import { symbolInName, symbolOf } from './symbols.js';
import { timeOf, zoneNamed } from './times.js';
import { amountOf, priceOf, ratioOf, sizeOf } from './values.js';

describe('prices of vendors (D254)', () => {
  it.each([
    ['254.52999877929688', '254.53'],
    ['254.5292510986328', '254.5292511'],
    ['0.12339999526739120', '0.1234'],
    ['0.99999999', '1'],
    ['187.5', '187.5'],
    ['1.8750000e2', '187.5'],
    ['1,234.56', '1234.56'],
    ['$93.10', '93.1'],
    ['.5', '0.5'],
    ['0.123456785', '0.12345679'],
    ['1.10005', '1.10005'],
    ['750000', '750000'],
  ])('reads %s as %s', (text, price) => {
    expect(priceOf(text)).toBe(price);
  });

  it('reads whole numbers with implied decimals, and others as they are', () => {
    expect(priceOf('187500000000', { places: 9 })).toBe('187.5');
    expect(priceOf('187.500000000', { places: 9 })).toBe('187.5');
  });

  it.each(['1.234,56', '1.23M', '1,23', '0', '-1', '', '1e99', 'NaN', '12 345', '0x10', '99999999999'])(
    'refuses %j',
    (text) => {
      expect(() => priceOf(text)).toThrow(/is not a (number|price)|too large/);
    },
  );

  it('refuses a single comma where it may be the decimal one', () => {
    expect(() => priceOf('187,500', { isAmbiguous: true })).toThrow('may have a decimal comma');
    expect(priceOf('1,187,500.25', { isAmbiguous: true })).toBe('1187500.25');
  });

  it('reads sizes with groups of three, exponents and lots', () => {
    expect(sizeOf('45,000,000')).toBe('45000000');
    expect(sizeOf('4.5e7')).toBe('45000000');
    expect(sizeOf('3', { lots: 100 })).toBe('300');
    expect(sizeOf('7.50')).toBe('7.5');
    expect(() => sizeOf('-1')).toThrow('is not a size');
  });

  it('adds dividends and distributed gains exactly', () => {
    expect(amountOf(['0.1', '0.2'], {})).toBe('0.3');
    expect(amountOf(['0.0', '0'], {})).toBeUndefined();
  });
});

describe('split factors (D254)', () => {
  it.each([
    ['0.333333', '1:3'],
    ['0.33333', '1:3'],
    ['0.3333', '1:3'],
    ['1.3333', '4:3'],
    ['0.0667', '1:15'],
    ['0.0005', '1:2000'],
    ['1.05', '21:20'],
    ['1.01', '101:100'],
    ['1.07', '107:100'],
    ['7.0', '7:1'],
    ['1.5', '3:2'],
    ['0.125', '1:8'],
    ['10000', '10000:1'],
    ['3:2', '3:2'],
    ['1/20', '1:20'],
  ])('reads %s as %s', (text, ratio) => {
    expect(ratioOf(text)).toBe(ratio);
  });

  it.each(['0.33', '0.67', '1.33', '0.07', '1.281', '1.324', '20000', '0:1', '-2'])('refuses %s', (text) => {
    expect(() => ratioOf(text)).toThrow(/ratio/);
  });

  it('names the remedies', () => {
    expect(() => ratioOf('1.281')).toThrow(
      'write the ratio as text (3:2), leave the cell empty, or record a SPIN_OFF',
    );
  });

  it('finds no split in 1, 1.0 and 0', () => {
    expect(['1', '1.0', '0', '0.0', '2:2'].map(ratioOf)).toEqual(Array(5).fill(undefined));
  });
});

describe('symbols of vendors (D254)', () => {
  it.each([
    ['AAPL', 'AAPL'],
    ['aapl', 'AAPL'],
    ['TpC', 'T.PRC'],
    ['BACp', 'BAC.PR'],
    ['T-PC', 'T.PRC'],
    ['T-P-C', 'T.PRC'],
    ['T PRC', 'T.PRC'],
    ['T.PRC', 'T.PRC'],
    ['BRK/B', 'BRK.B'],
    ['BRK B', 'BRK.B'],
    ['AAPL.US', 'AAPL'],
    ['NEWS', 'NEWS'],
    ['ESH6', 'ESH26'],
    ['O:SPY260327P00390000', 'SPY260327P00390000'],
    ['SPY   260327P00390000', 'SPY260327P00390000'],
  ])('reads %s as %s', (text, symbol) => {
    expect(symbolOf(text, 2026)).toEqual({ symbol, isIndex: false });
  });

  it('knows indices by their prefix', () => {
    expect(symbolOf('I:NDX', 2026)).toEqual({ symbol: 'NDX', isIndex: true });
    expect(symbolOf('^GSPC', 2026)).toEqual({ symbol: 'GSPC', isIndex: true });
  });

  it.each([
    ['ABC.WS', 'warrants'],
    ['ABC-WT', 'warrants'],
    ['ABC+', 'warrants'],
    ['ABCDW', 'warrants'],
    ['ABC.U', 'units'],
    ['ABCDU', 'units'],
    ['ABCr', 'rights'],
    ['ABCDR', 'rights'],
    ['ABCw', 'shares when issued'],
    ['TpCw', 'shares when issued'],
    ['ABCx', 'symbols in mixed case'],
    ['LCID1271217C00002500', 'adjusted options'],
    ['BTC-USD', 'currencies'],
    ['X:BTCUSD', 'currencies'],
    ['EURUSD=X', 'currencies'],
    ['ES=F', 'continuous futures'],
    ['ES.c.0', 'continuous futures'],
    ['ESH6-ESM6', 'futures spreads'],
    ['ESH20 C3100', 'options on futures'],
    ['SHOP.TO', 'other currencies'],
  ])('leaves out %s as one of the %s', (text, leftOut) => {
    expect(symbolOf(text, 2026)).toEqual({ leftOut });
  });

  it('follows the notation of the vendor where notations contradict each other', () => {
    expect(symbolOf('BAC-L', 2026, 'nasdaq')).toMatchObject({ symbol: 'BAC.PRL' });
    expect(symbolOf('BRK-B', 2026, 'yahoo')).toMatchObject({ symbol: 'BRK.B' });
    expect(symbolOf('VOD.L', 2026, 'yahoo')).toEqual({ leftOut: 'other currencies' });
    expect(symbolOf('T_C.US', 2026, 'stooq')).toMatchObject({ symbol: 'T.PRC' });
    expect(symbolOf('VOD.UK', 2026, 'stooq')).toEqual({ leftOut: 'other currencies' });
  });

  it.each([
    ['AAPL', 'AAPL'],
    ['AAPL_2026-01-05', 'AAPL'],
    ['AAPL-1d', 'AAPL'],
    ['AAPL (1)', 'AAPL'],
    ['aapl_us_d', 'AAPL'],
    ['bac_l_us_d', 'BAC.PRL'],
    ['BRK-B', 'BRK.B'],
    ['BRK_A_1min', 'BRK.A'],
    ['T-PC', 'T.PRC'],
    ['NASDAQ_AAPL, 1D_x', 'AAPL'],
    ['NYSE_BRK.B, 5', 'BRK.B'],
    ['NASDAQ_AAPL', 'AAPL'],
    ['^GSPC', 'GSPC'],
  ])('reads the name of the file %s.csv as %s', (stem, symbol) => {
    expect(symbolInName(stem, 'common')).toMatchObject({ symbol });
  });

  it.each([
    'SPY-D',
    'SPY_D',
    'prices',
    'HistoricalData_1',
    '2026-01-05',
    'BTC-USD',
    'ES=F',
    'EURUSD=X',
    'BINANCE_BTCUSDT, 60',
    'XYZ-PQ',
  ])('asks for --symbol by the name of the file %s.csv', (stem) => {
    expect(symbolInName(stem, 'common')).toMatchObject({
      why: expect.stringContaining('--symbol') as string,
    });
  });
});

describe('times of vendors (D254)', () => {
  const at = (text: string): string => new Date(timeOf(text, undefined).ms).toISOString();

  it.each([
    ['20260105 093000', '2026-01-05T09:30:00.000Z'],
    ['20260105 0930', '2026-01-05T09:30:00.000Z'],
    ['20260105 93000', '2026-01-05T09:30:00.000Z'],
    ['2026-01-05 930', '2026-01-05T09:30:00.000Z'],
    ['20260105093000', '2026-01-05T09:30:00.000Z'],
    ['2026/01/05 09:30', '2026-01-05T09:30:00.000Z'],
    ['2026-01-05T09:30:00-05:00', '2026-01-05T14:30:00.000Z'],
    ['2026-01-05 09:30:00 UTC', '2026-01-05T09:30:00.000Z'],
    ['1767623400', '2026-01-05T14:30:00.000Z'],
    ['1767623400000000000', '2026-01-05T14:30:00.000Z'],
  ])('reads %s', (text, instant) => {
    expect(at(text)).toBe(instant);
  });

  it.each(['2026-02-30', '20260105 240000', '2026-01-05 9:75', 'yesterday', '5', '2026-13-01', '1767'])(
    'refuses %s',
    (text) => {
      expect(() => timeOf(text, undefined)).toThrow(/is not a (time|date)/);
    },
  );

  it('asks for the order of a date that may begin with the day', () => {
    expect(() => timeOf('01/05/2026', undefined)).toThrow('time.dates MDY or DMY');
    expect(new Date(timeOf('01/05/2026', 'DMY').ms).toISOString()).toBe('2026-05-01T00:00:00.000Z');
  });

  it('knows places and offsets, and no abbreviations', () => {
    const hour = (zone: string): number =>
      ((zoneNamed(zone)?.instantsOf(Date.UTC(2026, 6, 1, 12))[0] ?? 0) / 3_600_000) % 24;
    expect(['America/New_York', 'America/Chicago', 'Etc/GMT+5', '-05:00', 'UTC'].map(hour)).toEqual([
      16, 17, 17, 17, 12,
    ]);
    expect(['EST', 'EDT', 'CST', 'EST5EDT', 'GMT', 'Mars/Base', '5', 'New York'].map(zoneNamed)).toEqual(
      Array(8).fill(undefined),
    );
  });

  it('finds two instants in the hour that clocks repeat, and none in the one that they skip', () => {
    const chicago = zoneNamed('America/Chicago');
    expect(chicago?.instantsOf(Date.UTC(2026, 10, 1, 1, 30)).map((ms) => new Date(ms).toISOString())).toEqual(
      ['2026-11-01T06:30:00.000Z', '2026-11-01T07:30:00.000Z'],
    );
    expect(chicago?.instantsOf(Date.UTC(2026, 2, 8, 2, 30))).toEqual([]);
  });
});
