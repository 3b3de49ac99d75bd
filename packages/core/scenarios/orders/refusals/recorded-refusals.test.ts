import { describe, expect, it } from 'vitest';
import type { Command } from '../../../src/command.js';
import type { AgentCaps } from '../../../src/orders/agent-caps.js';
import { Auditor } from '../../../src/testing/auditor.js';
import { requestOf, testBroker, TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Money } from '../../../src/values/money.js';
import { Price } from '../../../src/values/price.js';

type Submit = Extract<Command, { type: 'SubmitOrder' }>;

/** Monday 2026-01-05, 10:00; AAPL at 99.90 – 100.00. */
function open(options: ConstructorParameters<typeof TestMarket>[0] & { cash?: number } = {}) {
  const market = new TestMarket(options);
  market.quote('AAPL', '99.90', '100.00');
  return { market, portfolio: market.openPortfolio({ cash: options.cash ?? 1000 }) };
}

const submit = (market: TestMarket, portfolio: string, order: TestOrder, more: Partial<Submit> = {}) =>
  market.execute<'SubmitOrder'>({
    type: 'SubmitOrder',
    by: market.by,
    order: requestOf(portfolio, order),
    recordRefusal: true,
    ...more,
  }).result;

describe('recordRefusal (D276)', () => {
  it('records an order without funds as REJECTED: nothing is reserved, nothing is open', () => {
    const { market, portfolio } = open();
    const refused = submit(market, portfolio, { quantity: 20, limit: '100' });
    expect(refused).toMatchObject({
      terms: { number: 1, symbol: 'AAPL', portfolioId: portfolio },
      progress: {
        status: 'REJECTED',
        reserved: 0,
        rejection: {
          code: 'INSUFFICIENT_FUNDS',
          availableCash: Money.ofDollars(1000),
          requiredAmount: Money.ofDollars(2000),
        },
      },
    });
    expect(market.journal.at(-1)?.events.map(({ type }) => type)).toEqual(['OrderRejected']);
    expect(market.brokerage.state.orders.size).toBe(0);
    expect(market.portfolio(portfolio).reservedByOrders.cash).toBe(0);
    expect(market.order(market.idOf(1))).toMatchObject({ status: 'REJECTED', reservedQuantity: 0 });
  });

  it('does not change the answer or the record of an order that is accepted', () => {
    const accepted = (recordRefusal?: true) => {
      const { market, portfolio } = open();
      submit(market, portfolio, { quantity: 1 }, recordRefusal === undefined ? {} : { recordRefusal });
      return market.journal.at(-1)?.events;
    };
    expect(accepted(true)).toEqual(accepted());
    expect(accepted(true)?.[0]).toMatchObject({ type: 'OrderAccepted' });
  });

  it('gives each refused order its own number, and the next order the number after its exits', () => {
    const { market, portfolio } = open();
    const bracketConfig = {
      profitTarget: { orderType: 'LIMIT' as const, limitPrice: Price.of('110') },
      stopLoss: { orderType: 'STOP' as const, stopPrice: Price.of('90') },
    };
    expect(submit(market, portfolio, { quantity: 20, limit: '100', more: { bracketConfig } })).toMatchObject({
      terms: { number: 1, bracket: { part: 'ENTRY', config: bracketConfig, exits: [] } },
      progress: { status: 'REJECTED' },
    });
    expect(submit(market, portfolio, { quantity: 20 })).toMatchObject({ terms: { number: 4 } });
    expect(submit(market, portfolio, { quantity: 1 })).toMatchObject({ terms: { number: 5 } });
  });

  it('records the quantity of an order for an amount of money, if there is a price', () => {
    const { market, portfolio } = open({ cash: 100 });
    expect(submit(market, portfolio, { notional: '500' })).toMatchObject({
      progress: { status: 'REJECTED', quantity: 5_000_000, rejection: { code: 'INSUFFICIENT_FUNDS' } },
    });
    expect(submit(market, portfolio, { symbol: 'MSFT', notional: '500' })).toMatchObject({
      progress: { status: 'REJECTED', quantity: 0, rejection: { code: 'INSTRUMENT_NOT_TRADABLE' } },
    });
  });

  it('records closed markets, broker restrictions, missing positions and halts', () => {
    const brokers = new Map([
      ['default', testBroker('default', { orderTypes: ['MARKET', 'LIMIT'], queuesWhenClosed: false })],
    ]);
    const { market, portfolio } = open({ rules: { brokers } });
    const codeOf = (order: TestOrder): unknown => {
      const result = submit(market, portfolio, order);
      return 'code' in result ? `not recorded: ${result.code}` : result.progress.rejection?.code;
    };
    expect(codeOf({ type: 'STOP', stop: '110' })).toBe('BROKER_RESTRICTION');
    expect(codeOf({ intent: 'SELL_TO_CLOSE' })).toBe('INSUFFICIENT_POSITION');
    expect(codeOf({ intent: 'SELL_TO_OPEN' })).toBe('NOT_SHORTABLE');
    market.halt('AAPL', 'T1');
    expect(codeOf({ tif: 'IOC', limit: '100' })).toBe('TRADING_HALTED');
    market.advanceTo('2026-01-05', 17);
    expect(codeOf({ limit: '100' })).toBe('MARKET_CLOSED');
  });

  it('records the tier that lacks a feature, and a frozen account', () => {
    const { market, portfolio } = open();
    expect(submit(market, portfolio, { type: 'STOP', stop: '110' }, { by: { tier: 'BASIC' } })).toMatchObject(
      { progress: { rejection: { code: 'FEATURE_NOT_AVAILABLE', requiredTier: 'PRO' } } },
    );
    market.execute<'SetAccountStatus'>({
      type: 'SetAccountStatus',
      by: market.by,
      accountId: market.portfolio(portfolio).terms.accountId,
      status: 'FROZEN',
    });
    expect(submit(market, portfolio, {})).toMatchObject({
      progress: { rejection: { code: 'ACCOUNT_FROZEN' } },
    });
  });

  it.each<[string, TestOrder, string]>([
    ['an invalid order', { limit: '100.001' }, 'INVALID'],
    ['an unknown symbol', { symbol: 'NOSUCH' }, 'UNKNOWN_SYMBOL'],
    ['a repeated client order id', { more: { clientOrderId: 'mine' } }, 'DUPLICATE_CLIENT_ORDER_ID'],
  ])('leaves %s an error without a record', (_, order, code) => {
    const { market, portfolio } = open();
    market.place(portfolio, { quantity: 1, limit: '50', more: { clientOrderId: 'mine' } });
    const before = market.journal.length;
    expect(submit(market, portfolio, order)).toMatchObject({ code });
    expect(market.journal.length).toBe(before);
  });

  it('leaves an unknown portfolio an error, also for an agent whose caps refuse the order', () => {
    const { market } = open();
    const agent = { agentId: 'agent-1', caps: { symbols: ['MSFT'] } };
    expect(submit(market, 'no-portfolio', {})).toEqual({ code: 'NOT_FOUND', what: 'Portfolio' });
    expect(submit(market, 'no-portfolio', {}, { agent })).toMatchObject({ code: 'CAP_EXCEEDED' });
    expect(market.events('OrderRejected')).toEqual([]);
  });

  it('records a refusal by a cap of an agent as one event, without use of the cap', () => {
    const { market, portfolio } = open({ cash: 100_000 });
    const caps: AgentCaps = { maxOrderNotional: Money.ofDollars(500), maxNotional: Money.ofDollars(1000) };
    const agent = { agentId: 'agent-1', caps };
    const order = { quantity: 10, limit: '100', more: { agent: 'agent-1' } };
    expect(submit(market, portfolio, order, { agent })).toMatchObject({
      terms: { agent: 'agent-1' },
      progress: {
        status: 'REJECTED',
        rejection: { code: 'CAP_EXCEEDED', cap: 'maxOrderNotional', asked: Money.ofDollars(1000) },
      },
    });
    expect(market.journal.at(-1)?.events.map(({ type }) => type)).toEqual(['OrderRejected']);
    expect(market.brokerage.state.agents.size).toBe(0);
  });

  it('records a scripted refusal and the rule that matched', () => {
    const { market, portfolio } = open();
    const rule = market.script({
      type: 'REJECT',
      refusal: { code: 'SCRIPTED', shownAs: 'OPTION_LEVEL', figures: { currentLevel: 1, requiredLevel: 3 } },
    });
    expect(submit(market, portfolio, { quantity: 1 })).toMatchObject({
      progress: { status: 'REJECTED', rejection: { code: 'SCRIPTED', shownAs: 'OPTION_LEVEL' } },
    });
    expect(market.journal.at(-1)?.events.map(({ type }) => type)).toEqual(['OrderRejected', 'OutcomeMet']);
    expect(market.brokerage.state.outcomes.get(rule)?.used).toBe(1);
  });

  it('leaves a script that refuses the request itself an error', () => {
    const { market, portfolio } = open();
    market.script({ type: 'REJECT', refusal: { code: 'SCRIPTED', shownAs: 'UNKNOWN_SYMBOL' } });
    expect(submit(market, portfolio, { quantity: 1 })).toMatchObject({ shownAs: 'UNKNOWN_SYMBOL' });
    expect(market.events('OrderRejected')).toEqual([]);
  });

  it('survives a restart, and keeps the books of the auditor', () => {
    const { market, portfolio } = open();
    const auditor = new Auditor();
    submit(market, portfolio, { quantity: 20 });
    market.restart();
    submit(market, portfolio, { quantity: 1 });
    for (const { events, quotes } of market.journal) auditor.note(events, quotes);
    expect(auditor.differences(market.brokerage.state)).toEqual([]);
    expect(market.brokerage.state.counters.order).toBe(2);
  });
});
