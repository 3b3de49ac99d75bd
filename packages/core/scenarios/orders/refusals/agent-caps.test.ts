import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/command.js';
import type { AgentCaps } from '../../../src/orders/agent-caps.js';
import { Auditor } from '../../../src/testing/auditor.js';
import { requestOf, TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Money } from '../../../src/values/money.js';
import { Price } from '../../../src/values/price.js';
import { Quantity } from '../../../src/values/quantity.js';

const CALL = 'AAPL260220C00100000';
const HIGHER = 'AAPL260220C00110000';
const AGENT = 'agent-1';

function opened(type: 'CASH' | 'MARGIN' = 'MARGIN'): { market: TestMarket; portfolio: string } {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type });
  market.quote('AAPL', '99.9', '100', { last: '100' });
  market.quote('MSFT', '50', '50', { last: '50' });
  market.quote(CALL, '4.9', '5', { last: '5' });
  market.quote(HIGHER, '1.9', '2', { last: '2' });
  return { market, portfolio };
}

const submitAs = (
  market: TestMarket,
  portfolio: string,
  caps: AgentCaps,
  order: TestOrder,
  agentId = AGENT,
) =>
  market.execute<'SubmitOrder'>({
    type: 'SubmitOrder',
    by: market.by,
    order: requestOf(portfolio, { ...order, more: { ...order.more, agent: agentId } }),
    agent: { agentId, caps },
  }).result;

/** Notional of an order for the caps, in dollars. */
function notionalOf(market: TestMarket, portfolio: string, order: TestOrder): number {
  const result = submitAs(market, portfolio, { maxOrderNotional: Money.zero }, order);
  if (!('code' in result) || result.code !== 'CAP_EXCEEDED') throw new Error('not refused by a cap');
  return (result.asked ?? 0) / 10_000;
}

describe('caps of agents: limits on an order', () => {
  it('is its worst price with the collar, as its reservation has it', () => {
    const { market, portfolio } = opened();
    const of = (order: TestOrder) => notionalOf(market, portfolio, order);
    expect(of({ quantity: 10, limit: '90' })).toBe(900);
    expect(of({ quantity: 10 })).toBe(1050);
    expect(of({ quantity: 10, type: 'STOP', stop: '120' })).toBe(1260);
    // Starts at 110, plus the collar.
    expect(of({ quantity: 10, type: 'TRAILING_STOP', trailingAmount: '10' })).toBe(1155);
    expect(of({ quantity: 10, intent: 'SELL_TO_OPEN', limit: '90' })).toBe(1000);
    expect(of({ quantity: '0.333333', limit: '100' })).toBe(33.34);
    expect(of({ notional: '700.50' })).toBe(700.5);
    expect(of({ symbol: CALL, quantity: 2 })).toBe(1050);
    expect(of({ symbol: CALL, quantity: 2, intent: 'SELL_TO_OPEN', limit: '5' })).toBe(20_000);
  });

  it('is the sum of the legs of a spread, a short leg at its strike', () => {
    const { market, portfolio } = opened();
    const leg = (optionSymbol: string, positionIntent: 'BUY_TO_OPEN' | 'SELL_TO_OPEN') => ({
      optionSymbol,
      positionIntent,
      quantity: Quantity.of(1),
    });
    const legs = [leg(CALL, 'BUY_TO_OPEN'), leg(HIGHER, 'SELL_TO_OPEN')];
    expect(
      notionalOf(market, portfolio, { quantity: 2, limit: '3', more: { assetClass: 'OPTION', legs } }),
    ).toBe(2 * (525 + 11_000));
  });
});

describe('caps of agents: daily limits', () => {
  const caps: AgentCaps = { maxNotional: Money.ofDollars(2000) };

  it('are used by accepted orders, not restored by cancels, and survive a restart', () => {
    const { market, portfolio } = opened();
    const first = submitAs(market, portfolio, caps, { quantity: 10, limit: '90' });
    if ('code' in first) throw new Error(first.code);
    expect(market.cancel(market.idOf(first.terms.number))).toBeUndefined();
    market.restart();
    expect(submitAs(market, portfolio, caps, { quantity: 11, limit: '100.01' })).toMatchObject({
      cap: 'maxNotional',
      left: Money.ofDollars(1100),
      asked: Money.ofUnits(11_001_100),
    });
    // Another agent has its own daily cap; orders that are refused for other reasons use nothing.
    expect(submitAs(market, portfolio, caps, { quantity: 20, limit: '100' }, 'agent-2')).not.toHaveProperty(
      'code',
    );
    expect(submitAs(market, portfolio, caps, { quantity: 11, limit: '99.999' })).toMatchObject({
      code: 'INVALID',
    });
    expect(submitAs(market, portfolio, caps, { quantity: 11, limit: '100' })).not.toHaveProperty('code');
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '99.9', '100', { last: '100' });
    expect(submitAs(market, portfolio, caps, { quantity: 20, limit: '100' })).not.toHaveProperty('code');
    expect(market.brokerage.state.agents.size).toBe(2);
  });

  it('daily cap: an update uses only its increase; a refused update changes nothing', () => {
    const { market, portfolio } = opened();
    const order = submitAs(market, portfolio, caps, { quantity: 10, limit: '90' });
    if ('code' in order) throw new Error(order.code);
    const replace = (changes: Extract<Command, { type: 'ReplaceOrder' }>['changes']) =>
      market.execute<'ReplaceOrder'>({
        type: 'ReplaceOrder',
        by: market.by,
        orderId: market.idOf(order.terms.number),
        changes,
        agent: { agentId: AGENT, caps },
      }).result;
    expect(replace({ quantity: Quantity.of(20) })).not.toHaveProperty('code');
    expect(replace({ limitPrice: Price.of('101') })).toMatchObject({ left: Money.ofDollars(200) });
    expect(replace({ quantity: Quantity.of(10) })).not.toHaveProperty('code');
    // A reduced order does not return its use.
    expect(submitAs(market, portfolio, caps, { quantity: 3, limit: '90' })).toMatchObject({
      left: Money.ofDollars(200),
    });
  });

  it('do not block closing orders; a loss blocks opening orders', () => {
    const { market, portfolio } = opened('CASH');
    market.place(portfolio, { quantity: 10 });
    market.quote('AAPL', '89.9', '90', { last: '90' });
    const loss: AgentCaps = { maxDailyLoss: Money.ofDollars(100), maxOrderNotional: Money.ofDollars(10) };
    expect(submitAs(market, portfolio, loss, { symbol: 'MSFT', quantity: 1 })).toMatchObject({
      cap: 'maxDailyLoss',
      asked: Money.ofDollars(100),
    });
    expect(submitAs(market, portfolio, loss, { quantity: 10, intent: 'SELL_TO_CLOSE' })).not.toHaveProperty(
      'code',
    );
  });

  it('is in the journal, as is every refusal', () => {
    const { market, portfolio } = opened();
    submitAs(market, portfolio, { ...caps, symbols: ['aapl'] }, { quantity: 10, limit: '90' });
    submitAs(market, portfolio, { ...caps, symbols: ['aapl'] }, { symbol: CALL, quantity: 1, limit: '5' });
    submitAs(market, portfolio, { ...caps, symbols: ['aapl'] }, { symbol: 'MSFT', quantity: 1 });
    submitAs(market, portfolio, caps, { quantity: 10, limit: '90' });
    expect(market.events('AgentSpent').map(({ date, amount }) => [date, amount / 10_000])).toEqual([
      ['2026-01-05', 900],
      ['2026-01-05', 500],
    ]);
    expect(market.events('AgentRefused')).toMatchObject([
      { agentId: AGENT, cap: 'symbols' },
      { agentId: AGENT, cap: 'maxNotional', left: Money.ofDollars(600), asked: Money.ofDollars(900) },
    ]);
    const auditor = new Auditor();
    for (const { events, quotes } of market.journal) auditor.note(events, quotes);
    expect(auditor.differences(market.brokerage.state)).toEqual([]);
  });
});

describe('caps of agents: cancels', () => {
  it('reach its own orders and orders in its symbols, one by one and all together', () => {
    const { market, portfolio } = opened();
    const resting = { quantity: 1, limit: '40' };
    const apple = market.place(portfolio, resting);
    const microsoft = market.place(portfolio, { ...resting, symbol: 'MSFT' });
    const agent = { agentId: AGENT, caps: { symbols: ['AAPL'] } };
    const own = submitAs(market, portfolio, {}, { ...resting, symbol: 'MSFT' });
    if ('code' in own) throw new Error(own.code);
    const cancel = (orderId: string) =>
      market.execute<'CancelOrder'>({ type: 'CancelOrder', by: market.by, orderId, agent }).result;
    expect(cancel(microsoft)).toMatchObject({ code: 'CAP_EXCEEDED', cap: 'symbols', symbols: ['AAPL'] });
    expect(market.order(microsoft).status).toBe('ACTIVE');
    expect(cancel(market.idOf(own.terms.number))).not.toHaveProperty('code');
    const { accountId } = market.portfolio(portfolio).terms;
    const { result } = market.execute<'CancelAccountOrders'>({
      type: 'CancelAccountOrders',
      by: market.by,
      accountId,
      agent,
    });
    if ('code' in result) throw new Error(result.code);
    expect(result.map(({ terms }) => market.idOf(terms.number))).toEqual([apple]);
    expect(market.order(microsoft).status).toBe('ACTIVE');
  });
});
