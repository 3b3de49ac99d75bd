import { describe, expect, it } from 'vitest';
import { announcementOf } from '../../src/commands/market/market-setup.js';
import type { CorporateAction } from '../../src/corporate-actions/corporate-action.js';
import { requirementOfPortfolio } from '../../src/portfolios/valuation.js';
import { Position } from '../../src/positions/position.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const audited = auditAfterEach();

type Terms<T extends CorporateAction['type']> = Omit<
  Extract<CorporateAction, { type: T }>,
  'type' | 'exDate' | 'symbol'
>;

const CALL = 'XYZ260220C00025000';
const PUT = 'XYZ260220P00030000';

/** A MARGIN portfolio with 100 XYZ, a long call and a long put, over an action on 2026-01-07. */
function over<T extends CorporateAction['type']>(type: T, terms: Terms<T>, before?: (m: TestMarket) => void) {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 1_000_000 });
  market.quote('XYZ', '30.00', '30.00');
  market.quote(CALL, '6.00', '6.00');
  market.quote(PUT, '2.00', '2.00');
  market.place(portfolio, { symbol: 'XYZ', quantity: 100 });
  for (const symbol of [CALL, PUT]) market.place(portfolio, { symbol, quantity: 1 });
  const order = market.place(portfolio, {
    symbol: CALL,
    quantity: 1,
    type: 'LIMIT',
    limit: '1.00',
    tif: 'GTC',
  });
  before?.(market);
  const action = {
    type,
    symbol: 'XYZ',
    exDate: TradingDate.of('2026-01-07'),
    ...terms,
  } as unknown as CorporateAction;
  market.execute<'AnnounceActions'>(announcementOf([action]));
  market.advanceTo('2026-01-07', 10);
  const held = (symbol: string): number => {
    const position = market.portfolio(portfolio).positions.get(symbol);
    return position === undefined ? 0 : shares(Position.held(position));
  };
  const contract = (symbol: string) => market.brokerage.instrument(symbol);
  return { market, portfolio, order, held, contract };
}

describe('a special dividend', () => {
  it('lowers strikes from 0.125 a share; open orders go on', () => {
    const { market, order, held, contract } = over('SPECIAL_DIVIDEND', { amountPerShare: Price.of('2') });
    const [call, put] = ['XYZ260220C00023000', 'XYZ260220P00028000'];
    expect([held(call), held(put), held(CALL)]).toEqual([1, 1, 0]);
    expect(contract(call)).toMatchObject({ strike: Price.of('23'), deliverable: 100, multiplier: 100 });
    expect(market.openOrder(order)).toMatchObject({
      terms: { symbol: call },
      progress: { limitPrice: Price.of('1') },
    });
  });

  it('leaves strikes as they are below that', () => {
    const { held } = over('SPECIAL_DIVIDEND', { amountPerShare: Price.of('0.12') });
    expect(held(CALL)).toBe(1);
  });

  it('makes a strike below a cent one cent, and the rest cash', () => {
    const { contract } = over('SPECIAL_DIVIDEND', { amountPerShare: Price.of('26') });
    expect(contract('XYZ1260220C00000010')).toMatchObject({ strike: Price.of('0.01'), cash: 1_010_000 });
    expect(contract('XYZ260220P00004000')).toMatchObject({ strike: Price.of('4') });
  });
});

it('a change of the symbol renames contracts and their orders', () => {
  const { market, order, held, contract } = over('SYMBOL_CHANGE', { newSymbol: 'NEWX' });
  expect(held('NEWX260220C00025000')).toBe(1);
  expect(contract('NEWX260220C00025000')).toMatchObject({ underlying: 'NEWX', strike: Price.of('25') });
  expect(market.openOrder(order)?.terms).toMatchObject({ symbol: 'NEWX260220C00025000', underlying: 'NEWX' });
});

describe('a spin-off', () => {
  // 100 shares give 24.1917 new ones, at 30 x 0.2348 / 0.241917 = 29.11742457.
  const terms = { newSymbol: 'WBDX', ratio: 0.241917, basisPercent: 23.48 };

  it('makes contracts deliver old and new shares and cash, and cancels orders', () => {
    const { market, order, held, contract } = over('SPIN_OFF', terms);
    expect(held('XYZ1260220C00025000')).toBe(1);
    expect(contract('XYZ1260220C00025000')).toMatchObject({
      deliverable: 100,
      others: [{ symbol: 'WBDX', shares: 24 }],
      cash: 55_800,
    });
    expect(market.openOrder(order)).toBeUndefined();
  });

  it('exercise moves shares of both symbols for the strike less the cash', () => {
    const { market, portfolio, held } = over('SPIN_OFF', terms);
    const { result } = market.execute<'ExerciseOption'>({
      type: 'ExerciseOption',
      by: market.by,
      portfolioId: portfolio,
      symbol: 'XYZ1260220C00025000',
    });
    expect(result).toMatchObject({ cash: -24_944_200 });
    // 100 XYZ and 24 WBDX were held or given before.
    expect([held('XYZ'), held('WBDX'), held('XYZ1260220C00025000')]).toEqual([200, 48, 0]);
  });
});

describe('a merger', () => {
  it('for shares and cash makes contracts deliver whole shares of the acquirer and cash', () => {
    const { held, contract } = over(
      'MERGER',
      { newSymbol: 'T', ratio: 1.437, cashPerShare: Price.of('53.75') },
      (market) => market.quote('T', '32.52', '32.52'),
    );
    const call = 'T1260220C00025000';
    expect(held(call)).toBe(1);
    // 0.7 of a share is 22.76; 53.75 on 100 shares.
    expect(contract(call)).toMatchObject({ underlying: 'T', deliverable: 143, cash: 53_977_600 });
  });

  it('of one share for one keeps ordinary contracts of the acquirer', () => {
    const { held, contract } = over('MERGER', { newSymbol: 'ACQ', ratio: 1 });
    expect(held('ACQ260220C00025000')).toBe(1);
    expect(contract('ACQ260220C00025000')).toMatchObject({ underlying: 'ACQ', deliverable: 100 });
  });

  it('for cash ends contracts at their value', () => {
    const { market, held } = over('MERGER', { cashPerShare: Price.of('28') });
    expect([held('XYZ'), held(CALL), held(PUT)]).toEqual([0, 0, 0]);
    expect(market.events('OptionEnded').map(({ act, amount }) => [act, dollars(amount)])).toEqual([
      ['CASH_SETTLED', 300],
      ['CASH_SETTLED', 200],
    ]);
    expect(market.events('PositionConverted')).toMatchObject([{ amount: 28_000_000 }]);
  });
});

it('a delisting without cash pays puts their full strike', () => {
  const { market } = over('DELISTING', { cashPerShare: Price.of('0') });
  expect(market.events('OptionEnded').map(({ act, amount }) => [act, dollars(amount)])).toEqual([
    ['EXPIRED', 0],
    ['CASH_SETTLED', 3000],
  ]);
});

/** HON and ASIX, 2016-10-03: a contract delivers 100 HON and 4 ASIX, one new share for 25 (OCC memo 39740). */
describe('a written call over the spin-off of one share for 25', () => {
  const CALL_25 = 'XYZ1260220C00025000';

  function written(type: 'CASH' | 'MARGIN', bought = 100) {
    const market = audited(new TestMarket());
    const portfolio = market.openPortfolio({ type, cash: 100_000 });
    market.quote('XYZ', '30.00', '30.00');
    market.quote(CALL, '6.00', '6.00');
    market.place(portfolio, { symbol: 'XYZ', quantity: bought });
    market.place(portfolio, { symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' });
    const act = (action: object, day: string): void => {
      const announced = {
        symbol: 'ASIX',
        exDate: TradingDate.of(day),
        ...action,
      } as unknown as CorporateAction;
      market.execute<'AnnounceActions'>(announcementOf([announced]));
      market.advanceTo(day, 10);
    };
    act(
      { type: 'SPIN_OFF', symbol: 'XYZ', newSymbol: 'ASIX', ratio: { new: 1, old: 25 }, basisPercent: 4 },
      '2026-01-07',
    );
    const reserved = () =>
      Object.fromEntries(
        [...market.portfolio(portfolio).reservedByPositions.shares].map(([symbol, size]) => [
          symbol,
          shares(size),
        ]),
      );
    const held = (symbol: string): number => {
      const position = market.portfolio(portfolio).positions.get(symbol);
      return position === undefined ? 0 : shares(Position.held(position));
    };
    return { market, portfolio, act, reserved, held };
  }

  it('reserves the shares of both symbols, and refuses to sell one of either', () => {
    const { market, portfolio, reserved } = written('CASH');
    expect(reserved()).toEqual({ XYZ: 100, ASIX: 4 });
    market.quote('ASIX', '30.00', '30.00');
    expect(market.submit(portfolio, { symbol: 'ASIX', quantity: 1, intent: 'SELL_TO_CLOSE' })).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
    });
  });

  it('frees new shares that it does not deliver', () => {
    const { market, portfolio, reserved } = written('CASH', 150);
    market.quote('ASIX', '30.00', '30.00');
    market.place(portfolio, { symbol: 'ASIX', quantity: 2, intent: 'SELL_TO_CLOSE' });
    expect(reserved()).toEqual({ XYZ: 100, ASIX: 4 });
  });

  it('delivers other shares after a split, spin-off or merger of the new ones', () => {
    // 4 x 3/2 = 6; 6 x 1/4 = 1.5, of which 0.5 in cash at 5.00; 6 x 0.5 = 3 and 6 x 2.00 in cash.
    const { market, act, reserved } = written('CASH');
    const contract = (symbol: string) => market.brokerage.instrument(symbol);
    market.quote('ASIX', '30.00', '30.00');
    act({ type: 'SPLIT', ratio: { new: 3, old: 2 } }, '2026-01-08');
    expect(contract('XYZ2260220C00025000')).toMatchObject({ others: [{ symbol: 'ASIX', shares: 6 }] });
    expect(reserved()).toEqual({ XYZ: 100, ASIX: 6 });
    market.quote('CHLD', '5.00', '5.00');
    act({ type: 'SPIN_OFF', newSymbol: 'CHLD', ratio: { new: 1, old: 4 }, basisPercent: 10 }, '2026-01-09');
    expect(contract('XYZ3260220C00025000')).toMatchObject({
      deliverable: 100,
      cash: 25_000,
      others: [
        { symbol: 'ASIX', shares: 6 },
        { symbol: 'CHLD', shares: 1 },
      ],
    });
    market.quote('ACQ', '50.00', '50.00');
    act({ type: 'MERGER', newSymbol: 'ACQ', ratio: 0.5, cashPerShare: Price.of('2') }, '2026-01-12');
    expect(contract('XYZ4260220C00025000')).toMatchObject({
      cash: 145_000,
      others: [
        { symbol: 'CHLD', shares: 1 },
        { symbol: 'ACQ', shares: 3 },
      ],
    });
    expect(reserved()).toEqual({ XYZ: 100, CHLD: 1, ACQ: 3 });
    // The cash that the call delivers is reserved too.
    expect(
      dollars(
        market.portfolio([...market.brokerage.state.portfolios.keys()][0] ?? '').reservedByPositions.cash,
      ),
    ).toBe(14.5);
  });

  it('is renamed in part, ends in part for cash, and keeps its number over a split of the old shares', () => {
    const { market, act, reserved, held } = written('CASH');
    act({ type: 'SYMBOL_CHANGE', newSymbol: 'ASI' }, '2026-01-08');
    expect(market.brokerage.instrument(CALL_25)).toMatchObject({ others: [{ symbol: 'ASI', shares: 4 }] });
    expect(reserved()).toEqual({ XYZ: 100, ASI: 4 });
    act({ type: 'DELISTING', symbol: 'ASI', cashPerShare: Price.of('7') }, '2026-01-09');
    expect(market.brokerage.instrument('XYZ2260220C00025000')).toMatchObject({
      deliverable: 100,
      cash: 280_000,
    });
    act({ type: 'SPLIT', symbol: 'XYZ', ratio: { new: 2, old: 1 } }, '2026-01-12');
    expect(market.brokerage.instrument('XYZ3260220C00025000')).toMatchObject({
      deliverable: 200,
      cash: 280_000,
    });
    expect(held('XYZ3260220C00025000')).toBe(-1);
    expect(reserved()).toEqual({ XYZ: 200 });
  });

  it('is assigned with the shares of both symbols on margin', () => {
    const { market, held } = written('MARGIN');
    market.quote('XYZ', '30.00', '30.00');
    market.quote('ASIX', '30.00', '30.00');
    market.advanceTo('2026-02-20', 17);
    expect([held('XYZ'), held('ASIX'), held(CALL_25)]).toEqual([0, 0, 0]);
    const ended = market
      .events('OptionEnded')
      .map(({ act, shares: moved, amount }) => [act, moved?.symbol, dollars(amount)]);
    // 2,500.00 by marks: 100 x 30 and 4 x 30 of 3,120.
    expect(ended).toEqual([
      ['ASSIGNED', 'XYZ', 2403.85],
      ['ASSIGNED', 'ASIX', 96.15],
    ]);
  });

  it('is uncovered on margin without the new shares', () => {
    const { market, portfolio } = written('MARGIN');
    market.quote('XYZ', '30.00', '30.00');
    market.quote('ASIX', '30.00', '30.00');
    const groups = () => {
      const { brokerage } = market;
      const holder = market.portfolio(portfolio);
      const requirement = requirementOfPortfolio(holder, brokerage, brokerage.broker(holder));
      return requirement?.groups.map(({ strategy }) => strategy);
    };
    expect(groups()).toContain('COVERED_CALL');
    market.place(portfolio, { symbol: 'ASIX', quantity: 1, intent: 'SELL_TO_CLOSE' });
    expect(groups()).not.toContain('COVERED_CALL');
  });
});

/** The same contracts in a portfolio that may not owe, which end on 2026-02-20 with both shares at 30.00: 100 XYZ and 4 ASIX are 3,120.00. */
describe('contracts on several shares that end in a CASH portfolio', () => {
  const LONG_PUT = 'XYZ260220P00040000';

  function ending(orders: readonly TestOrder[], { cash = 10_000, withoutNew = false } = {}) {
    const brokers = new Map([['default', testBroker('default', { spreadsInCashAccounts: true })]]);
    const market = audited(new TestMarket({ rules: { brokers, earlyAssignment: 'DIVIDENDS' } }));
    const portfolio = market.openPortfolio({ type: 'CASH', cash });
    market.quote('XYZ', '30.00', '30.00');
    for (const symbol of [
      ...[CALL, PUT, LONG_PUT],
      ...['XYZ260220C00027500', 'XYZ260220C00035000', 'XYZ260220P00025000'],
    ])
      market.quote(symbol, '1.00', '1.00');
    for (const order of orders) market.place(portfolio, order);
    const spinOff = {
      type: 'SPIN_OFF',
      symbol: 'XYZ',
      newSymbol: 'ASIX',
      exDate: TradingDate.of('2026-01-07'),
      ratio: { new: 1, old: 25 },
      basisPercent: 4,
    } as const;
    market.execute<'AnnounceActions'>(announcementOf([spinOff]));
    market.advanceTo('2026-01-07', 10);
    for (const symbol of ['XYZ', 'ASIX']) market.quote(symbol, '30.00', '30.00');
    if (withoutNew) market.place(portfolio, { symbol: 'ASIX', quantity: 4, intent: 'SELL_TO_CLOSE' });
    const held = () =>
      Object.fromEntries(
        [...market.portfolio(portfolio).positions]
          .map(([symbol, position]) => [symbol, shares(Position.held(position))] as const)
          .filter(([, quantity]) => quantity !== 0),
      );
    const ended = () => {
      market.advanceTo('2026-02-20', 17);
      return market
        .events('OptionEnded')
        .map(({ act, symbol, shares: moved, amount }) => [act, moved?.symbol ?? symbol, dollars(amount)]);
    };
    return { market, portfolio, held, ended };
  }

  const shares100 = { symbol: 'XYZ', quantity: 100 };

  it('a long call receives the shares of both for the strike', () => {
    const { held, ended } = ending([{ symbol: CALL, quantity: 1 }]);
    // 2,500.00 by marks: 100 x 30 and 4 x 30 of 3,120.
    expect(ended()).toEqual([
      ['EXERCISED', 'XYZ', -2403.85],
      ['EXERCISED', 'ASIX', -96.15],
    ]);
    expect(held()).toEqual({ XYZ: 100, ASIX: 4 });
  });

  it('a long call without the cash for its strike is sold at its value', () => {
    const { held, ended } = ending([{ symbol: CALL, quantity: 1 }], { cash: 2500 });
    // 3,120.00 - 2,500.00; 2,400.00 are left of the cash.
    expect(ended()).toEqual([['SOLD_AT_EXPIRY', 'XYZ1260220C00025000', 620]]);
    expect(held()).toEqual({});
  });

  it('a covered call delivers the shares of both', () => {
    const { held, ended } = ending([shares100, { symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' }]);
    expect(ended()).toEqual([
      ['ASSIGNED', 'XYZ', 2403.85],
      ['ASSIGNED', 'ASIX', 96.15],
    ]);
    expect(held()).toEqual({});
  });

  it('a covered call assigned before a dividend delivers the shares of both', () => {
    const { market, held } = ending([shares100, { symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' }]);
    market.quote('XYZ1260220C00025000', '6.20', '6.20');
    const dividend = { type: 'CASH_DIVIDEND', symbol: 'XYZ', amountPerShare: Price.of('0.50') } as const;
    market.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [{ ...dividend, exDate: TradingDate.of('2026-01-09') }],
    });
    market.advanceTo('2026-01-09', 10);
    expect(market.events('OptionEnded').map(({ act, amount }) => [act, dollars(amount)])).toEqual([
      ['ASSIGNED', 2403.85],
      ['ASSIGNED', 96.15],
    ]);
    expect(held()).toEqual({});
  });

  it('a spread pays the difference of its strikes and keeps no share', () => {
    const { held, ended } = ending([
      { symbol: 'XYZ260220C00027500', quantity: 1 },
      { symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' },
    ]);
    const amounts = ended().map(([, , amount]) => Number(amount));
    expect(amounts.reduce((sum, amount) => sum + amount, 0)).toBeCloseTo(-250, 6);
    expect(held()).toEqual({});
  });

  it('a written call whose long ends worthless buys the shares of both in', () => {
    const { held, ended } = ending([
      { symbol: 'XYZ260220C00035000', quantity: 1 },
      { symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' },
    ]);
    expect(ended()).toEqual([
      ['EXPIRED', 'XYZ1260220C00035000', 0],
      ['BUY_IN', 'XYZ', -3000],
      ['BUY_IN', 'ASIX', -120],
      ['ASSIGNED', 'XYZ', 2403.85],
      ['ASSIGNED', 'ASIX', 96.15],
    ]);
    expect(held()).toEqual({});
  });

  it('a written put that cash does not pay sells the shares of both that it receives', () => {
    const orders = [
      { symbol: 'XYZ260220P00025000', quantity: 1 },
      { symbol: LONG_PUT, quantity: 1, intent: 'SELL_TO_OPEN' },
    ] as const;
    const { held, ended } = ending(orders, { cash: 1700 });
    expect(ended()).toEqual([
      ['EXPIRED', 'XYZ1260220P00025000', 0],
      ['ASSIGNED', 'XYZ', -3846.16],
      ['ASSIGNED', 'ASIX', -153.84],
      ['SOLD_AT_EXPIRY', 'XYZ', 3000],
      ['SOLD_AT_EXPIRY', 'ASIX', 120],
    ]);
    expect(held()).toEqual({});
  });

  it('a long put delivers the shares of both', () => {
    const { held, ended } = ending([shares100, { symbol: LONG_PUT, quantity: 1 }]);
    // 4,000.00 x 3,000 / 3,120 and x 120 / 3,120.
    expect(ended()).toEqual([
      ['EXERCISED', 'XYZ', 3846.16],
      ['EXERCISED', 'ASIX', 153.84],
    ]);
    expect(held()).toEqual({});
  });

  it('a long put without the new shares cannot be exercised, and is sold at its value', () => {
    const { market, portfolio, held, ended } = ending([shares100, { symbol: LONG_PUT, quantity: 1 }], {
      withoutNew: true,
    });
    const { result } = market.execute<'ExerciseOption'>({
      type: 'ExerciseOption',
      by: market.by,
      portfolioId: portfolio,
      symbol: 'XYZ1260220P00040000',
    });
    expect(result).toMatchObject({ code: 'NOT_SHORTABLE' });
    // 4,000.00 - 3,120.00.
    expect(ended()).toEqual([['SOLD_AT_EXPIRY', 'XYZ1260220P00040000', 880]]);
    expect(held()).toEqual({ XYZ: 100 });
  });

  it('a cash-secured put receives the shares of both', () => {
    const { held, ended } = ending([{ symbol: LONG_PUT, quantity: 1, intent: 'SELL_TO_OPEN' }]);
    expect(ended()).toEqual([
      ['ASSIGNED', 'XYZ', -3846.16],
      ['ASSIGNED', 'ASIX', -153.84],
    ]);
    expect(held()).toEqual({ XYZ: 100, ASIX: 4 });
  });

  it('a long put keeps shares that a call on another underlying delivers', () => {
    const { market, portfolio, held, ended } = ending([
      shares100,
      { symbol: CALL, quantity: 1, intent: 'SELL_TO_OPEN' },
    ]);
    // The put on 100 ASIX delivers none of the 4 that the call reserves.
    market.quote('ASIX260220P00040000', '1.00', '1.00');
    market.quote('ASIX', '30.00', '30.00');
    market.place(portfolio, { symbol: 'ASIX', quantity: 96 });
    market.place(portfolio, { symbol: 'ASIX260220P00040000', quantity: 1 });
    expect(ended()).toContainEqual(['SOLD_AT_EXPIRY', 'ASIX260220P00040000', 1000]);
    expect(held()).toEqual({ ASIX: 96 });
  });
});
