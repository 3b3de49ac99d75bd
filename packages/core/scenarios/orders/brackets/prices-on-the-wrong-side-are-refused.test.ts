import { expect, it } from 'vitest';
import { TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import type { BracketConfig } from '../../../src/orders/order.js';
import { Price } from '../../../src/values/price.js';

function messages(order: TestOrder, target?: string, stop?: string, limit?: string): readonly string[] {
  const market = new TestMarket();
  market.quote('AAPL', '99.90', '100.00', { last: '100.00' });
  const bracketConfig: BracketConfig = {
    ...(target !== undefined && { profitTarget: { orderType: 'LIMIT', limitPrice: Price.of(target) } }),
    ...(stop !== undefined && {
      stopLoss: {
        orderType: limit === undefined ? 'STOP' : 'STOP_LIMIT',
        stopPrice: Price.of(stop),
        ...(limit !== undefined && { limitPrice: Price.of(limit) }),
      },
    }),
  };
  const result = market.submit(market.openPortfolio({ type: 'MARGIN' }), {
    ...order,
    more: { bracketConfig },
  });
  if (typeof result === 'string') return [];
  return result.code === 'INVALID' ? result.messages : [result.code];
}

const target = 'bracketConfig.profitTarget.limitPrice';
const stop = 'bracketConfig.stopLoss.stopPrice';

it.each<[string, TestOrder, string, string, string[]]>([
  ['on the right sides', { limit: '98.00' }, '110.00', '95.00', []],
  [
    'target at the limit',
    { limit: '98.00' },
    '98.00',
    '95.00',
    [`${target} must be above the entry price 98`],
  ],
  ['stop at the limit', { limit: '98.00' }, '110.00', '98.00', [`${stop} must be below the entry price 98`]],
  [
    'target below the ask of a market entry',
    {},
    '99.95',
    '95.00',
    [`${target} must be above the entry price 100`],
  ],
  ['stop above it', {}, '110.00', '101.00', [`${stop} must be below the entry price 100`]],
  [
    'a stop entry counts from its stop',
    { type: 'STOP', stop: '105.00' },
    '104.00',
    '101.00',
    [`${target} must be above the entry price 105`],
  ],
  [
    'short: target above the bid',
    { intent: 'SELL_TO_OPEN' },
    '101.00',
    '105.00',
    [`${target} must be below the entry price 99.9`],
  ],
  [
    'short: stop below the bid',
    { intent: 'SELL_TO_OPEN' },
    '90.00',
    '95.00',
    [`${stop} must be above the entry price 99.9`],
  ],
  [
    'both at once',
    { limit: '98.00' },
    '97.00',
    '99.00',
    [
      `${target} must be above the entry price 98`,
      `${stop} must be below the entry price 98`,
      `${target} must be above bracketConfig.stopLoss.stopPrice`,
    ],
  ],
])('%s', (_name, order, targetPrice, stopPrice, expected) => {
  expect(messages(order, targetPrice, stopPrice)).toEqual(expected);
});

it('refuses a stop loss with a limit above its stop, which could not fill', () => {
  expect(messages({}, undefined, '95.00', '95.50')).toEqual([
    'bracketConfig.stopLoss.limitPrice must not be above bracketConfig.stopLoss.stopPrice',
  ]);
  expect(messages({}, undefined, '95.00', '95.00')).toEqual([]);
});

it('prices between two ticks', () => {
  expect(messages({}, '110.005', '95.001')).toEqual([
    'bracketConfig.profitTarget.limitPrice must be a multiple of 0.01',
    'bracketConfig.stopLoss.stopPrice must be a multiple of 0.01',
  ]);
});

it('closing orders have no bracket', () => {
  expect(messages({ intent: 'SELL_TO_CLOSE' }, '110.00', '95.00')).toEqual([
    'bracketConfig is only allowed for opening orders',
  ]);
});

it('without any quote a market entry has no price to compare with, but the exits have each other', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio();
  const exits = (at: string, below: string): BracketConfig => ({
    profitTarget: { orderType: 'LIMIT', limitPrice: Price.of(at) },
    stopLoss: { orderType: 'STOP', stopPrice: Price.of(below) },
  });
  expect(market.submit(portfolio, { more: { bracketConfig: exits('110', '95') } })).toBeTypeOf('string');
  expect(market.submit(portfolio, { more: { bracketConfig: exits('95', '110') } })).toEqual({
    code: 'INVALID',
    messages: ['bracketConfig.profitTarget.limitPrice must be above bracketConfig.stopLoss.stopPrice'],
  });
});
