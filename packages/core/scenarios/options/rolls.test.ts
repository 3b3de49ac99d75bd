import { describe, expect, it } from 'vitest';
import type { OptionLevel } from '../../src/brokers/broker.js';
import type { OrderLeg, PositionIntent } from '../../src/orders/order.js';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { unitsOf } from '../../src/orders/structure.js';
import { Position } from '../../src/positions/position.js';
import { Money } from '../../src/values/money.js';
import { Quantity } from '../../src/values/quantity.js';

/*
 * CUSTOM orders: rolls of several legs (D269), and shapes without a name (D270).
 */

const AT = (right: 'C' | 'P', strike: number, month = '0116') =>
  `AAPL26${month}${right}${String(strike * 1000).padStart(8, '0')}`;
const CALL = (strike: number, month?: string) => AT('C', strike, month);
const PUT = (strike: number, month?: string) => AT('P', strike, month);

const QUOTES: readonly (readonly [symbol: string, bid: string, ask: string])[] = [
  [CALL(200), '5.90', '6.00'],
  [CALL(205), '3.00', '3.10'],
  [CALL(210), '1.45', '1.55'],
  [CALL(215), '0.40', '0.50'],
  [CALL(210, '0220'), '3.00', '3.10'],
  [PUT(190), '2.00', '2.10'],
  [PUT(180), '1.00', '1.10'],
];

/** AAPL at 200. */
function market({
  optionLevel = 4,
  spreadsInCashAccounts = true,
  marginTerms = {},
}: { optionLevel?: OptionLevel; spreadsInCashAccounts?: boolean; marginTerms?: object } = {}): TestMarket {
  const broker = testBroker('default', { spreadsInCashAccounts, optionLevel, ...marginTerms });
  const m = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
  m.quote('AAPL', '199.99', '200.01');
  for (const [symbol, bid, ask] of QUOTES) m.quote(symbol, bid, ask, { bidSize: 50, askSize: 50 });
  return m;
}

/** `+1 C200`: one bought to open; `x` before closes. */
function legs(text: string): OrderLeg[] {
  return text.split(', ').map((one) => {
    const [, closes, way, count, symbol = ''] = /^(x?)([+-])(\d+) (\S+)$/.exec(one) ?? [];
    const intent = `${way === '+' ? 'BUY' : 'SELL'}_TO_${closes === 'x' ? 'CLOSE' : 'OPEN'}`;
    return {
      optionSymbol: symbol,
      positionIntent: intent as PositionIntent,
      quantity: Quantity.of(Number(count)),
    };
  });
}

function custom(text: string, intent: PositionIntent, limit?: string) {
  const named = legs(text);
  return {
    symbol: 'AAPL',
    intent,
    quantity: unitsOf(named.map(({ quantity }) => quantity / 1e6))?.units ?? 1,
    tif: 'DAY' as const,
    ...(limit !== undefined && { limit }),
    more: { assetClass: 'OPTION' as const, strategy: 'CUSTOM', legs: named },
  };
}

const heldIn = (m: TestMarket, portfolio: string) =>
  Object.fromEntries(
    [...m.portfolio(portfolio).positions.values()].map((one) => [one.symbol, Position.held(one) / 1e6]),
  );

const SHORT_SPREAD = `-1 ${CALL(200)}, +1 ${CALL(205)}`;
const ROLL_UP = `x+1 ${CALL(200)}, x-1 ${CALL(205)}, -1 ${CALL(210)}, +1 ${CALL(215)}`;

/** Sells the 200/205 call spread at 2.50. */
function sellSpread(m: TestMarket, portfolio: string): void {
  m.quote(CALL(200), '5.50', '5.60', { bidSize: 50, askSize: 50 });
  m.quote(CALL(205), '2.90', '3.00', { bidSize: 50, askSize: 50 });
  m.place(portfolio, custom(SHORT_SPREAD, 'SELL_TO_OPEN', '2.50'));
  for (const [symbol, bid, ask] of QUOTES) m.quote(symbol, bid, ask, { bidSize: 50, askSize: 50 });
}

describe('D269: a call spread rolled up as one order of four legs', () => {
  it('in a MARGIN portfolio pays the net, realizes the loss of the closed legs and keeps the requirement', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    sellSpread(m, portfolio);
    expect(dollars(m.value(portfolio).houseRequirement)).toBe(500);
    const roll = m.place(portfolio, custom(ROLL_UP, 'BUY_TO_OPEN', '2.05'));
    expect(m.order(roll)).toMatchObject({ status: 'FILLED', averagePrice: 2.05e8 });
    expect(heldIn(m, portfolio)).toEqual({ [CALL(210)]: -1, [CALL(215)]: 1 });
    expect(dollars(m.value(portfolio).houseRequirement)).toBe(500);
    // 250 received for the spread, 205 paid for the roll, six commissions of 0.50.
    const { settledCash, pendingCash } = m.value(portfolio);
    expect(dollars(Money.add(settledCash, pendingCash))).toBe(10_000 + 250 - 205 - 3);
    const [bought, sold] = m.executions(roll);
    // The spread is closed at 3.00: a loss of 50.
    expect([bought?.price, sold?.price]).toEqual([6e8, 3e8]);
  });

  it('in a CASH portfolio needs the debit and its charges, because the 500 reserved for the spread passes over', () => {
    const m = market();
    // 500 of collateral, and 205 with four commissions of 0.50 for the roll. The credit, which settles tomorrow, pays its own.
    const cash = (free: number) => 500 + free;
    for (const [free, accepted] of [
      [207, true],
      [206.99, false],
    ] as const) {
      const portfolio = m.openPortfolio({ accountId: crypto.randomUUID(), cash: cash(free) });
      sellSpread(m, portfolio);
      expect(dollars(m.value(portfolio).reservedCash)).toBe(500);
      const roll = custom(ROLL_UP, 'BUY_TO_OPEN', '2.05');
      if (accepted) {
        expect(m.order(m.place(portfolio, roll)).status).toBe('FILLED');
        expect(dollars(m.value(portfolio).reservedCash)).toBe(500);
      } else {
        expect(m.submit(portfolio, roll)).toMatchObject({
          code: 'INSUFFICIENT_FUNDS',
          closingLegs: [CALL(200), CALL(205)],
        });
      }
    }
  });
});

describe('D269: checks of a roll', () => {
  it('closing legs must be held in full', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    expect(m.submit(portfolio, custom(ROLL_UP, 'BUY_TO_OPEN', '2.05'))).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: Quantity.zero,
      requiredQuantity: Quantity.of(1),
    });
    sellSpread(m, portfolio);
    const two = ROLL_UP.replaceAll(/([+-])1/g, '$12');
    expect(m.submit(portfolio, custom(two, 'BUY_TO_OPEN', '2.05'))).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: Quantity.of(1),
      requiredQuantity: Quantity.of(2),
    });
  });

  it('the legs that close are reserved while the order waits, and free again when it is canceled', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    sellSpread(m, portfolio);
    const roll = m.place(portfolio, custom(ROLL_UP, 'BUY_TO_OPEN', '1.00'));
    expect(m.order(roll).status).toBe('ACTIVE');
    const unwind = custom(`x+1 ${CALL(200)}, x-1 ${CALL(205)}`, 'BUY_TO_CLOSE', '3.00');
    expect(m.submit(portfolio, unwind)).toMatchObject({ code: 'INSUFFICIENT_POSITION' });
    m.restart();
    expect(m.submit(portfolio, unwind)).toMatchObject({ code: 'INSUFFICIENT_POSITION' });
    m.cancel(roll);
    expect(m.order(m.place(portfolio, unwind)).status).toBe('FILLED');
    expect(heldIn(m, portfolio)).toEqual({});
  });

  it('below the minimum equity of D109 the refusal names the closing legs, which are accepted alone', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 2100 });
    sellSpread(m, portfolio);
    m.quote(CALL(200), '8.90', '9.00', { bidSize: 50, askSize: 50 });
    expect(dollars(m.value(portfolio).totalEquity)).toBeLessThan(2000);
    expect(m.submit(portfolio, custom(ROLL_UP, 'BUY_TO_OPEN', '5.05'))).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      closingLegs: [CALL(200), CALL(205)],
    });
    const close = custom(`x+1 ${CALL(200)}, x-1 ${CALL(205)}`, 'BUY_TO_CLOSE', '6.00');
    expect(m.order(m.place(portfolio, close)).status).toBe('FILLED');
  });

  it('a restricted day trader cannot roll, and may close (D111)', () => {
    const m = market({ marginTerms: { dayTradeRegime: 'LEGACY_PDT' } });
    const portfolio = m.openPortfolio({ type: 'MARGIN', marginType: 'REG_T', cash: 10_000 });
    sellSpread(m, portfolio);
    for (let trades = 0; trades < 3; trades++) {
      m.place(portfolio, { quantity: 1 });
      m.place(portfolio, { quantity: 1, intent: 'SELL_TO_CLOSE' });
    }
    expect(m.submit(portfolio, custom(ROLL_UP, 'BUY_TO_OPEN', '2.05'))).toMatchObject({
      code: 'DAY_TRADE_RESTRICTED',
      closingLegs: [CALL(200), CALL(205)],
      message: expect.stringContaining(
        `; orders that only close ${CALL(200)} and ${CALL(205)} are accepted`,
      ) as string,
    });
    const close = custom(`x+1 ${CALL(200)}, x-1 ${CALL(205)}`, 'BUY_TO_CLOSE', '3.00');
    expect(m.order(m.place(portfolio, close)).status).toBe('FILLED');
  });

  it('in a margin call a roll is accepted where the requirement falls, and refused where it rises (D119)', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 12_000 });
    m.place(portfolio, custom(`-1 ${CALL(200)}, +1 ${CALL(210)}`, 'SELL_TO_OPEN', '4.00'));
    m.place(portfolio, { quantity: 95, limit: '200.01' });
    m.quote('AAPL', '99.99', '100.01');
    for (const [symbol, bid, ask] of [
      [CALL(200), '0.05', '0.10'],
      [CALL(210), '0.01', '0.05'],
      [CALL(110), '4.00', '4.10'],
      [CALL(115), '1.90', '2.00'],
      [CALL(130), '0.40', '0.50'],
    ] as const)
      m.quote(symbol, bid, ask, { bidSize: 50, askSize: 50 });
    m.advanceMs(2000);
    expect(m.value(portfolio).marginCallActive).toBe(true);
    const rolledTo = (high: number) =>
      `x+1 ${CALL(200)}, x-1 ${CALL(210)}, -1 ${CALL(110)}, +1 ${CALL(high)}`;
    expect(m.submit(portfolio, custom(rolledTo(130), 'SELL_TO_OPEN', '3.00'))).toMatchObject({
      code: 'MARGIN_CALL_ACTIVE',
      closingLegs: [CALL(200), CALL(210)],
    });
    const narrower = m.place(portfolio, custom(rolledTo(115), 'SELL_TO_OPEN', '1.90'));
    expect(m.order(narrower).status).toBe('FILLED');
  });

  it('closing and opening legs of one order are one day trade with the order that opened them (D113)', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    sellSpread(m, portfolio);
    m.place(portfolio, custom(ROLL_UP, 'BUY_TO_OPEN', '2.05'));
    const records = () => m.events('DayTradeTracked').flatMap(({ record }) => record ?? []);
    expect(records()).toMatchObject([
      { symbol: 'AAPL', quantity: 1_000_000, buyPrice: 3e8, sellPrice: 2.5e8, pnl: -500_000 },
    ]);
    m.place(portfolio, custom(`x+1 ${CALL(210)}, x-1 ${CALL(215)}`, 'BUY_TO_CLOSE'));
    expect(records()).toHaveLength(2);
    const count = [...m.portfolio(portfolio).dayTrades.values()].reduce((sum, one) => sum + one.count, 0);
    expect(count).toBe(2);
  });
});

describe('D270: shapes without a name', () => {
  it.each([
    [`+1 ${CALL(200)}, -4 ${CALL(210)}`, 'SELL_TO_OPEN', 'legs must be in ratios between 1:3 and 3:1'],
    [`+4 ${CALL(200)}, -1 ${CALL(210)}`, 'BUY_TO_OPEN', 'legs must be in ratios between 1:3 and 3:1'],
    [`+1 ${CALL(200)}, -1 ${CALL(200)}`, 'BUY_TO_OPEN', 'legs must be distinct contracts'],
    [
      `x+1 ${CALL(200)}, -1 ${CALL(210)}`,
      'BUY_TO_CLOSE',
      'positionIntent must agree with the legs and limitPrice',
    ],
  ] as const)('refuses %s as %s: %s', (text, intent, message) => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 1e6 });
    expect(m.submit(portfolio, custom(text, intent))).toEqual({ code: 'INVALID', messages: [message] });
  });

  it('fills a ratio of 1:3 in whole units, each at its touch', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    const order = m.place(portfolio, custom(`+2 ${CALL(200)}, -6 ${CALL(210)}`, 'BUY_TO_OPEN', '1.65'));
    expect(m.order(order)).toMatchObject({ status: 'FILLED', averagePrice: 1.65e8, filledQuantity: 2e6 });
    expect(heldIn(m, portfolio)).toEqual({ [CALL(200)]: 2, [CALL(210)]: -6 });
  });

  it('a resting order of three to one fills at whole prices whose net is its limit', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    m.quote(CALL(200), '5.89', '6.00', { bidSize: 50, askSize: 50 });
    const order = m.place(portfolio, custom(`+3 ${CALL(210)}, -1 ${CALL(200)}`, 'SELL_TO_OPEN', '1.25'));
    m.quote(CALL(200), '6.00', '6.10', { bidSize: 50, askSize: 50 });
    // 0.10 more than at the touches: 0.03333333 on each bought call, the rest from the sold one.
    const [bought, sold] = m.executions(order);
    expect([bought?.price, sold?.price]).toEqual([158_333_333, 599_999_999]);
  });

  it('a jade lizard in a CASH portfolio reserves the strike of the put and the width of the call spread', () => {
    const m = market();
    m.quote('AAPL', '104.99', '105.01');
    for (const [symbol, bid, ask] of [
      [PUT(95), '1.00', '1.10'],
      [CALL(110), '2.00', '2.10'],
      [CALL(115), '0.90', '1.00'],
    ] as const)
      m.quote(symbol, bid, ask, { bidSize: 50, askSize: 50 });
    const lizard = custom(`-1 ${PUT(95)}, -1 ${CALL(110)}, +1 ${CALL(115)}`, 'SELL_TO_OPEN', '2.00');
    const portfolio = m.openPortfolio({ cash: 10_000 });
    const order = m.place(portfolio, lizard);
    expect(m.order(order).status).toBe('FILLED');
    expect(dollars(m.value(portfolio).reservedCash)).toBe(9500 + 500);
    const poorer = m.openPortfolio({ accountId: crypto.randomUUID(), cash: 9999 });
    expect(m.submit(poorer, lizard)).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  });

  const long = `+1 ${CALL(200)}, +1 ${PUT(190)}`;
  const condor = `+1 ${PUT(180)}, -1 ${PUT(190)}, -1 ${CALL(205)}, +1 ${CALL(210)}`;
  const lizard = `-1 ${PUT(190)}, -1 ${CALL(205)}, +1 ${CALL(210)}`;
  const ratio = `+1 ${CALL(200)}, -2 ${CALL(210)}`;
  it.each([
    ['MARGIN', 3, long, undefined],
    ['MARGIN', 2, long, 3],
    ['MARGIN', 3, condor, undefined],
    ['MARGIN', 2, condor, 3],
    ['MARGIN', 3, lizard, 4],
    ['MARGIN', 4, lizard, undefined],
    ['MARGIN', 3, ratio, 4],
    ['MARGIN', 4, ratio, undefined],
    ['CASH', 4, condor, undefined],
    ['CASH', 4, lizard, undefined],
    ['CASH', 3, lizard, 4],
    ['CASH', 4, ratio, 4],
  ] as const)('in a %s portfolio of level %i, %s requires %s', (type, optionLevel, text, required) => {
    const m = market({ optionLevel });
    const portfolio = m.openPortfolio({ type, cash: 100_000 });
    const intent = text === long || text === ratio ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN';
    const result = m.submit(portfolio, custom(text, intent));
    if (required === undefined) expect(typeof result).toBe('string');
    else expect(result).toMatchObject({ code: 'OPTION_LEVEL', requiredLevel: required });
  });

  it('held longs cover its shorts, and held shares its calls', () => {
    const m = market({ optionLevel: 3 });
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    const shorts = `-1 ${CALL(205)}, -1 ${CALL(210)}`;
    expect(m.submit(portfolio, custom(shorts, 'SELL_TO_OPEN'))).toMatchObject({ requiredLevel: 4 });
    m.place(portfolio, { symbol: CALL(200), quantity: 1 });
    expect(m.submit(portfolio, custom(shorts, 'SELL_TO_OPEN'))).toMatchObject({ requiredLevel: 4 });
    m.place(portfolio, { quantity: 100 });
    expect(m.order(m.place(portfolio, custom(shorts, 'SELL_TO_OPEN'))).status).toBe('FILLED');
  });
});
