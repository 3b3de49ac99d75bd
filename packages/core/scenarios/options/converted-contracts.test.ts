import { describe, expect, it } from 'vitest';
import type { CorporateAction } from '../../src/corporate-actions/corporate-action.js';
import { Position } from '../../src/positions/position.js';
import { dollars, shares, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

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
  market.execute<'AnnounceActions'>({ type: 'AnnounceActions', actions: [action] });
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
