import { describe, expect, it } from 'vitest';
import { optionContract } from '../../src/instruments/option-roots.js';
import { parseOsi } from '../../src/instruments/osi.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';
import { TradingDate } from '../../src/values/trading-date.js';

/** Lucid after its reverse split of one for ten: ten shares for 100 times the premium. */
const ADJUSTED = 'LCID1271217C00002500';

const audited = auditAfterEach();

function market(): TestMarket {
  const m = audited(new TestMarket());
  m.quote('LCID', '2.10', '2.12');
  return m;
}

const list = (m: TestMarket, deliverable: number): void => {
  const contract = optionContract(parseOsi(ADJUSTED)!, { deliverable }, () => undefined)!;
  m.execute<'ListInstruments'>({ type: 'ListInstruments', instruments: [contract] });
};

const pushed = (m: TestMarket, ...symbols: string[]) =>
  ({
    type: 'UpdateMarket',
    pushed: true,
    quotes: symbols.map((symbol) => ({ symbol, bid: Price.of('0.60'), ask: Price.of('0.70'), at: m.now })),
  }) as const;

describe('an adjusted contract that is known by its name alone (D245)', () => {
  it('a push with a quote of it is refused as a whole, and the message has its index', () => {
    const m = market();
    expect(m.refuse(pushed(m, 'KODK', ADJUSTED))).toEqual({
      code: 'UNKNOWN_DELIVERABLE',
      message: `quotes.1: ${ADJUSTED} is an adjusted contract whose deliverable is unknown: list it with its deliverable first`,
      symbol: ADJUSTED,
    });
    expect(m.brokerage.instrument('KODK')).toBeUndefined();
  });

  it('an order for it is refused, as a single leg and as one of several', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 10_000 });
    const refusal = { code: 'UNKNOWN_DELIVERABLE', symbol: ADJUSTED };
    expect(m.submit(portfolio, { symbol: ADJUSTED, quantity: 1 })).toMatchObject(refusal);
    m.quote('LCID271217C00002500', '0.60', '0.70');
    const leg = { positionIntent: 'BUY_TO_OPEN', quantity: Quantity.of(1) } as const;
    const legs = [
      { optionSymbol: 'LCID271217C00002500', ...leg },
      { optionSymbol: ADJUSTED, ...leg },
    ];
    const combo = {
      symbol: 'LCID',
      quantity: 1,
      limit: '2.00',
      more: { assetClass: 'OPTION', legs },
    } as const;
    expect(m.submit(portfolio, combo)).toMatchObject(refusal);
  });

  it('an import of it is refused', () => {
    const m = market();
    const portfolioId = m.openPortfolio({ cash: 10_000 });
    const lots = [{ symbol: ADJUSTED, quantity: Quantity.of(1), price: Price.of('0.60') }];
    expect(
      m.refuse({ type: 'ImportPositions', by: m.by, portfolioId, cash: 0 as never, lots }),
    ).toMatchObject({
      code: 'INVALID',
      messages: [expect.stringContaining('deliverable is unknown') as string],
    });
  });

  it('trades with its deliverable once it is listed with one', () => {
    const m = market();
    list(m, 10);
    m.quote(ADJUSTED, '0.05', '0.06');
    expect(m.brokerage.instrument(ADJUSTED)).toMatchObject({
      underlying: 'LCID',
      multiplier: 100,
      deliverable: 10,
    });
    const portfolio = m.openPortfolio({ cash: 10_000 });
    m.place(portfolio, { symbol: ADJUSTED, quantity: 1 });
    expect(m.portfolio(portfolio).positions.has(ADJUSTED)).toBe(true);
  });
});

describe('a root that ends in a digit and is a listed share or index (D245)', () => {
  it('an option on a listed share has this share as its underlying and delivers 100 shares', () => {
    const m = market();
    m.quote('LCID1', '2.10', '2.12');
    m.quote(ADJUSTED, '0.60', '0.70');
    expect(m.brokerage.instrument(ADJUSTED)).toMatchObject({
      underlying: 'LCID1',
      deliverable: 100,
      settlement: 'PHYSICAL',
    });
  });

  it('an option on a listed index is settled in cash', () => {
    const m = market();
    const index = { assetClass: 'INDEX', symbol: 'RATE9', name: 'A rate' } as const;
    m.execute<'ListInstruments'>({ type: 'ListInstruments', instruments: [index] });
    m.quote('RATE9271217C00002500', '0.60', '0.70');
    expect(m.brokerage.instrument('RATE9271217C00002500')).toMatchObject({
      underlying: 'RATE9',
      settlement: 'CASH',
      style: 'EUROPEAN',
    });
  });

  it('a share and its option may be listed by the same push, in any order', () => {
    const m = market();
    m.execute<'UpdateMarket'>(pushed(m, ADJUSTED, 'LCID1'));
    expect(m.brokerage.instrument(ADJUSTED)).toMatchObject({ underlying: 'LCID1' });
  });

  it('a split of the share adjusts its options', () => {
    const m = market();
    m.quote('LCID1', '2.10', '2.12');
    m.quote(ADJUSTED, '0.60', '0.70');
    const portfolio = m.openPortfolio({ cash: 10_000 });
    m.place(portfolio, { symbol: ADJUSTED, quantity: 1 });
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [
        {
          type: 'SPLIT',
          symbol: 'LCID1',
          exDate: TradingDate.of('2026-01-07'),
          ratio: { new: 2, old: 1 },
        },
      ],
    });
    m.advanceTo('2026-01-07', 10);
    const held = m.portfolio(portfolio).positions;
    expect([...held.keys()]).toEqual(['LCID1271217C00001250']);
  });
});

it('an adjusted contract that a split made trades under its new root (D245)', () => {
  const m = market();
  m.quote('LCID271217C00002500', '0.60', '0.70');
  const portfolio = m.openPortfolio({ cash: 10_000 });
  m.place(portfolio, { symbol: 'LCID271217C00002500', quantity: 1 });
  m.execute<'AnnounceActions'>({
    type: 'AnnounceActions',
    actions: [
      { type: 'SPLIT', symbol: 'LCID', exDate: TradingDate.of('2026-01-07'), ratio: { new: 1, old: 10 } },
    ],
  });
  m.advanceTo('2026-01-07', 10);
  m.quote(ADJUSTED, '0.60', '0.70');
  expect(m.brokerage.instrument(ADJUSTED)).toMatchObject({ underlying: 'LCID', deliverable: 10 });
  m.place(portfolio, { symbol: ADJUSTED, intent: 'SELL_TO_CLOSE', quantity: 1 });
  expect(m.portfolio(portfolio).positions.size).toBe(0);
});
