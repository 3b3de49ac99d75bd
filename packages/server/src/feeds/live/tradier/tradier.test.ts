import { Price, TradingDate } from '@sandpit/core';
import { expect, it } from 'vitest';
import { sourceContract } from '../source.contract.js';
import { TRADIER } from '../testing/vendors.js';
import { type FoundActions, takeDividends, takeSplits } from './fundamentals.js';
import { quoteFrom, snapshotFrom } from './messages.js';

sourceContract(TRADIER);

it('Tradier: sizes of the REST service are hundreds of shares, or contracts for options', () => {
  const told = { bid: 1, ask: 2, bidsize: 3, asksize: 4, bid_date: 5, ask_date: 6 };
  expect(snapshotFrom('AAPL', told).quote).toMatchObject({ bidSize: 300, askSize: 400, stampMs: 6 });
  expect(snapshotFrom('AAPL261218C00200000', told).quote).toMatchObject({ bidSize: 3 });
});

it('Tradier: numbers come as text, and class shares with a slash', () => {
  const told = {
    symbol: 'BRK/B',
    bid: '461.70',
    bidsz: '2',
    biddate: '1767625200000',
    ask: '461.8',
    asksz: '3',
    askdate: '1767625200001',
  };
  expect(quoteFrom(told)).toEqual({
    symbol: 'BRK.B',
    bid: 461.7,
    bidSize: 2,
    ask: 461.8,
    askSize: 3,
    stampMs: 1767625200001,
  });
});

it('Tradier: splits and dividends come from the fundamentals, in which the past is left out', () => {
  const from = TradingDate.parse('2026-01-05') as TradingDate;
  const found: FoundActions = { actions: [], unsupported: [] };
  const split = (date: string, to: number) => ({ ex_date: date, split_from: 1.0, split_to: to });
  takeSplits(
    [
      {
        request: 'BRK/B',
        type: 'Symbol',
        results: [
          {
            type: 'Company',
            id: 'C1',
            tables: { mergers_and_acquisitions: { acquired_company_id: 'C2', effective_date: '2026-03-01' } },
          },
          {
            type: 'Stock',
            id: 'S1',
            tables: {
              stock_splits: {
                '1987-09-21': split('1987-09-21', 2),
                '2026-02-02': split('2026-02-02', 4),
              },
            },
          },
        ],
      },
      {
        request: 'XYZ',
        results: [
          {
            id: 'C3',
            tables: { mergers_and_acquisitions: { acquired_company_id: 'C3', effective_date: '2026-03-01' } },
          },
        ],
      },
    ],
    from,
    found,
  );
  const dividend = { dividend_type: 'CD', ex_date: '2026-01-09', cash_amount: 0.28, pay_date: '2026-02-13' };
  takeDividends(
    [
      {
        request: 'MSFT',
        results: [
          { id: 'S2', tables: { cash_dividends: [dividend, { ...dividend, ex_date: '2010-02-16' }] } },
        ],
      },
    ],
    from,
    found,
  );
  expect(found).toEqual({
    actions: [
      { type: 'SPLIT', symbol: 'BRK.B', exDate: '2026-02-02', ratio: { new: 4, old: 1 } },
      {
        type: 'CASH_DIVIDEND',
        symbol: 'MSFT',
        exDate: '2026-01-09',
        payDate: '2026-02-13',
        amountPerShare: Price.of('0.28'),
      },
    ],
    unsupported: [{ symbol: 'XYZ', type: 'mergers_and_acquisitions', exDate: '2026-03-01' }],
  });
  for (const odd of [undefined, null, 'null', {}, [null], [{ request: 'A', results: null }]])
    takeSplits(odd, from, found);
  expect(found.actions).toHaveLength(2);
});
