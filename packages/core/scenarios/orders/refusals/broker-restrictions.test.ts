import { expect, it } from 'vitest';
import { TestMarket, testBroker } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import type { BrokerConfiguration } from '../../../src/brokers/broker.js';
import { Price } from '../../../src/values/price.js';

const stopLoss = { orderType: 'STOP' as const, stopPrice: Price.of('90') };

it.each<[Partial<BrokerConfiguration>, TestOrder, string]>([
  [{ orderTypes: ['MARKET'] }, { limit: '90.00' }, 'does not offer LIMIT orders'],
  [{ timesInForce: ['DAY'] }, { tif: 'GTC' }, 'does not offer time in force GTC'],
  [{ sessions: ['REGULAR'] }, { limit: '90.00', session: 'EXTENDED' }, 'does not offer extended hours'],
  [{ fractionalShares: false }, { quantity: '0.5' }, 'does not offer fractional shares'],
  [{}, { intent: 'SELL_TO_OPEN', quantity: '0.5' }, 'does not lend fractional shares'],
  [{ shortSelling: false }, { intent: 'SELL_TO_OPEN' }, 'does not offer short selling'],
  [
    { orderTypes: ['MARKET', 'LIMIT'] },
    { more: { bracketConfig: { stopLoss } } },
    'does not offer STOP orders',
  ],
  [{ timesInForce: ['DAY'] }, { more: { bracketConfig: { stopLoss } } }, 'does not offer time in force GTC'],
])('%j: %j', (more, order, what) => {
  const brokers = new Map([['default', testBroker('default', { name: 'The broker', ...more })]]);
  const market = new TestMarket({ rules: { brokers } });
  market.quote('AAPL', '99.90', '100.00');
  expect(market.submit(market.openPortfolio({ type: 'MARGIN' }), order)).toEqual({
    code: 'BROKER_RESTRICTION',
    message: `The broker ${what}`,
  });
});

it('a bracket with DAY exits is accepted by a broker without GTC', () => {
  const brokers = new Map([['default', testBroker('default', { timesInForce: ['DAY'] })]]);
  const market = new TestMarket({ rules: { brokers } });
  market.quote('AAPL', '99.90', '100.00');
  const order = { more: { bracketConfig: { stopLoss, timeInForce: 'DAY' as const } } };
  expect(market.submit(market.openPortfolio(), order)).toBeTypeOf('string');
});
