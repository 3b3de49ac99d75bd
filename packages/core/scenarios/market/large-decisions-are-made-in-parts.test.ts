import { describe, expect, it } from 'vitest';
import { Brokerage } from '../../src/brokerage.js';
import type { Outcome } from '../../src/brokerage.js';
import type { Command } from '../../src/command.js';
import type { CorporateAction } from '../../src/corporate-actions/corporate-action.js';
import type { Event } from '../../src/event.js';
import { brokenInvariants } from '../../src/invariants.js';
import { saveState } from '../../src/saved-state.js';
import { stateHash } from '../../src/state-hash.js';
import { requestOf, testBroker, TestMarket } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import type { Instant } from '../../src/values/instant.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';
import { TradingDate } from '../../src/values/trading-date.js';

const MOST = 1024;
const EX = TradingDate.of('2026-01-06');

/** Many orders for one share each. Invariants are checked at the end: after each of thousands of commands they would take minutes. */
class Crowd {
  readonly parts: { events: readonly Event[]; at: Instant }[] = [];
  brokerage: Brokerage;
  now: Instant;
  readonly #place: (order: TestOrder) => void;

  constructor(order: TestOrder, count: number) {
    const broker = testBroker('default', { auctionOrders: true });
    const rules = { brokers: new Map([['default', broker]]) };
    const m = new TestMarket({ hour: order.tif === 'OPG' ? 9 : 10, rules });
    m.quote('AAPL', '99.99', '100.01', { last: '100.00' });
    const portfolio = m.openPortfolio({ cash: 100_000_000 });
    this.parts.push(...m.journal);
    this.brokerage = m.brokerage;
    this.brokerage.onRead = undefined;
    this.now = m.now;
    this.#place = (more) => {
      const request = requestOf(portfolio, { quantity: 1, ...more });
      this.run<'SubmitOrder'>({ type: 'SubmitOrder', by: m.by, order: request });
    };
    this.place(order, count);
  }

  place(order: TestOrder, count: number): void {
    for (let i = 0; i < count; i++) this.#place(order);
  }

  run<T extends Command['type']>(command: Extract<Command, { type: T }>): Outcome<T> {
    const outcome = this.brokerage.execute<T>(command, this.now);
    if (outcome.events.length > 0) this.parts.push({ events: outcome.events, at: this.now });
    return outcome;
  }

  /** Pushes a quote, and returns the numbers of order events of all records that follow from it at this instant. */
  quote(bid: string, ask: string, last: string, askSize?: number): number[] {
    const before = this.parts.length;
    const size = askSize === undefined ? {} : { askSize: Quantity.of(askSize) };
    const prices = { bid: Price.of(bid), ask: Price.of(ask), last: Price.of(last) };
    const quote = { symbol: 'AAPL', ...prices, ...size, at: this.now };
    this.run<'UpdateMarket'>({ type: 'UpdateMarket', quotes: [quote], pushed: true });
    this.rest();
    return this.parts.slice(before).map(({ events }) => events.filter(isOfOrder).length);
  }

  rest(): void {
    while ((this.brokerage.nextDue() ?? Infinity) <= this.now)
      this.run<'AdvanceClock'>({ type: 'AdvanceClock' });
    expect(brokenInvariants(this.brokerage.state)).toEqual([]);
  }

  /** Numbers of the executed orders, in the order of their executions. */
  get executed(): number[] {
    return this.parts.flatMap(({ events }) =>
      events.flatMap((event) => (event.type === 'OrderExecuted' ? [event.order] : [])),
    );
  }
}

const isOfOrder = ({ type }: Event): boolean => type === 'OrderMoved' || type === 'OrderExecuted';
const first = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('a decision has at most 1,024 order updates; the remainder is due at once (D264)', () => {
  it('one quote that fills 2,100 orders: three records, in the order of the queue', () => {
    const crowd = new Crowd({ limit: '95.00' }, 2100);
    const sizes = crowd.quote('89.99', '90.01', '90.00').filter((size) => size > 0);
    expect(sizes).toHaveLength(3);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MOST);
    expect(crowd.executed).toEqual(first(2100));
    expect(crowd.brokerage.state.unmatched).toEqual([]);
  });

  it('the displayed size is used once over all parts', () => {
    const crowd = new Crowd({ limit: '95.00' }, 1100);
    crowd.quote('89.99', '90.01', '90.00', 1050);
    expect(crowd.executed).toEqual(first(1050));
    expect(crowd.brokerage.state.orders.size).toBe(50);
  });

  it('triggered stops with IOC are not canceled before they have met the market', () => {
    const crowd = new Crowd({ type: 'STOP', stop: '101.00', tif: 'IOC' }, 1100);
    crowd.quote('101.99', '102.01', '102.00');
    expect(crowd.executed).toHaveLength(1100);
  });

  it('an opening auction of 400 orders, each with a reservation', () => {
    const crowd = new Crowd({ tif: 'OPG' }, 400);
    crowd.now = crowd.brokerage.rules.calendar.instantOf('2026-01-05' as never, 9, 30);
    crowd.rest();
    expect(Math.max(...crowd.quote('101.99', '102.01', '102.00'))).toBeLessThanOrEqual(MOST);
    expect(crowd.executed).toEqual(first(400));
  });

  it('entries of brackets: the events of their exits count', () => {
    const more = {
      bracketConfig: {
        profitTarget: { orderType: 'LIMIT' as const, limitPrice: Price.of('110') },
        stopLoss: { orderType: 'STOP' as const, stopPrice: Price.of('80') },
      },
    };
    const crowd = new Crowd({ limit: '95.00', more }, 450);
    const sizes = crowd.quote('89.99', '90.01', '90.00');
    expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MOST);
    const { orders } = crowd.brokerage.state;
    expect([orders.size, [...orders.values()].every(({ progress }) => progress.status === 'ACTIVE')]).toEqual(
      [900, true],
    );
  });

  it('a restart and a replay between two parts continue with the rest', () => {
    const crowd = new Crowd({ limit: '95.00' }, 1100);
    const { rules } = crowd.brokerage;
    const quote = { symbol: 'AAPL', bid: Price.of('89.99'), ask: Price.of('90.01'), at: crowd.now };
    crowd.run<'UpdateMarket'>({ type: 'UpdateMarket', quotes: [quote], pushed: true });
    expect(crowd.brokerage.state.unmatched).toEqual(['AAPL']);
    const again = Brokerage.begin(rules, 42, crowd.parts[0]?.at ?? crowd.now);
    for (const { events, at } of crowd.parts) again.apply(events, at);
    expect(stateHash(again.state)).toBe(stateHash(crowd.brokerage.state));
    expect(again.nextDue()).toBe(crowd.now);
    const saved = JSON.parse(JSON.stringify(saveState(crowd.brokerage.state))) as ReturnType<
      typeof saveState
    >;
    crowd.brokerage = Brokerage.restore(rules, saved);
    crowd.brokerage.resume();
    crowd.rest();
    expect(crowd.executed).toEqual(first(1100));
  });

  /** Applies an action on the next day to 1,500 orders of one portfolio, with a restart after every part. Returns the updates of each part. */
  const actedOn = (crowd: Crowd, action: CorporateAction): number[] => {
    const { rules } = crowd.brokerage;
    crowd.run<'AnnounceActions'>({ type: 'AnnounceActions', actions: [action] });
    const before = crowd.parts.length;
    crowd.now = rules.calendar.instantOf(EX, 3, 0);
    for (
      let due = crowd.brokerage.nextDue();
      (due ?? Infinity) <= crowd.now;
      due = crowd.brokerage.nextDue()
    ) {
      const { events } = crowd.run<'AdvanceClock'>({ type: 'AdvanceClock' });
      if (!events.some(isOfOrder)) continue;
      expect(brokenInvariants(crowd.brokerage.state)).toEqual([]);
      const saved = JSON.stringify(saveState(crowd.brokerage.state));
      crowd.brokerage = Brokerage.restore(rules, JSON.parse(saved) as ReturnType<typeof saveState>);
      crowd.brokerage.resume();
    }
    const again = Brokerage.begin(rules, 42, crowd.parts[0]?.at ?? crowd.now);
    for (const { events, at } of crowd.parts) again.apply(events, at);
    expect(stateHash(again.state)).toBe(stateHash(crowd.brokerage.state));
    return crowd.parts.slice(before).map(({ events }) => events.filter(isOfOrder).length);
  };
  const GTC = { limit: '95.00', tif: 'GTC' } as const;
  const inAll = (crowd: Crowd): string[] => [
    ...new Set(
      [...crowd.brokerage.state.orders.values()].map(({ progress: { limitPrice, quantity } }) =>
        [Number(limitPrice) / 1e8, quantity / 1e6].join(),
      ),
    ),
  ];

  it('a dividend on 1,500 orders of one portfolio reduces each once, and is paid once', () => {
    const crowd = new Crowd({ quantity: 1 }, 1);
    expect(crowd.executed).toEqual([1]);
    crowd.place(GTC, 1500);
    const amountPerShare = Price.of('0.24');
    const sizes = actedOn(crowd, { type: 'CASH_DIVIDEND', symbol: 'AAPL', exDate: EX, amountPerShare });
    expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MOST);
    expect([inAll(crowd), crowd.brokerage.state.orders.size]).toEqual([['94.76,1'], 1500]);
    const paid = crowd.parts.flatMap(({ events }) => events.filter(({ type }) => type === 'DividendAccrued'));
    expect(paid).toHaveLength(1);
  });

  it('a forward split adjusts 1,500 orders of one portfolio once each, and its shares once', () => {
    const crowd = new Crowd({ quantity: 1 }, 1);
    crowd.place(GTC, 1500);
    const sizes = actedOn(crowd, { type: 'SPLIT', symbol: 'AAPL', exDate: EX, ratio: { new: 2, old: 1 } });
    expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MOST);
    expect([inAll(crowd), crowd.brokerage.state.orders.size]).toEqual([['47.5,2'], 1500]);
    const split = crowd.parts.flatMap(({ events }) => events.filter(({ type }) => type === 'PositionSplit'));
    expect(split).toMatchObject([{ settled: 0, pending: 2_000_000 }]);
  });

  it('a reverse split cancels 1,500 orders of one portfolio before it changes its shares', () => {
    const crowd = new Crowd({ quantity: 4 }, 1);
    crowd.place(GTC, 1500);
    const sizes = actedOn(crowd, { type: 'SPLIT', symbol: 'AAPL', exDate: EX, ratio: { new: 1, old: 2 } });
    expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(MOST);
    expect(crowd.brokerage.state.orders.size).toBe(0);
    const split = crowd.parts.flatMap(({ events }) => events.filter(({ type }) => type === 'PositionSplit'));
    expect(split).toMatchObject([{ pending: 2_000_000 }]);
  });
});
