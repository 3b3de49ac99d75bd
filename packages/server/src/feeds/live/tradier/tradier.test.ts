import { expect, it } from 'vitest';
import { sourceContract } from '../source.contract.js';
import { FakeTradier, TRADIER_TOKEN } from '../testing/fake-tradier.js';
import { quoteFrom, snapshotFrom } from './messages.js';

sourceContract({
  name: 'tradier',
  start: () => new FakeTradier().start(),
  settings: ({ url, origin }, isKnown) => ({
    LIVE_SOURCE: 'tradier',
    LIVE_URL: url,
    LIVE_REST_URL: origin,
    TRADIER_TOKEN: isKnown ? TRADIER_TOKEN : 'wrong-key',
  }),
  secrets: [TRADIER_TOKEN],
  refusal: /Tradier refuses TRADIER_TOKEN/,
  halts: 'none',
});

it('Tradier: sizes of the REST service are hundreds of shares, those of options contracts', () => {
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
