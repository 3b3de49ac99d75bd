import { expect, it } from 'vitest';
import { xnys } from '../calendar/xnys.js';
import { plainEquity } from '../instruments/equity.js';
import type { FutureContract } from '../instruments/future.js';
import { optionContract } from '../instruments/option-roots.js';
import { parseOsi } from '../instruments/osi.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { TradingDate } from '../values/trading-date.js';
import { settlementDateOf, settlementEntries } from './obligation.js';

const named = parseOsi('AAPL160115C00100000');
const option = named && optionContract(named, {}, () => undefined);
const future: FutureContract = {
  assetClass: 'FUTURE',
  symbol: 'ESZ26',
  root: 'ES',
  multiplier: 50,
  tickSize: Price.of('0.25'),
  settlement: 'CASH',
  lastTradeDate: TradingDate.of('2026-12-18'),
  initialMargin: Money.ofDollars(11_000),
  maintenanceMargin: Money.ofDollars(10_000),
};

it('shares settle by the cycle of the date, options on the next settlement day, futures never (D83)', () => {
  // Thursday before Columbus Day 2015, when shares settled in three days.
  const date = TradingDate.of('2015-10-08');
  expect(settlementDateOf(plainEquity('AAPL'), date, xnys)).toBe('2015-10-14');
  expect(option && settlementDateOf(option, date, xnys)).toBe('2015-10-09');
  expect(option && settlementDateOf(option, TradingDate.of('2015-10-09'), xnys)).toBe('2015-10-13');
  expect(settlementDateOf(future, date, xnys)).toBeUndefined();
});

it('settlementEntries: moves pending to settled cash in one SETTLEMENT entry, if cash moved', () => {
  const date = TradingDate.of('2026-06-02');
  const cash = Money.ofDollars(90);
  expect(settlementEntries({ date, cash })).toEqual([]);
  expect(settlementEntries({ date, cash, entry: 7 })).toEqual([
    {
      number: 7,
      type: 'SETTLEMENT',
      about: { date },
      postings: [
        { account: 'PENDING_CASH', amount: Money.negate(cash) },
        { account: 'SETTLED_CASH', amount: cash },
      ],
    },
  ]);
});
