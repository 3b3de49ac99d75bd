import { describe, expect, it } from 'vitest';
import { Brokerage } from '../../src/brokerage.js';
import type { Script, ScriptPiece } from '../../src/orders/script.js';
import { stateHash } from '../../src/state-hash.js';
import { testBroker, TestMarket } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { Instant } from '../../src/values/instant.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';
import { TradingDate } from '../../src/values/trading-date.js';

const delay = (ms: number) => ({ ms, text: `PT${ms / 1000}S` });
const piece = (quantity: number, price?: string, afterMs?: number): ScriptPiece => ({
  quantity: Quantity.of(quantity),
  ...(price !== undefined && { price: Price.of(price) }),
  ...(afterMs !== undefined && { after: delay(afterMs) }),
});
const fill = (pieces: ScriptPiece[], rest?: 'HOLD' | 'CANCEL'): Script => ({
  type: 'FILL',
  pieces,
  ...(rest !== undefined && { rest }),
});
const split = (m: TestMarket, ratio: { new: number; old: number }, exDate = '2026-01-06'): void => {
  m.execute<'AnnounceActions'>({
    type: 'AnnounceActions',
    actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: TradingDate.of(exDate), ratio }],
  });
};

function open(options: ConstructorParameters<typeof TestMarket>[0] & { fractions?: boolean } = {}) {
  const { fractions = true, ...others } = options;
  const broker = testBroker('default', { auctionOrders: true, fractionalShares: fractions });
  const m = new TestMarket({ ...others, rules: { brokers: new Map([['default', broker]]), scripts: true } });
  m.quote('AAPL', '99.99', '100.01', { last: '100.00' });
  return { m, portfolio: m.openPortfolio({ cash: 1_000_000 }) };
}

describe('a split restates what a script has left (D248)', () => {
  it('100 with ~fill:50,50@102@86400s, 50 done, 2:1: the rest is 100 @ 51.00', () => {
    const { m, portfolio } = open();
    const order = m.place(portfolio, {
      quantity: 100,
      tif: 'GTC',
      more: { clientOrderId: '~fill:50,50@102@86400s' },
    });
    expect(m.fills(order)).toEqual(['50 @ 100.01']);
    split(m, { new: 2, old: 1 });
    // 86,400 s of open time are 3 days, 16 h 30 min of sessions of 6 h 30 min: 6 h on the first day, 6 h 30 min on two, then 5 h.
    m.advanceTo('2026-01-08', 14, 29);
    expect(m.fills(order)).toHaveLength(1);
    m.advanceTo('2026-01-08', 14, 30);
    expect(m.fills(order)).toEqual(['50 @ 100.01', '100 @ 51']);
    expect(m.order(order)).toMatchObject({ status: 'FILLED', quantity: 200_000_000 });
  });

  it('50 in parts of 25, nothing done, 3:2 at a broker of whole shares: 37 and 38', () => {
    const { m, portfolio } = open({ fractions: false });
    m.script(fill([piece(25, '90', 3_600_000 * 7), piece(25, '90')]));
    const order = m.place(portfolio, { quantity: 50, tif: 'GTC' });
    split(m, { new: 3, old: 2 });
    m.advanceTo('2026-01-06', 16);
    expect(m.fills(order)).toEqual(['37 @ 60', '38 @ 60']);
  });

  it('percentages: totals up to each piece, rounded down, the last takes the rest', () => {
    const { m, portfolio } = open({ fractions: false });
    const later = { after: delay(3_600_000 * 7), price: Price.of('90') };
    m.script(fill([{ percent: 333_000 }, { percent: 333_000, ...later }, { percent: 334_000, ...later }]));
    const order = m.place(portfolio, { quantity: 75, tif: 'GTC' });
    // 33.3 % of 75 = 24.975
    expect(m.fills(order)).toEqual(['24 @ 100.01']);
    split(m, { new: 3, old: 2 });
    m.advanceTo('2026-01-06', 16);
    // Totals 24, 48, 75 times 1.5: 36, 72, 112.5; of 112 shares 36 are done.
    expect(m.order(order).quantity).toBe(112_000_000);
    expect(m.fills(order)).toEqual(['24 @ 100.01', '36 @ 60', '40 @ 60']);
  });

  it('prices round as the limit of the order: purchases down, sales up', () => {
    const { m, portfolio } = open();
    m.place(portfolio, { quantity: 100 });
    m.script(fill([piece(10, '100.05', 3_600_000 * 7)], 'HOLD'), { times: 0 });
    const buy = m.place(portfolio, { quantity: 10, tif: 'GTC' });
    const sell = m.place(portfolio, { quantity: 10, tif: 'GTC', intent: 'SELL_TO_CLOSE' });
    split(m, { new: 2, old: 1 });
    m.advanceTo('2026-01-06', 16);
    expect([m.fills(buy), m.fills(sell)]).toEqual([['20 @ 50.02'], ['20 @ 50.03']]);
  });

  it('a piece without a size stays the whole rest, the rest of the script stays, and match of the rule stays', () => {
    const { m, portfolio } = open();
    const rule = m.script(fill([{ after: delay(3_600_000 * 7) }], 'CANCEL'), {
      match: { symbol: 'AAPL', quantity: Quantity.of(10) },
      times: 0,
    });
    const order = m.place(portfolio, { quantity: 10, tif: 'GTC', limit: '99.00' });
    split(m, { new: 2, old: 1 });
    m.advanceTo('2026-01-06', 9, 30);
    m.quote('AAPL', '48.99', '49.00', { last: '49.00' });
    m.advanceTo('2026-01-06', 16);
    expect(m.fills(order)).toEqual(['20 @ 49']);
    expect(m.brokerage.state.outcomes.get(rule)?.match.quantity).toBe(Quantity.of(10));
  });

  it('an order that waits for the open has its whole script restated; dividends change no script', () => {
    const { m, portfolio } = open({ hour: 17 });
    m.script(fill([piece(5, '80'), piece(5, '82')]));
    const order = m.place(portfolio, { quantity: 10, tif: 'GTC', limit: '90.00' });
    split(m, { new: 4, old: 1 });
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [
        {
          type: 'CASH_DIVIDEND',
          symbol: 'AAPL',
          exDate: TradingDate.of('2026-01-06'),
          amountPerShare: Price.of('1'),
        },
      ],
    });
    m.advanceTo('2026-01-06', 9, 31);
    expect(m.fills(order)).toEqual(['20 @ 20', '20 @ 20.5']);
  });

  it('two splits, a halt, a smaller quantity and a restart in between: recovery and replay give the same state', () => {
    const { m, portfolio } = open();
    m.script(fill([piece(20), piece(30, '102', 3_600_000), piece(50, '104', 3_600_000 * 15)], 'HOLD'));
    const order = m.place(portfolio, { quantity: 100, tif: 'GTC' });
    m.halt('AAPL', 'T1', { forMs: 1_800_000 });
    split(m, { new: 2, old: 1 });
    split(m, { new: 3, old: 1 }, '2026-01-07');
    m.advanceTo('2026-01-06', 9, 0);
    m.restart();
    m.advanceTo('2026-01-07', 9, 30);
    m.advanceTo('2026-01-08', 16);
    expect(m.fills(order)).toEqual(['20 @ 100.01', '30 @ 102', '300 @ 17.33']);
    expect(m.brokerage.state.orders.size).toBe(0);
  });

  it('replaying the events of a restated script gives the state that deciding them gave', () => {
    const { m, portfolio } = open();
    const begin = m.now;
    m.script(fill([piece(10), piece(20, '102', 3_600_000 * 20)]));
    m.place(portfolio, { quantity: 40, tif: 'GTC' });
    split(m, { new: 2, old: 1 });
    m.advanceTo('2026-01-06', 12);
    const again = Brokerage.begin(m.brokerage.rules, 42, begin);
    for (const { events, at } of m.journal) again.apply(events, at);
    expect(stateHash(again.state)).toBe(stateHash(m.brokerage.state));
  });

  it('a reverse split cancels the order, its script included', () => {
    const { m, portfolio } = open();
    const order = m.place(portfolio, {
      quantity: 100,
      tif: 'GTC',
      more: { clientOrderId: '~fill:50@90@25200s,50' },
    });
    split(m, { new: 1, old: 3 });
    m.advanceTo('2026-01-06', 16);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'CORPORATE_ACTION' });
  });
});

describe('scripts of orders for an auction act in the auction (D248)', () => {
  const cls = (more: TestOrder = {}): TestOrder => ({ tif: 'CLS', ...more });
  const opg = (more: TestOrder = {}): TestOrder => ({ tif: 'OPG', ...more });
  const close = (m: TestMarket): void => {
    m.advanceTo('2026-01-05', 15, 59);
    m.quote('AAPL', '105.00', '105.02', { last: '105.01' });
    m.advanceTo('2026-01-05', 16, 1);
  };

  it('a scripted CLS order fills nothing in the session; due pieces fill at their price or the auction, others never', () => {
    const { m, portfolio } = open({ hour: 15 });
    m.script(fill([piece(2), piece(3, '101', 1_800_000), piece(4, '90', 3_600_001)]));
    const order = m.place(portfolio, cls());
    m.quote('AAPL', '99.99', '100.01');
    expect(m.waitingFor(order)).toBe('closing auction 2026-01-05T16:00:00-05:00');
    m.advanceTo('2026-01-05', 15, 58);
    expect(m.fills(order)).toEqual([]);
    close(m);
    expect(m.fills(order)).toEqual(['2 @ 105.01', '3 @ 101', '5 @ 105.01']);
    expect(m.executions(order).map(({ rule }) => rule)).toEqual(['SCRIPTED', 'SCRIPTED', 'CLOSING_AUCTION']);
    expect(m.time(m.executions(order)[0]?.executedAt)).toBe('2026-01-05T16:00:00-05:00');
  });

  it('then the rest: market takes the auction price, hold ends EXPIRED, cancel ends SCRIPTED', () => {
    const { m, portfolio } = open({ hour: 15 });
    const place = (rest?: 'HOLD' | 'CANCEL', more: TestOrder = {}): string => {
      m.script(fill([piece(4, '100')], rest));
      return m.place(portfolio, cls(more));
    };
    const [market, hold, cancel] = [place(), place('HOLD'), place('CANCEL')];
    const limited = place(undefined, { limit: '104.00' });
    close(m);
    expect(m.fills(market)).toEqual(['4 @ 100', '6 @ 105.01']);
    for (const [order, reason] of [
      [hold, 'EXPIRED'],
      [cancel, 'SCRIPTED'],
      [limited, 'EXPIRED'],
    ] as const) {
      expect(m.fills(order)).toEqual(['4 @ 100']);
      expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: reason });
    }
  });

  it('a piece is never worse than the limit', () => {
    const { m, portfolio } = open({ hour: 15 });
    m.script(fill([piece(4, '106'), piece(3)]));
    const order = m.place(portfolio, cls({ limit: '104.00', quantity: 7 }));
    close(m);
    expect(m.fills(order)).toEqual(['4 @ 104', '3 @ 104']);
  });

  it('of OPG orders only pieces without a time are due', () => {
    const { m, portfolio } = open({ hour: 8 });
    m.script(fill([piece(2), piece(3, '101'), piece(4, '90', 1)], 'CANCEL'));
    const order = m.place(portfolio, opg());
    expect(m.waitingFor(order)).toBe('opening auction 2026-01-05T09:30:00-05:00');
    m.advanceTo('2026-01-05', 9, 31);
    expect(m.fills(order)).toEqual([]);
    m.quote('AAPL', '101.99', '102.01', { last: '102.00' });
    expect(m.fills(order)).toEqual(['2 @ 102', '3 @ 101']);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'SCRIPTED' });
  });

  it('time stands still while trading is halted: what is not due by the auction never comes', () => {
    const { m, portfolio } = open({ hour: 15 });
    m.script(fill([piece(4, '100', 3_000_000)], 'CANCEL'), { times: 2 });
    const [halted, later] = [m.place(portfolio, cls()), m.place(portfolio, cls())];
    m.advanceTo('2026-01-05', 15, 10);
    m.halt('AAPL', 'T1', { forMs: 600_000 });
    m.advanceTo('2026-01-05', 15, 21);
    // 60 minutes less 10 of the halt are the 50 minutes that the piece requires.
    close(m);
    expect([m.fills(halted), m.fills(later)]).toEqual([['4 @ 100'], ['4 @ 100']]);
    const second = open({ hour: 15 });
    second.m.script(fill([piece(4, '100', 3_000_001)], 'CANCEL'));
    const never = second.m.place(second.portfolio, cls());
    second.m.advanceTo('2026-01-05', 15, 10);
    second.m.halt('AAPL', 'T1', { forMs: 600_000 });
    close(second.m);
    expect(second.m.fills(never)).toEqual([]);
    expect(second.m.order(never)).toMatchObject({ status: 'CANCELED', cancelReason: 'SCRIPTED' });
  });

  it('where no auction price comes, the order ends EXPIRED, scripted or not', () => {
    const { m, portfolio } = open({ hour: 15 });
    m.script(fill([piece(4, '100')]));
    const order = m.place(portfolio, cls());
    m.halt('AAPL', 'T1');
    m.advanceTo('2026-01-05', 16, 1);
    expect(m.fills(order)).toEqual([]);
    expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });

  it('a hold that is over by the auction, or whose rule is deleted, takes part; any other ends EXPIRED', () => {
    const { m, portfolio } = open({ hour: 15 });
    const hold = (lasts?: number): string => {
      m.script({ type: 'HOLD', ...(lasts !== undefined && { lasts: delay(lasts) }) });
      return m.place(portfolio, cls());
    };
    const [over, notOver, deleted] = [hold(3_600_000), hold(3_600_001), hold()];
    m.unscript(3);
    const held = hold();
    close(m);
    expect([m.fills(over), m.fills(deleted)]).toEqual([['10 @ 105.01'], ['10 @ 105.01']]);
    for (const order of [notOver, held])
      expect(m.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
  });

  it('an order that fills when it is canceled fills in its auction', () => {
    const { m, portfolio } = open({ hour: 15 });
    m.script({ type: 'ON_CANCEL', effect: 'FILL' });
    const order = m.place(portfolio, cls());
    m.cancel(order);
    m.advanceMs(1000);
    expect(m.order(order)).toMatchObject({ status: 'CANCELING', filledQuantity: 0 });
    close(m);
    expect(m.fills(order)).toEqual(['10 @ 105.01']);
  });

  it('a split before the auction restates its pieces', () => {
    const { m, portfolio } = open({ hour: 20 });
    m.script(fill([piece(4, '100')]));
    const order = m.place(portfolio, cls());
    split(m, { new: 2, old: 1 });
    m.advanceTo('2026-01-06', 15, 59);
    m.quote('AAPL', '52.50', '52.52', { last: '52.51' });
    m.advanceTo('2026-01-06', 16, 1);
    expect(m.fills(order)).toEqual(['8 @ 50', '12 @ 52.51']);
  });

  it('the official close after the bell: the pieces happen with it', () => {
    const { m, portfolio } = open({ hour: 15 });
    m.script(fill([piece(4), piece(3, '100', 3_600_000)]));
    const order = m.place(portfolio, cls());
    m.advanceTo('2026-01-05', 15, 59);
    const quote = { symbol: 'AAPL', bid: Price.of('105'), ask: Price.of('105.1'), at: m.now };
    m.execute<'UpdateMarket'>({
      type: 'UpdateMarket',
      quotes: [{ ...quote, closeToCome: true }],
      pushed: false,
    });
    m.advanceTo('2026-01-05', 16);
    expect(m.fills(order)).toEqual([]);
    m.execute<'UpdateMarket'>({
      type: 'UpdateMarket',
      quotes: [{ ...quote, close: Price.of('106'), at: Instant.plusMs(m.now, 0) }],
      pushed: false,
    });
    expect(m.fills(order)).toEqual(['4 @ 106', '3 @ 100', '3 @ 106']);
  });
});
