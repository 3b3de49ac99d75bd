import { describe, expect, it } from 'vitest';
import { KnownInstruments } from '../../../src/instruments/known-instruments.js';
import { TestMarket, testBroker, testEquity } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import type { Requester } from '../../../src/command.js';
import { Money } from '../../../src/values/money.js';

const ACCOUNT = '11111111-1111-4111-8111-111111111111';

/** Each step corrects the problem of the refusal before it, and no other. */
it('the first reason that applies is the answer', () => {
  const limited = testBroker('default', {
    timesInForce: ['DAY', 'GTC', 'IOC'],
    orderTypes: ['MARKET', 'LIMIT'],
  });
  const market = new TestMarket({
    hour: 17,
    rules: {
      brokers: new Map([
        ['default', limited],
        ['better', testBroker('better')],
      ]),
      instruments: new KnownInstruments({ instruments: [testEquity('AAPL')] }),
    },
  });
  const portfolio = market.openPortfolio({ cash: 100, brokerId: 'better' });
  market.place(portfolio, { limit: '1.00', more: { clientOrderId: 'a' } });
  market.execute<'SetAccountStatus'>({
    type: 'SetAccountStatus',
    by: market.by,
    accountId: ACCOUNT,
    status: 'FROZEN',
  });
  const order: TestOrder = {
    symbol: 'NOPE',
    type: 'STOP_LIMIT',
    stop: '10.001',
    limit: '10.00',
    tif: 'FOK',
    quantity: 100,
    intent: 'SELL_TO_CLOSE',
    more: { clientOrderId: 'a' },
  };
  const basic: Requester = { tier: 'BASIC' };
  const codes: string[] = [];
  const ask = (by?: Requester, to = portfolio): void => {
    const result = market.submit(to, order, by);
    codes.push(typeof result === 'string' ? 'ACCEPTED' : result.code);
  };

  ask(basic, '33333333-3333-4333-8333-333333333333');
  ask(basic);
  ask();
  market.execute<'SetAccountStatus'>({
    type: 'SetAccountStatus',
    by: market.by,
    accountId: ACCOUNT,
    status: 'ACTIVE',
  });
  ask();
  order.more = { clientOrderId: 'b' };
  ask();
  order.symbol = 'AAPL';
  ask();
  order.stop = '10.00';
  const atLimited = market.openPortfolio({ cash: 100 });
  ask(undefined, atLimited);
  ask();
  order.tif = 'GTC';
  ask();
  order.intent = 'BUY_TO_OPEN';
  ask();
  order.quantity = 1;
  ask();

  expect(codes).toEqual([
    'NOT_FOUND',
    'FEATURE_NOT_AVAILABLE',
    'ACCOUNT_FROZEN',
    'DUPLICATE_CLIENT_ORDER_ID',
    'UNKNOWN_SYMBOL',
    'INVALID',
    'BROKER_RESTRICTION',
    'MARKET_CLOSED',
    'INSUFFICIENT_POSITION',
    'INSUFFICIENT_FUNDS',
    'ACCEPTED',
  ]);
});

describe('figures', () => {
  it('INSUFFICIENT_FUNDS: the free cash and the reservation of the order', () => {
    const commission = { perOrder: Money.ofUnits(10_000), perUnit: Money.ofUnits(50) };
    const broker = testBroker('default', { equityCommission: commission });
    const market = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ cash: 1000 });
    // 3 × 90.00 + 1.00 + 3 × 0.005, in whole cents: 271.02 (0.015 rounds up).
    market.place(portfolio, { limit: '90.00', quantity: 3 });
    // 8 × 95.00 + 1.00 + 8 × 0.005
    expect(market.submit(portfolio, { limit: '95.00', quantity: 8 })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: 7_289_800,
      requiredAmount: 7_610_400,
    });
  });

  it('exactly enough is enough', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ cash: 1050 });
    expect(market.submit(portfolio, { quantity: 10 })).toBeTypeOf('string');
    const poorer = market.openPortfolio({ cash: 1049 });
    expect(market.submit(poorer, { quantity: 10 })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: 10_490_000,
      requiredAmount: 10_500_000,
    });
  });

  it('INSUFFICIENT_POSITION: the unreserved and the requested quantity', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    market.place(portfolio, { quantity: 10 });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '120.00', quantity: '2.5' });
    expect(market.submit(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 8 })).toEqual({
      code: 'INSUFFICIENT_POSITION',
      availableQuantity: 7_500_000,
      requiredQuantity: 8_000_000,
    });
  });

  it('INSUFFICIENT_FUNDS in a MARGIN portfolio, with its buying power (D152)', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    expect(market.submit(portfolio, { limit: '100.00', quantity: 201 })).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      availableCash: 100_000_000,
      requiredAmount: 201_000_000,
      availableBuyingPower: 200_000_000,
      requiredBuyingPower: 201_000_000,
    });
    expect(market.submit(portfolio, { limit: '100.00', quantity: 200 })).toBeTypeOf('string');
  });
});

describe('positions', () => {
  function holding(quantity: number): { market: TestMarket; portfolio: string } {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    market.quote('HTB', '99.90', '100.00');
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    if (quantity > 0) market.place(portfolio, { quantity });
    if (quantity < 0) market.place(portfolio, { intent: 'SELL_TO_OPEN', quantity: -quantity });
    return { market, portfolio };
  }

  it('POSITION_CONFLICT: an opening order against an opposite position', () => {
    const long = holding(10);
    expect(long.market.submit(long.portfolio, { intent: 'SELL_TO_OPEN' })).toEqual({
      code: 'POSITION_CONFLICT',
      message: 'The portfolio is long AAPL: use SELL_TO_CLOSE',
    });
    const short = holding(-10);
    expect(short.market.submit(short.portfolio, { intent: 'BUY_TO_OPEN' })).toEqual({
      code: 'POSITION_CONFLICT',
      message: 'The portfolio is short AAPL: use BUY_TO_CLOSE',
    });
  });

  it('one that arises while both wait rejects the later', () => {
    const { market, portfolio } = holding(0);
    const buy = market.place(portfolio, { limit: '95.00' });
    const sale = market.place(portfolio, { intent: 'SELL_TO_OPEN', limit: '105.00' });
    market.quote('AAPL', '94.90', '95.00');
    expect(market.fills(buy)).toEqual(['10 @ 95']);
    market.quote('AAPL', '105.00', '105.10');
    expect(market.order(sale)).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'POSITION_CONFLICT' },
    });
  });

  it('NOT_SHORTABLE: CASH portfolios, and stocks without a lender', () => {
    const { market, portfolio } = holding(0);
    expect(market.submit(portfolio, { symbol: 'HTB', intent: 'SELL_TO_OPEN' })).toEqual({
      code: 'NOT_SHORTABLE',
      message: 'HTB cannot be borrowed to sell short',
    });
    expect(market.submit(market.openPortfolio(), { intent: 'SELL_TO_OPEN' })).toEqual({
      code: 'NOT_SHORTABLE',
      message: 'CASH portfolios cannot sell short',
    });
  });
});

describe('clientOrderId', () => {
  it('is unique among the open orders of a portfolio', () => {
    const market = new TestMarket();
    market.quote('AAPL', '99.90', '100.00');
    const portfolio = market.openPortfolio();
    const named = { limit: '90.00', more: { clientOrderId: 'my-order' } };
    const first = market.place(portfolio, named);
    expect(market.submit(portfolio, named)).toMatchObject({
      code: 'DUPLICATE_CLIENT_ORDER_ID',
      order: market.numberOf(first),
    });
    expect(market.submit(market.openPortfolio(), named)).toBeTypeOf('string');
  });
});

describe('prices between two ticks', () => {
  it.each<[string, TestOrder, string[]]>([
    ['a cent from one dollar', { limit: '100.005' }, ['limitPrice must be a multiple of 0.01']],
    ['0.0001 below', { symbol: 'F', limit: '0.50005' }, ['limitPrice must be a multiple of 0.0001']],
    [
      'each price on its own',
      { type: 'STOP_LIMIT', stop: '1.001', limit: '0.99991' },
      ['limitPrice must be a multiple of 0.0001', 'stopPrice must be a multiple of 0.01'],
    ],
    [
      'trailing amounts',
      { type: 'TRAILING_STOP', trailingAmount: '1.005' },
      ['trailingAmount must be a multiple of 0.01'],
    ],
  ])('%s', (_name, order, messages) => {
    const market = new TestMarket();
    expect(market.submit(market.openPortfolio(), order)).toEqual({ code: 'INVALID', messages });
  });
});
