import { describe, expect, it } from 'vitest';
import { Brokerage } from '../../src/brokerage.js';
import type { OrderLeg } from '../../src/orders/order.js';
import { Position } from '../../src/positions/position.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import { stateHash } from '../../src/state-hash.js';
import { Instant } from '../../src/values/instant.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';
import { TradingDate } from '../../src/values/trading-date.js';

/** Expire on Friday 2026-01-16. */
const CALL = 'AAPL260116C00100000';
const HALF_CALL = 'AAPL260116C00050000';
const QUARTER_CALL = 'AAPL260116C00025000';
const PUT = 'AAPL260116P00100000';
const HALF_PUT = 'AAPL260116P00050000';
const HIGHER = 'AAPL260116C00110000';

const audited = auditAfterEach();

/** Monday 2026-01-05, 10:00; AAPL at 100; it splits on Wednesday. */
function market(ratio: { new: number; old: number } = { new: 2, old: 1 }): TestMarket {
  const spreads = testBroker('default', { spreadsInCashAccounts: true });
  const m = audited(new TestMarket({ rules: { brokers: new Map([['default', spreads]]) } }));
  m.quote('AAPL', '99.99', '100.01', { last: '100' });
  m.quote(CALL, '4.00', '4.10', { bidSize: 50, askSize: 50 });
  m.quote(HIGHER, '1.00', '1.10');
  m.quote(PUT, '3.80', '3.90');
  m.execute<'AnnounceActions'>({
    type: 'AnnounceActions',
    actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: TradingDate.of('2026-01-07'), ratio }],
  });
  return m;
}

const split = (m: TestMarket): void => m.advanceTo('2026-01-07', 10);

/** Positions with quantity and cost. */
const held = (m: TestMarket, portfolio: string): Record<string, [number, number]> =>
  Object.fromEntries(
    [...m.portfolio(portfolio).positions.values()].map((position) => [
      position.symbol,
      [shares(Position.held(position)), dollars(Position.costBasis(position))],
    ]),
  );

const leg = (optionSymbol: string, positionIntent: OrderLeg['positionIntent'], quantity = 1): OrderLeg => ({
  optionSymbol,
  positionIntent,
  quantity: Quantity.of(quantity),
});

describe('a split of two for one (D89)', () => {
  it('turns one contract into two at half the strike under another symbol, with an unchanged cost', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 20_000 });
    m.place(portfolio, { symbol: CALL, quantity: 3 });
    m.place(portfolio, { symbol: PUT, quantity: 1 });
    const before = m.value(portfolio);
    split(m);
    expect(held(m, portfolio)).toEqual({ [HALF_CALL]: [6, 1230], [HALF_PUT]: [2, 390] });
    expect(m.brokerage.instrument(HALF_CALL)).toMatchObject({ strike: Price.of('50'), deliverable: 100 });
    // The earlier quotes, in new contracts.
    expect(m.brokerage.quote(HALF_CALL)).toMatchObject({ bid: Price.of('2'), askSize: Quantity.of(100) });
    expect(m.brokerage.quote(CALL)).toBeUndefined();
    expect(m.value(portfolio).totalEquity).toBe(before.totalEquity);
    expect(m.submit(portfolio, { symbol: CALL, quantity: 1 })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
      message: `${CALL} was adjusted: it is ${HALF_CALL} now`,
    });
    m.quote(HALF_CALL, '2.00', '2.05');
    m.place(portfolio, { symbol: HALF_CALL, intent: 'SELL_TO_CLOSE', quantity: 6 });
    // 1,200 for contracts that cost 1,230: a loss is a debit.
    expect(dollars(m.portfolio(portfolio).balances.REALIZED_PNL)).toBe(30);
    m.restart();
    expect(held(m, portfolio)).toEqual({ [HALF_PUT]: [2, 390] });
  });

  it('renames one series to a symbol that another series leaves at the same instant', () => {
    const m = market();
    m.quote(HALF_CALL, '50', '50.10');
    const portfolio = m.openPortfolio({ cash: 20_000 });
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    m.place(portfolio, { symbol: HALF_CALL, quantity: 1 });
    split(m);
    expect(held(m, portfolio)).toEqual({ [QUARTER_CALL]: [2, 5010], [HALF_CALL]: [2, 410] });
    expect(m.brokerage.quote(HALF_CALL)).toMatchObject({ bid: Price.of('2') });
    expect(m.brokerage.quote(QUARTER_CALL)).toMatchObject({ bid: Price.of('25') });
    expect(m.brokerage.state.adjusted.get(CALL)).toBe(HALF_CALL);
    expect(m.brokerage.state.adjusted.has(HALF_CALL)).toBe(false);
  });

  it('keeps covered calls covered and puts secured', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 30_000 });
    m.place(portfolio, { symbol: 'AAPL', quantity: 100 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    expect(m.portfolio(portfolio).secured.get('AAPL')).toEqual({
      cash: 100_000_000,
      shares: Quantity.of(100),
    });
    split(m);
    expect(m.portfolio(portfolio).secured.get('AAPL')).toEqual({
      cash: 100_000_000,
      shares: Quantity.of(200),
    });
    expect(held(m, portfolio)).toEqual({
      AAPL: [200, 10_001],
      [HALF_CALL]: [-2, 400],
      [HALF_PUT]: [-2, 380],
    });
  });

  it('moves open orders to the new series at half the price, purchases rounded down to the tick and sales up', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 50_000 });
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    const gtc = { tif: 'GTC' as const };
    const buy = m.place(portfolio, { symbol: CALL, quantity: 2, limit: '3.15', ...gtc });
    const sell = m.place(portfolio, {
      symbol: CALL,
      intent: 'SELL_TO_CLOSE',
      quantity: 1,
      limit: '9.05',
      ...gtc,
    });
    const spread = m.place(portfolio, {
      quantity: 2,
      limit: '2.51',
      ...gtc,
      more: {
        assetClass: 'OPTION',
        strategy: 'VERTICAL_SPREAD',
        legs: [leg(CALL, 'BUY_TO_OPEN', 2), leg(HIGHER, 'SELL_TO_OPEN', 2)],
      },
    });
    const reserved = m.order(buy).reserved;
    split(m);
    expect(m.terms(buy).symbol).toBe(HALF_CALL);
    expect(m.order(buy)).toMatchObject({
      status: 'ACTIVE',
      quantity: Quantity.of(4),
      limitPrice: Price.of('1.57'),
    });
    expect(m.order(buy).reserved).toBeLessThanOrEqual(reserved);
    expect(m.order(sell)).toMatchObject({
      quantity: Quantity.of(2),
      limitPrice: Price.of('4.55'),
      reservedQuantity: Quantity.of(2),
    });
    expect(m.order(spread)).toMatchObject({ quantity: Quantity.of(4), limitPrice: Price.of('1.25') });
    expect(m.terms(spread)).toMatchObject({
      symbol: 'AAPL',
      legs: [
        { optionSymbol: HALF_CALL, quantity: Quantity.of(4) },
        { optionSymbol: 'AAPL260116C00055000', quantity: Quantity.of(4) },
      ],
    });
    m.restart();
    m.quote(HALF_CALL, '1.50', '1.55');
    expect(m.fills(buy)).toEqual(['4 @ 1.55']);
    m.quote(HALF_CALL, '4.60', '4.70');
    // The first quote of the session was away from its limit: the order is resting.
    expect(m.fills(sell)).toEqual(['2 @ 4.55']);
  });

  it('a bracket goes with its entry', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 50_000 });
    const entry = m.place(portfolio, {
      symbol: CALL,
      quantity: 1,
      limit: '3.00',
      tif: 'GTC',
      more: {
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('5.00') },
          stopLoss: { orderType: 'STOP', stopPrice: Price.of('2.00') },
        },
      },
    });
    const [target = '', stop = ''] = m.exits(entry);
    split(m);
    expect([entry, target, stop].map((order) => m.terms(order).symbol)).toEqual([
      HALF_CALL,
      HALF_CALL,
      HALF_CALL,
    ]);
    m.quote(HALF_CALL, '1.40', '1.45');
    expect(m.order(target)).toMatchObject({ status: 'ACTIVE', limitPrice: Price.of('2.5') });
    m.quote(HALF_CALL, '2.60', '2.70');
    expect(m.fills(target)).toEqual(['2 @ 2.5']);
  });

  it('instructions count twice as many, and expiry is that of the new series', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 60_000 });
    m.place(portfolio, { symbol: CALL, quantity: 3 });
    m.execute<'DoNotExercise'>({
      type: 'DoNotExercise',
      by: m.by,
      portfolioId: portfolio,
      symbol: CALL,
      quantity: Quantity.of(1),
    });
    split(m);
    m.advanceTo('2026-01-16', 15, 59);
    m.quote('AAPL', '60', '60');
    m.advanceTo('2026-01-16', 16);
    expect(
      m.events('OptionEnded').map(({ act, symbol, quantity }) => [act, symbol, shares(quantity)]),
    ).toEqual([
      ['EXPIRED', HALF_CALL, 2],
      ['EXERCISED', HALF_CALL, 4],
    ]);
    expect(held(m, portfolio)).toEqual({ AAPL: [400, 20_820] });
  });
});

describe('any other ratio (D89)', () => {
  const ADJUSTED = 'AAPL1260116C00100000';

  it('three for two: number and strike stay, 150 shares are delivered, the root gets a digit', () => {
    const m = market({ new: 3, old: 2 });
    const portfolio = m.openPortfolio({ cash: 60_000 });
    m.place(portfolio, { symbol: CALL, quantity: 2 });
    const order = m.place(portfolio, { symbol: CALL, quantity: 1, limit: '1.00', tif: 'GTC' });
    const before = m.value(portfolio).totalEquity;
    split(m);
    expect(held(m, portfolio)).toEqual({ [ADJUSTED]: [2, 820] });
    expect(m.brokerage.instrument(ADJUSTED)).toMatchObject({
      underlying: 'AAPL',
      strike: Price.of('100'),
      multiplier: 100,
      deliverable: 150,
    });
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'CORPORATE_ACTION' });
    expect(m.value(portfolio).totalEquity).toBe(before);
    // 150 shares at 80 are 12,000, for the 10,000 of the strike.
    m.advanceTo('2026-01-16', 15, 59);
    m.quote('AAPL', '80', '80');
    m.advanceTo('2026-01-16', 16);
    expect(m.events('OptionEnded')).toMatchObject([
      { act: 'EXERCISED', symbol: ADJUSTED, amount: -200_000_000 },
    ]);
    expect(held(m, portfolio)).toEqual({ AAPL: [300, 20_820] });
  });

  it('one for ten: ten shares are delivered and cover a call', () => {
    const m = market({ new: 1, old: 10 });
    const portfolio = m.openPortfolio({ cash: 60_000 });
    m.place(portfolio, { symbol: 'AAPL', quantity: 100 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    split(m);
    expect(held(m, portfolio)).toEqual({ AAPL: [10, 10_001], [ADJUSTED]: [-1, 400] });
    expect(m.portfolio(portfolio).secured.get('AAPL')).toEqual({ cash: 0, shares: Quantity.of(10) });
    m.advanceTo('2026-01-16', 15, 59);
    m.quote('AAPL', '1200', '1200');
    m.advanceTo('2026-01-16', 16);
    expect(m.events('OptionEnded')).toMatchObject([{ act: 'ASSIGNED', amount: 100_000_000 }]);
    expect(held(m, portfolio)).toEqual({ AAPL: [0, 0] });
  });

  it('one for three: a third of a share is paid in cash at exercise', () => {
    const m = market({ new: 1, old: 3 });
    const portfolio = m.openPortfolio({ cash: 60_000 });
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    split(m);
    expect(m.brokerage.instrument(ADJUSTED)).toMatchObject({ deliverable: 33, inLieu: 333_333 });
    m.quote('AAPL', '330', '330');
    m.execute<'ExerciseOption'>({
      type: 'ExerciseOption',
      by: m.by,
      portfolioId: portfolio,
      symbol: ADJUSTED,
    });
    // 10,000 for 33 shares and 0.333333 × 330 = 110.00 in cash.
    expect(m.events('OptionEnded')).toMatchObject([{ act: 'EXERCISED', amount: -98_900_000 }]);
    expect(held(m, portfolio)).toEqual({ AAPL: [33, 10_300] });
  });
});

describe('an action for more portfolios than fit into one record', () => {
  it.each(['SPLIT', 'CASH_DIVIDEND'] as const)(
    '%s: continues where it stopped, after a crash as well',
    (type) => {
      const m = market();
      if (type === 'CASH_DIVIDEND') {
        const action = {
          type,
          symbol: 'AAPL',
          exDate: TradingDate.of('2026-01-06'),
          amountPerShare: Price.of('1'),
        };
        m.execute<'AnnounceActions'>({ type: 'AnnounceActions', actions: [action] });
      }
      const portfolios = Array.from({ length: 103 }, () => m.openPortfolio({ cash: 20_000 }));
      const [first = '', , last = ''] = [portfolios[0], portfolios[1], portfolios.at(-1)];
      for (const portfolio of portfolios) m.place(portfolio, { symbol: 'AAPL', quantity: 10 });
      for (const portfolio of [first, last]) {
        m.place(portfolio, { symbol: CALL, quantity: 1 });
        m.place(portfolio, { symbol: 'AAPL', quantity: 5, limit: '90.00', tif: 'GTC' });
        m.place(portfolio, { symbol: CALL, quantity: 1, limit: '3.00', tif: 'GTC' });
      }
      const start = m.brokerage.state.now;
      const [date, hour] = type === 'SPLIT' ? (['2026-01-07', 3] as const) : (['2026-01-06', 3] as const);
      m.advanceTo(date, hour);
      const records = m.journal.flatMap(({ events }, index) =>
        events.some((event) => event.type === 'ActionContinued') ? [index] : [],
      );
      expect(records).toHaveLength(1);
      const about = type === 'SPLIT' ? 'PositionSplit' : 'DividendAccrued';
      expect(m.events(about).map(({ portfolioId }) => portfolioId)).toEqual(portfolios);
      if (type === 'SPLIT') {
        for (const portfolio of portfolios) expect(held(m, portfolio)).toMatchObject({ AAPL: [20, 1000.1] });
        for (const portfolio of [first, last])
          expect(held(m, portfolio)).toMatchObject({ [HALF_CALL]: [2, 410] });
      }
      const limits = [...m.brokerage.state.orders.values()].map(({ terms, progress }) => [
        terms.symbol,
        Number(progress.limitPrice) / 1e8,
      ]);
      expect(limits).toEqual(
        [first, last].flatMap(() =>
          type === 'SPLIT'
            ? [
                ['AAPL', 45],
                [HALF_CALL, 1.5],
              ]
            : [
                ['AAPL', 89],
                [CALL, 3],
              ],
        ),
      );

      const { rules, state } = m.brokerage;
      const other = Brokerage.begin(rules, state.seed, start);
      for (const { at, quotes, events } of m.journal.slice(0, (records[0] ?? 0) + 1)) {
        other.recall(quotes);
        other.apply(events, at);
      }
      other.resume();
      for (let due = other.nextDue(); due !== undefined && due <= m.now; due = other.nextDue())
        other.execute({ type: 'AdvanceClock' }, Instant.max(due, other.state.now));
      expect(stateHash(other.state)).toBe(stateHash(state));
    },
  );
});
