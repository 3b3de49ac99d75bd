import { describe, expect, it } from 'vitest';
import { calendarById } from '../../src/calendar/calendars.js';
import { Position } from '../../src/positions/position.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';

/** Expires on Friday 2026-01-16. */
const CALL = 'AAPL260116C00150000';
const HIGHER = 'AAPL260116C00160000';
const PUT = 'AAPL260116P00140000';
const LOWER_PUT = 'AAPL260116P00130000';

const audited = auditAfterEach();
class AuditedMarket extends TestMarket {
  constructor(options?: ConstructorParameters<typeof TestMarket>[0]) {
    super(options);
    audited(this);
  }
}

/** Monday 2026-01-05, 10:00; AAPL at 150, some options around it. */
function market(options: ConstructorParameters<typeof TestMarket>[0] = {}): TestMarket {
  const spreads = testBroker('default', { spreadsInCashAccounts: true });
  const all = new AuditedMarket({
    ...options,
    rules: { brokers: new Map([['default', spreads]]), ...options.rules },
  });
  all.quote('AAPL', '149.99', '150.01');
  all.quote(CALL, '5.00', '5.10');
  all.quote(HIGHER, '2.00', '2.10');
  all.quote(PUT, '1.50', '1.60');
  all.quote(LOWER_PUT, '0.50', '0.60');
  return all;
}

/** Positions with quantity and cost. */
const held = (m: TestMarket, portfolio: string): Record<string, [number, number]> =>
  Object.fromEntries(
    [...m.portfolio(portfolio).positions.values()].map((position) => [
      position.symbol,
      [shares(Position.held(position)), dollars(Position.costBasis(position))],
    ]),
  );

const acts = (m: TestMarket): string[] =>
  m
    .events('OptionEnded')
    .map(({ act, symbol, quantity, amount }) => `${act} ${shares(quantity)} ${symbol} ${dollars(amount)}`);

/** Passes the close of the last day with AAPL at a price. */
function expireAt(m: TestMarket, price: string): void {
  m.advanceTo('2026-01-16', 15, 59);
  m.quote('AAPL', price, price);
  m.advanceTo('2026-01-16', 16);
}

describe('exercise by exception (D85, D87)', () => {
  it('a call bought and in the money becomes shares at strike and premium', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 40_000 });
    m.place(portfolio, { symbol: CALL, quantity: 2 });
    expireAt(m, '155');
    expect(acts(m)).toEqual([`EXERCISED 2 ${CALL} -30000`]);
    // 200 shares for 30,000 and the 1,020 that the calls cost.
    expect(held(m, portfolio)).toEqual({ AAPL: [200, 31_020] });
    const value = m.value(portfolio);
    expect(dollars(value.settledCash)).toBe(40_000 - 1020 - 1 - 30_000);
    expect(dollars(m.portfolio(portfolio).balances.REALIZED_PNL)).toBe(0);
    // Delivered on the next settlement day: Monday was Martin Luther King's.
    expect(m.portfolio(portfolio).positions.get('AAPL')!.pending).toBe(Quantity.of(200));
    expect([...m.portfolio(portfolio).obligations.keys()]).toEqual(['2026-01-20']);
    m.advanceTo('2026-01-20', 9, 1);
    expect(m.portfolio(portfolio).positions.get('AAPL')!.settled).toBe(Quantity.of(200));
    expect(m.submit(portfolio, { symbol: CALL, quantity: 1 })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
    });
  });

  it('a cent in the money is enough, less is not', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 40_000 });
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    m.place(portfolio, { symbol: PUT, quantity: 1 });
    m.advanceTo('2026-01-16', 15, 59);
    m.quote('AAPL', '149.99', '150.03');
    m.advanceTo('2026-01-16', 16);
    expect(acts(m)).toEqual([`EXPIRED 1 ${PUT} 0`, `EXERCISED 1 ${CALL} -15000`]);
    expect(dollars(m.portfolio(portfolio).balances.REALIZED_PNL)).toBe(160);

    const other = market();
    const poor = other.openPortfolio({ cash: 40_000 });
    other.place(poor, { symbol: CALL, quantity: 1 });
    other.advanceTo('2026-01-16', 15, 59);
    other.quote('AAPL', '149.989', '150.029');
    other.advanceTo('2026-01-16', 16);
    expect(acts(other)).toEqual([`EXPIRED 1 ${CALL} 0`]);
    expect(held(other, poor)).toEqual({});
  });

  it("respects the holder's instruction, for the instructed quantity only", () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 80_000 });
    m.place(portfolio, { symbol: CALL, quantity: 3 });
    const say = (quantity?: number) =>
      m.execute<'DoNotExercise'>({
        type: 'DoNotExercise',
        by: m.by,
        portfolioId: portfolio,
        symbol: CALL,
        ...(quantity !== undefined && { quantity: Quantity.of(quantity) }),
      }).result;
    expect(say()).toEqual({ symbol: CALL, quantity: Quantity.of(3) });
    expect(say(0)).toEqual({ symbol: CALL, quantity: 0 });
    expect(say(2)).toEqual({ symbol: CALL, quantity: Quantity.of(2) });
    expect(say(4)).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: 3e6,
      requiredQuantity: 4e6,
    });
    m.restart();
    expireAt(m, '155');
    expect(acts(m)).toEqual([`EXPIRED 2 ${CALL} 0`, `EXERCISED 1 ${CALL} -15000`]);
    expect(held(m, portfolio)).toEqual({ AAPL: [100, 15_510] });
  });

  it('happens at an early close', () => {
    const early = 'AAPL261127C00150000';
    const m = new AuditedMarket({ date: '2026-11-27' });
    m.quote('AAPL', '154', '154');
    m.quote(early, '4.00', '4.10');
    const portfolio = m.openPortfolio({ cash: 40_000 });
    m.place(portfolio, { symbol: early, quantity: 1 });
    m.advanceTo('2026-11-27', 12, 59);
    expect(acts(m)).toEqual([]);
    m.advanceTo('2026-11-27', 13);
    expect(acts(m)).toEqual([`EXERCISED 1 ${early} -15000`]);
  });

  it('values an unquoted underlying by put-call parity, and at zero without a pair of options', () => {
    const m = new AuditedMarket({ date: '2026-01-16' });
    const put = 'ZZZ260116P00050000';
    const call = 'ZZZ260116C00050000';
    const portfolio = m.openPortfolio({ cash: 40_000 });
    m.quote(call, '4.00', '4.10');
    m.quote(put, '0.05', '0.10');
    m.quote('YYY260116C00050000', '4.00', '4.10');
    m.place(portfolio, { symbol: call, quantity: 1 });
    m.place(portfolio, { symbol: 'YYY260116C00050000', quantity: 1 });
    m.advanceTo('2026-01-16', 16);
    expect(m.events('OptionEnded').map(({ act, unpriced }) => [act, unpriced])).toEqual([
      ['EXPIRED', true],
      ['EXERCISED', undefined],
    ]);
  });
});

describe('assignment (D87)', () => {
  it('a covered call delivers its shares', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 20_000 });
    m.place(portfolio, { quantity: 100 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    expireAt(m, '170');
    expect(acts(m)).toEqual([`ASSIGNED 1 ${CALL} 15000`]);
    const { balances, positions, reservedByPositions } = m.portfolio(portfolio);
    expect(positions.get('AAPL')!.lots).toEqual([]);
    expect(reservedByPositions.shares.size).toBe(0);
    // Sold at 150 and the premium of 5.00; bought at 150.01.
    expect(dollars(balances.REALIZED_PNL)).toBe(-(15_000 + 500 - 15_001));
    m.advanceTo('2026-01-20', 9, 1);
    expect(m.portfolio(portfolio).positions.size).toBe(0);
    expect(dollars(m.value(portfolio).settledCash)).toBe(20_000 - 15_001 + 500 - 0.5 + 15_000);
  });

  it('a cash-secured put pays for the shares with its collateral', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 14_000 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.advanceTo('2026-01-07', 12);
    expect(dollars(m.value(portfolio).reservedCash)).toBe(14_000);
    expireAt(m, '120');
    expect(acts(m)).toEqual([`ASSIGNED 1 ${PUT} -14000`]);
    expect(held(m, portfolio)).toEqual({ AAPL: [100, 13_850] });
    const value = m.value(portfolio);
    expect([value.settledCash, value.reservedCash].map(dollars)).toEqual([149.5, 0]);
  });

  it('nets long and short stock on margin, and is never in conflict', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.place(portfolio, { symbol: HIGHER, intent: 'SELL_TO_OPEN', quantity: 2 });
    m.place(portfolio, { quantity: 150 });
    const sale = m.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 150, limit: '300', tif: 'GTC' });
    expireAt(m, '170');
    expect(held(m, portfolio)).toEqual({ AAPL: [-50, 8_100] });
    expect(m.order(sale)).toMatchObject({ status: 'CANCELED', cancelReason: 'BROKER' });
    // 150 sold at 162 each that cost 150.01.
    expect(dollars(m.portfolio(portfolio).balances.REALIZED_PNL)).toBe(-(150 * 162 - 150 * 150.01));
  });
});

describe('option events that a CASH portfolio cannot fund (D88)', () => {
  it('a vertical with one leg in the money: the long is exercised if funded, else sold at its value', () => {
    for (const [cash, result] of [
      [40_000, { AAPL: [100, 15_510] }],
      [10_000, {}],
    ] as const) {
      const m = market();
      const portfolio = m.openPortfolio({ cash });
      m.place(portfolio, { symbol: CALL, quantity: 1 });
      m.place(portfolio, { symbol: HIGHER, intent: 'SELL_TO_OPEN', quantity: 1 });
      expireAt(m, '155');
      expect(held(m, portfolio)).toEqual(result);
      const { balances } = m.portfolio(portfolio);
      const total = dollars(m.value(portfolio).totalEquity);
      expect(total).toBe(cash - 510 + 200 - 1 + 500);
      if (cash === 10_000) {
        expect(acts(m)).toEqual([`EXPIRED 1 ${HIGHER} 0`, `SOLD_AT_EXPIRY 1 ${CALL} 500`]);
        expect(dollars(balances.PENDING_CASH)).toBe(500);
      }
    }
  });

  it('with both legs in the money shares pass and the difference of the strikes is paid', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 2000 });
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    m.place(portfolio, { symbol: HIGHER, intent: 'SELL_TO_OPEN', quantity: 1 });
    expireAt(m, '180');
    expect(acts(m)).toEqual([`EXERCISED 1 ${CALL} -15000`, `ASSIGNED 1 ${HIGHER} 16000`]);
    const { balances } = m.portfolio(portfolio);
    expect([balances.PENDING_CASH, balances.REALIZED_PNL].map(dollars)).toEqual([1000, -690]);
    m.advanceTo('2026-01-20', 9, 1);
    expect(dollars(m.value(portfolio).settledCash)).toBe(2000 - 510 + 200 - 1 + 1000);
    expect(m.portfolio(portfolio).positions.size).toBe(0);
  });

  it('a credit spread with only its short leg in the money: the shares are sold or bought in at the mark', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 2500 });
    m.place(portfolio, { symbol: LOWER_PUT, quantity: 1 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.place(portfolio, { symbol: HIGHER, quantity: 1 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    const before = dollars(m.value(portfolio).totalEquity);
    expect(before).toBeGreaterThan(0);
    expireAt(m, '135');
    expect(acts(m).slice(3)).toEqual([`ASSIGNED 1 ${PUT} -14000`, `SOLD_AT_EXPIRY 1 ${PUT} 13500`]);
    expect(dollars(m.value(portfolio).totalEquity)).toBe(2500 - 60 + 150 - 210 + 500 - 2 - 500);

    const up = market();
    const other = up.openPortfolio({ cash: 2500 });
    up.place(other, { symbol: HIGHER, quantity: 1 });
    up.place(other, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    expireAt(up, '157');
    expect(acts(up).slice(1)).toEqual([`BUY_IN 1 ${CALL} -15700`, `ASSIGNED 1 ${CALL} 15000`]);
    expect(dollars(up.portfolio(other).balances.SETTLED_CASH)).toBe(2500 - 210 - 1 - 700 + 500);
  });
});

describe('cash settlement', () => {
  const XSP_CALL = 'XSP260116C00600000';
  const XSP_HIGHER = 'XSP260116C00610000';

  function indexMarket(): TestMarket {
    const m = new AuditedMarket({
      rules: { brokers: new Map([['default', testBroker('default', { spreadsInCashAccounts: true })]]) },
    });
    m.quote('XSP', '600', '600');
    m.quote(XSP_CALL, '5.00', '5.10');
    m.quote(XSP_HIGHER, '2.00', '2.10');
    return m;
  }

  it("pays the contract's value on the next settlement day (D85)", () => {
    const m = indexMarket();
    const portfolio = m.openPortfolio({ cash: 5000 });
    m.place(portfolio, { symbol: XSP_CALL, quantity: 1 });
    m.advanceTo('2026-01-16', 15);
    m.quote('XSP', '607.35', '607.35');
    m.advanceTo('2026-01-16', 16);
    expect(acts(m)).toEqual([`CASH_SETTLED 1 ${XSP_CALL} 735`]);
    const value = m.value(portfolio);
    expect([value.settledCash, value.pendingCash].map(dollars)).toEqual([5000 - 510.5, 735]);
    m.advanceTo('2026-01-20', 9, 1);
    expect(dollars(m.value(portfolio).settledCash)).toBe(5000 - 510.5 + 735);
    expect(dollars(m.portfolio(portfolio).balances.REALIZED_PNL)).toBe(-225);
  });

  it('a CASH portfolio keeps its payment reserved until it is due', () => {
    const m = indexMarket();
    const portfolio = m.openPortfolio({ cash: 1500 });
    m.place(portfolio, { symbol: XSP_HIGHER, quantity: 1 });
    m.place(portfolio, { symbol: XSP_CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.advanceTo('2026-01-16', 15);
    m.quote('XSP', '700', '700');
    m.advanceTo('2026-01-16', 16);
    const { settledCash, pendingCash, reservedCash } = m.value(portfolio);
    const cash = 1500 - 210.5 + 499.5;
    expect([settledCash, pendingCash, reservedCash].map(dollars)).toEqual([cash - 1000, -1000, 1000]);
    m.advanceTo('2026-01-20', 9, 1);
    expect(dollars(m.value(portfolio).settledCash)).toBe(cash - 1000);
  });

  it('an AM series without a trade of its index settles at 16:00, even on an always-open calendar', () => {
    const m = market({ rules: { calendar: calendarById('always-open') } });
    const am = 'SPX260116C06000000';
    m.quote('SPX', '6010', '6010');
    m.quote(am, '20', '21');
    const portfolio = m.openPortfolio({ cash: 10_000 });
    m.place(portfolio, { symbol: am, quantity: 1 });
    m.advanceTo('2026-01-16', 15, 59);
    expect(acts(m)).toEqual([]);
    m.advanceTo('2026-01-16', 16);
    expect(acts(m)).toEqual([`CASH_SETTLED 1 ${am} 1000`]);
  });

  it('an AM series settles by the first trade of its index on the morning after its last day', () => {
    const spx = 'SPX260116C06000000';
    const m = new AuditedMarket({ date: '2026-01-14' });
    m.quote('SPX', undefined, undefined, { last: '6000' });
    m.quote(spx, '40', '41');
    const portfolio = m.openPortfolio();
    m.place(portfolio, { symbol: spx, quantity: 1 });
    m.advanceTo('2026-01-15', 16, 30);
    expect(m.submit(portfolio, { symbol: spx, quantity: 1 })).toMatchObject({
      code: 'INSTRUMENT_NOT_TRADABLE',
    });
    m.advanceTo('2026-01-16', 9, 31);
    expect(acts(m)).toEqual([]);
    m.quote('SPX', '6019', '6021');
    m.restart();
    m.advanceTo('2026-01-16', 9, 32);
    expect(acts(m)).toEqual([]);
    m.quote('SPX', undefined, undefined, { last: '6012.5' });
    expect(acts(m)).toEqual([`CASH_SETTLED 1 ${spx} 1250`]);
  });

  it('an AM series that waits for its index is not settled by a quote of before the opening', () => {
    const spx = 'SPX260116C06000000';
    const m = new AuditedMarket({ date: '2026-01-14' });
    m.quote('SPX', undefined, undefined, { last: '6000' });
    const [old] = [...m.brokerage.state.books.values()].flatMap(({ quote }) => quote ?? []);
    m.quote(spx, '40', '41');
    const portfolio = m.openPortfolio();
    m.place(portfolio, { symbol: spx, quantity: 1 });
    m.advanceTo('2026-01-16', 9, 31);
    // As from a feed after a restart of the server.
    m.restart();
    m.execute({ type: 'UpdateMarket', quotes: [{ ...old!, last: Price.of('6900') }], pushed: false });
    expect(acts(m)).toEqual([]);
    m.quote('SPX', undefined, undefined, { last: '6012.5' });
    expect(acts(m)).toEqual([`CASH_SETTLED 1 ${spx} 1250`]);
  });

  it('without one, by its mark at the close', () => {
    const spx = 'SPX260116C06000000';
    const m = new AuditedMarket({ date: '2026-01-14' });
    m.quote('SPX', '6010', '6011');
    m.quote(spx, '40', '41');
    const portfolio = m.openPortfolio();
    m.place(portfolio, { symbol: spx, quantity: 1 });
    m.advanceTo('2026-01-16', 15, 59);
    expect(acts(m)).toEqual([]);
    m.advanceTo('2026-01-16', 16);
    expect(acts(m)).toEqual([`CASH_SETTLED 1 ${spx} 1050`]);
  });

  it('options that trade to 16:15 are exercised by the mark of 16:00 (D69)', () => {
    const spy = 'SPY260116C00600000';
    const m = new AuditedMarket({ date: '2026-01-16' });
    m.quote('SPY', '601', '601');
    m.quote(spy, '1', '1.10');
    const portfolio = m.openPortfolio();
    m.place(portfolio, { symbol: spy, quantity: 1 });
    m.advanceTo('2026-01-16', 16, 5);
    m.quote('SPY', '590', '590');
    expect(acts(m)).toEqual([]);
    m.restart();
    m.advanceTo('2026-01-16', 16, 15);
    expect(acts(m)).toEqual([`EXERCISED 1 ${spy} -60000`]);
  });

  it('options that trade to 16:15 and are bought at the close are exercised by the mark of 16:00 too (D69)', () => {
    const spy = 'SPY260116C00600000';
    const m = new AuditedMarket({ date: '2026-01-16' });
    m.advanceTo('2026-01-16', 16);
    m.quote('SPY', '601', '601');
    m.quote(spy, '1', '1.10');
    m.place(m.openPortfolio(), { symbol: spy, quantity: 1 });
    m.advanceTo('2026-01-16', 16, 5);
    m.quote('SPY', '590', '590');
    m.advanceTo('2026-01-16', 16, 15);
    expect(acts(m)).toEqual([`EXERCISED 1 ${spy} -60000`]);
  });
});

describe('an exercise on request (D86)', () => {
  const exercise = (m: TestMarket, portfolioId: string, symbol: string, quantity?: number) =>
    m.execute<'ExerciseOption'>({
      type: 'ExerciseOption',
      by: m.by,
      portfolioId,
      symbol,
      ...(quantity !== undefined && { quantity: Quantity.of(quantity) }),
    }).result;

  it('is done when it is answered', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 40_000 });
    m.place(portfolio, { symbol: CALL, quantity: 2 });
    expect(exercise(m, portfolio, CALL, 1)).toMatchObject({ quantity: 1e6, shares: 100e6, cash: -15_000e4 });
    expect(held(m, portfolio)).toEqual({ [CALL]: [1, 510], AAPL: [100, 15_510] });
    expect(exercise(m, portfolio, CALL)).toMatchObject({ quantity: 1e6 });
    m.advanceTo('2026-01-06', 9, 1);
    expect(m.portfolio(portfolio).positions.get('AAPL')!.settled).toBe(Quantity.of(200));
  });

  it('needs the contracts, the session, the cash and the shares', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 15_300 });
    expect(exercise(m, portfolio, CALL)).toEqual({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: 0,
      requiredQuantity: 1e6,
    });
    m.place(portfolio, { symbol: CALL, quantity: 1 });
    m.place(portfolio, { symbol: PUT, quantity: 1 });
    expect(exercise(m, portfolio, CALL)).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: (15_300 - 510 - 160 - 1) * 1e4,
      requiredAmount: 15_000e4,
    });
    expect(exercise(m, portfolio, PUT)).toMatchObject({ code: 'NOT_SHORTABLE' });
    expect(exercise(m, portfolio, PUT, 2)).toMatchObject({ code: 'INSUFFICIENT_POSITION' });
    m.advanceTo('2026-01-05', 16, 1);
    expect(exercise(m, portfolio, CALL)).toEqual({
      code: 'MARKET_CLOSED',
      nextOpen: '2026-01-06T09:30:00-05:00',
    });
  });

  it('European contracts wait for their last day', () => {
    const m = new AuditedMarket();
    const xsp = 'XSP260116C00600000';
    m.quote('XSP', '605', '605');
    m.quote(xsp, '5.00', '5.10');
    const portfolio = m.openPortfolio();
    m.place(portfolio, { symbol: xsp, quantity: 1 });
    expect(exercise(m, portfolio, xsp)).toMatchObject({ code: 'INSTRUMENT_NOT_TRADABLE' });
    m.advanceTo('2026-01-16', 10);
    expect(exercise(m, portfolio, xsp)).toMatchObject({ shares: 0, cash: 500e4 });
  });

  it('a put on margin may sell borrowed shares short', () => {
    const m = market();
    m.quote('HTB', '99', '101');
    m.quote('HTB260116P00110000', '11', '11.10');
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.place(portfolio, { symbol: PUT, quantity: 1 });
    m.place(portfolio, { symbol: 'HTB260116P00110000', quantity: 1 });
    expect(exercise(m, portfolio, 'HTB260116P00110000')).toMatchObject({ code: 'NOT_SHORTABLE' });
    expect(exercise(m, portfolio, PUT)).toMatchObject({ cash: 14_000e4 });
    expect(held(m, portfolio).AAPL).toEqual([-100, 13_840]);
  });
});

describe('fees (D82)', () => {
  it('on shares that an assignment sells, at the rates of shares', () => {
    const brokers = new Map([['default', testBroker('default', { passesRegulatoryFees: true })]]);
    const m = market({ rules: { brokers } });
    const portfolio = m.openPortfolio({ cash: 20_000 });
    m.place(portfolio, { quantity: 100 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    const before = m.portfolio(portfolio).balances.FEES;
    expireAt(m, '170');
    const [, fee] = m.events('OptionEnded').flatMap(({ entries }) => entries);
    // No SEC fee: its rate was set to 0 in May 2025. TAF on 100 shares totals two cents.
    expect(fee).toMatchObject({ type: 'FEE', about: { name: 'TAF' } });
    expect(dollars(m.portfolio(portfolio).balances.FEES) - dollars(before)).toBeCloseTo(0.02, 6);
  });
});

describe('many portfolios', () => {
  it('are ended a slice at a time, and as often as the simulation is started again', () => {
    const symbols = Array.from({ length: 8 }, (_, i) => `AAPL260116C00${140 + i}000`);
    const m = new AuditedMarket({ date: '2026-01-16' });
    m.quote('AAPL', '150', '150');
    for (const symbol of symbols) m.quote(symbol, '5.00', '5.10');
    const portfolios = Array.from({ length: 40 }, () => m.openPortfolio());
    for (const [i, portfolio] of portfolios.entries())
      for (const symbol of symbols.slice(0, 1 + (i % 8))) m.place(portfolio, { symbol, quantity: 1 });
    m.restart();
    m.advanceTo('2026-01-16', 16);
    const ended = m.events('OptionEnded');
    expect(ended.length).toBe(5 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8));
    expect(
      m.journal.filter(({ events }) => events.some(({ type }) => type === 'OptionEnded')).length,
    ).toBeGreaterThan(1);
    for (const portfolio of portfolios) expect(m.portfolio(portfolio).optionsOn.size).toBe(0);
  });
});

describe('a portfolio that may not owe (D88)', () => {
  const LATER_CALL = 'AAPL260220C00150000';
  const LATER_PUT = 'AAPL260220P00150000';
  const NEAR_PUT = 'AAPL260116P00150000';

  it.each([
    ['CALL', CALL, LATER_CALL, '180'],
    ['PUT', NEAR_PUT, LATER_PUT, '120'],
  ])('has the later long of a calendar exercised for its assigned short: %s', (_, near, later, price) => {
    const m = market();
    m.quote(near, '2.00', '2.10');
    m.quote(later, '4.90', '5.00');
    const portfolio = m.openPortfolio({ cash: 600 });
    m.place(portfolio, { symbol: later, quantity: 1 });
    m.place(portfolio, { symbol: near, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.quote(later, '30', '30.50');
    expireAt(m, price);
    const [cost, paid] = near === CALL ? [-15_000, 15_000] : [15_000, -15_000];
    expect(acts(m).sort()).toEqual([`ASSIGNED 1 ${near} ${paid}`, `EXERCISED 1 ${later} ${cost}`]);
    // Shares received and delivered settle on the next day.
    expect(held(m, portfolio)).toEqual({ AAPL: [0, 0] });
    expect(dollars(m.value(portfolio).marginLoan)).toBe(0);
  });

  it('exercises its cover despite earlier instructions', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 1100 });
    m.place(portfolio, { symbol: LOWER_PUT, quantity: 1 });
    m.execute<'DoNotExercise'>({
      type: 'DoNotExercise',
      by: m.by,
      portfolioId: portfolio,
      symbol: LOWER_PUT,
    });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    expireAt(m, '70');
    expect(acts(m).sort()).toEqual([`ASSIGNED 1 ${PUT} -14000`, `EXERCISED 1 ${LOWER_PUT} 13000`]);
    expect(dollars(m.value(portfolio).marginLoan)).toBe(0);
  });

  it('an instruction for a long that covers a short is refused, and is ignored for longs that cover one later', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 20_000 });
    const keep = (quantity?: number) =>
      m.execute<'DoNotExercise'>({
        type: 'DoNotExercise',
        by: m.by,
        portfolioId: portfolio,
        symbol: LOWER_PUT,
        ...(quantity !== undefined && { quantity: Quantity.of(quantity) }),
      }).result;
    m.place(portfolio, { symbol: LOWER_PUT, quantity: 3 });
    keep(3);
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 2 });
    expect(keep()).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: Quantity.of(1),
      requiredQuantity: Quantity.of(3),
    });
    expect(keep(1)).toMatchObject({ quantity: Quantity.of(1) });
    expect(keep(0)).toMatchObject({ quantity: 0 });
    expireAt(m, '129');
    // The long in the money is exercised with its shorts, regardless of instructions.
    expect(acts(m).filter((act) => act.startsWith('EXERCISED'))).toHaveLength(1);
  });

  it('sells a long that is not yet exercisable to pay for its assigned short', () => {
    const near = 'SPXW260116C06000000';
    const later = 'SPXW260220C06000000';
    const m = market();
    m.quote('SPX', '6000', '6000');
    m.quote(near, '5', '6');
    m.quote(later, '80', '81');
    const portfolio = m.openPortfolio({ cash: 9000 });
    m.place(portfolio, { symbol: later, quantity: 1 });
    m.place(portfolio, { symbol: near, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.quote(later, '230', '232');
    m.advanceTo('2026-01-16', 15, 59);
    m.quote('SPX', '6200', '6200');
    m.advanceTo('2026-01-16', 16);
    expect(acts(m).sort()).toEqual([`CASH_SETTLED 1 ${near} -20000`, `SOLD_AT_EXPIRY 1 ${later} 23100`]);
    expect(dollars(m.value(portfolio).marginLoan)).toBe(0);
  });

  it('cannot exercise the cover of a short call for cash (D160)', () => {
    const [short, cover] = ['XSP260116C00690000', 'XSP260116C00710000'];
    const m = market();
    m.quote('XSP', '700', '700');
    m.quote(short, '12', '12.10');
    m.quote(cover, '2', '2.10');
    const portfolio = m.openPortfolio({ cash: 10_000 });
    m.place(portfolio, { symbol: cover, quantity: 2 });
    m.place(portfolio, { symbol: short, intent: 'SELL_TO_OPEN', quantity: 1 });
    m.advanceTo('2026-01-16', 15);
    const exercise = (count: number) =>
      m.execute<'ExerciseOption'>({
        type: 'ExerciseOption',
        by: m.by,
        portfolioId: portfolio,
        symbol: cover,
        quantity: Quantity.of(count),
      }).result;
    expect(exercise(2)).toMatchObject({ code: 'OPTION_LEVEL', requiredLevel: 4 });
    // As an order to sell it.
    const sale = { symbol: cover, intent: 'SELL_TO_CLOSE', quantity: 2 } as const;
    expect(m.submit(portfolio, sale)).toMatchObject({ code: 'OPTION_LEVEL', requiredLevel: 4 });
    expect(exercise(1)).toMatchObject({ quantity: Quantity.of(1), cash: 0 });
    m.advanceTo('2026-01-16', 16);
    expect(dollars(m.value(portfolio).marginLoan)).toBe(0);
  });

  it('cannot exercise the cover of a short that it could not fund', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 16_500 });
    m.place(portfolio, { quantity: 100 });
    m.place(portfolio, { symbol: LOWER_PUT, quantity: 1 });
    m.place(portfolio, { symbol: PUT, intent: 'SELL_TO_OPEN', quantity: 1 });
    const exercise = { type: 'ExerciseOption', by: m.by, portfolioId: portfolio, symbol: LOWER_PUT } as const;
    const { result } = m.execute<'ExerciseOption'>(exercise);
    expect(result).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  });
});
