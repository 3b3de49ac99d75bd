import { expect, it } from 'vitest';
import { instantInNewYork, readable, scoreText, words } from './format.ts';
import { shortSymbolText, symbolText } from './option-legs.ts';

it('instantInNewYork: reads a local time in winter, in summer, and near a change to or from daylight time', () => {
  expect(instantInNewYork('2026-01-05T09:30')).toBe('2026-01-05T14:30:00.000Z');
  expect(instantInNewYork('2026-07-06T09:30')).toBe('2026-07-06T13:30:00.000Z');
  expect(instantInNewYork('2026-03-08T00:30')).toBe('2026-03-08T05:30:00.000Z');
  expect(instantInNewYork('2026-03-08T09:30')).toBe('2026-03-08T13:30:00.000Z');
  expect(instantInNewYork('soon')).toBeUndefined();
});

it('readable: shows instants in Eastern Time and dollars with commas', () => {
  expect(readable('market opens 2026-01-16T09:30:00-05:00')).toBe('market opens Jan 16, 2026, 9:30:00 AM ET');
  expect(readable('at least $110000.00 is required; the portfolio has $17.73')).toBe(
    'at least $110,000.00 is required; the portfolio has $17.73',
  );
});

it('readable: names fields and codes as the forms do', () => {
  expect(
    [
      'limitPrice must be a positive number',
      'quantity must be a positive number',
      'bracketConfig.profitTarget.limitPrice must be above 187.50',
      'legs.0.quantity must be a whole number',
      'positionIntent must be one of BUY_TO_OPEN, SELL_TO_CLOSE',
      'Unknown brokerId: no broker has this id',
      'waits for api.example.com and orders/someThing, e.g. at 187.50',
    ].map(readable),
  ).toEqual([
    'Limit price must be a positive number',
    'Quantity must be a positive number',
    'Take profit limit price must be above 187.50',
    'Leg 1 quantity must be a whole number',
    'Effect must be one of Buy to open, Sell to close',
    'Unknown broker: no broker has this id',
    'waits for api.example.com and orders/someThing, e.g. at 187.50',
  ]);
});

it('scoreText: keeps four decimals, so that the scores of a column align', () => {
  expect([0.003, -0.0129, 1.25].map(scoreText)).toEqual(['0.0030', '−0.0129', '1.2500']);
});

it('words: writes abbreviations as traders do', () => {
  expect(['REALIZED_PNL', 'ROTH_IRA', 'BUY_TO_OPEN'].map(words)).toEqual([
    'Realized P&L',
    'Roth IRA',
    'Buy to open',
  ]);
});

it('symbolText, shortSymbolText: name an option in words and in the shorthand of traders', () => {
  expect(symbolText('AAPL260130C00237500')).toBe('AAPL Jan 30, 2026 237.50 call');
  expect(shortSymbolText('AAPL260130C00237500')).toBe('AAPL 1/30 237.5C');
  expect([symbolText('ESH26'), shortSymbolText('SPY')]).toEqual(['ESH26', 'SPY']);
});
