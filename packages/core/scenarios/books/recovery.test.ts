import { expect, it } from 'vitest';
import { saveState } from '../../src/saved-state.js';
import { stateHash } from '../../src/state-hash.js';
import { adventureRules, recovered } from '../../src/testing/adventure.js';
import { testBroker, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';
import { calendarById } from '../../src/calendar/calendars.js';

/** A market, and the same one recovered from the state that it saved after `first` and the records since. */
function recoveredAfter(
  first: (market: TestMarket) => void,
  then: (market: TestMarket) => void = () => undefined,
  rules = adventureRules(calendarById('XNYS')),
) {
  const market = new TestMarket({ rules });
  first(market);
  const saved = saveState(market.brokerage.state);
  const records = market.journal.length;
  then(market);
  const again = new TestMarket({ rules: market.brokerage.rules });
  again.brokerage = recovered(market.brokerage.rules, saved, market.journal.slice(records));
  again.now = market.now;
  expect(stateHash(again.brokerage.state)).toBe(stateHash(market.brokerage.state));
  return { market, again };
}

it('a recovered market keeps the remaining displayed size', () => {
  let portfolio = '';
  const { market, again } = recoveredAfter((m) => {
    portfolio = m.openPortfolio();
    m.quote('AAPL', '10.00', '10.00', { askSize: 100 });
    m.place(portfolio, { quantity: 80 });
  });
  for (const m of [market, again]) m.place(portfolio, { quantity: 50 });
  expect(again.events('OrderExecuted').map(({ executions }) => executions[0]?.quantity)).toEqual([
    20_000_000,
  ]);
  expect(again.events('OrderExecuted')).toEqual(market.events('OrderExecuted').slice(1));
});

it('two quotes of a symbol in one call are two moments, in recovery too', () => {
  let portfolio = '';
  const size = { askSize: Quantity.of(10) };
  const { market, again } = recoveredAfter(
    (m) => {
      portfolio = m.openPortfolio();
      m.place(portfolio, { quantity: 25 });
    },
    (m) => {
      const quote = { symbol: 'AAPL', bid: Price.of('9.90'), ask: Price.of('10.00'), ...size, at: m.now };
      m.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes: [quote, { ...quote }], pushed: true });
    },
  );
  const left = (m: TestMarket): number => [...m.brokerage.state.orders.values()][0]!.progress.filledQuantity;
  expect(left(market)).toBe(20_000_000);
  for (const m of [market, again]) m.place(portfolio, { quantity: 5 });
  expect(market.brokerage.state.books.get('AAPL')?.askLeft).toBe(0);
  expect(again.brokerage.state.books.get('AAPL')?.askLeft).toBe(0);
});

it('saved state does not change while trading continues', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio();
  market.quote('AAPL', '10.00', '10.00');
  market.place(portfolio, { quantity: 10 });
  const saved = saveState(market.brokerage.state);
  const text = JSON.stringify(saved);
  market.place(portfolio, { quantity: 10 });
  market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 15 });
  market.openPortfolio();
  market.advanceTo('2026-01-06', 10);
  expect(JSON.stringify(saved)).toBe(text);
});

it('a close that is past is not marked again for a portfolio opened since', () => {
  const { market, again } = recoveredAfter(
    (m) => m.advanceTo('2026-01-06', 17),
    (m) => m.openPortfolio({ type: 'MARGIN' }),
  );
  for (const m of [market, again]) m.advanceTo('2026-01-07', 10);
  expect(again.events('SessionMarked')).toEqual([]);
  market.advanceTo('2026-01-07', 16);
  again.advanceTo('2026-01-07', 16);
  expect(again.events('SessionMarked')).toEqual(market.events('SessionMarked').slice(-1));
});

it('a call that was due before a recovery is not reported again beside one that was not', () => {
  const patient = testBroker('default', { liquidation: 'NEVER' });
  let portfolio = '';
  const { market, again } = recoveredAfter(
    (m) => {
      portfolio = m.openPortfolio({ type: 'MARGIN', cash: 6500 });
      m.quote('AAPL', '130', '130');
      m.place(portfolio, { quantity: 100, limit: '130' });
      m.quote('AAPL', '80', '80');
      m.advanceTo('2026-01-08', 12, 1);
    },
    undefined,
    { ...adventureRules(calendarById('XNYS')), brokers: new Map([['default', patient]]) },
  );
  const calls = again.portfolio(portfolio).margin.calls.map(({ type, isDue }) => [type, isDue === true]);
  expect(calls).toEqual([
    ['MAINTENANCE', true],
    ['MINIMUM_EQUITY', false],
  ]);
  expect(market.events('CallDue')).toHaveLength(1);
  again.advanceTo('2026-01-08', 13);
  expect(again.events('CallDue')).toEqual([]);
});

it('the same commands give the same ids, prices and times, and another seed other ids', () => {
  const run = (seed: number) => {
    const market = new TestMarket({ seed });
    const portfolio = market.openPortfolio();
    market.quote('AAPL', '10.00', '10.00', { askSize: 5 });
    market.place(portfolio, { quantity: 10, more: { latencyProfile: 'RETAIL' } });
    market.advanceTo('2026-01-06', 10);
    return market;
  };
  expect(run(7).journal).toEqual(run(7).journal);
  expect(stateHash(run(7).brokerage.state)).toBe(stateHash(run(7).brokerage.state));
  expect([...run(8).brokerage.state.portfolios.keys()]).not.toEqual([
    ...run(7).brokerage.state.portfolios.keys(),
  ]);
});
