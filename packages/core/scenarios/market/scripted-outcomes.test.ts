import { describe, expect, it } from 'vitest';
import type { Script, ScriptPiece } from '../../src/orders/script.js';
import { stateHash } from '../../src/state-hash.js';
import { testBroker, TestMarket } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';

const delay = (ms: number) => ({ ms, text: `PT${ms / 1000}S` });
const percent = (share: number, more: Omit<ScriptPiece, 'percent'> = {}): ScriptPiece => ({
  percent: share * 10_000,
  ...more,
});
const fill = (...pieces: ScriptPiece[]): Script => ({ type: 'FILL', pieces });

/** Monday 2026-01-05, 10:00 by default; AAPL at 149.99 – 150.01. */
function open(options: ConstructorParameters<typeof TestMarket>[0] = {}) {
  const m = new TestMarket(options);
  m.quote('AAPL', '149.99', '150.01', { last: '150.00', bidSize: 5, askSize: 5 });
  return { m, portfolio: m.openPortfolio() };
}

describe('a scripted refusal (D175)', () => {
  it('refuses a create with the code and figures of the script, and keeps the request in the journal', () => {
    const { m, portfolio } = open();
    m.script({
      type: 'REJECT',
      refusal: { code: 'SCRIPTED', shownAs: 'INSUFFICIENT_FUNDS', figures: { availableCash: 5 } },
    });
    expect(m.submit(portfolio, {})).toEqual({
      code: 'SCRIPTED',
      shownAs: 'INSUFFICIENT_FUNDS',
      figures: { availableCash: 5, requiredAmount: 1575.11 },
    });
    const record = m.journal.at(-1);
    expect(record?.command).toMatchObject({ type: 'SubmitOrder', order: { symbol: 'AAPL' } });
    expect(record?.events.map(({ type }) => type)).toEqual(['OutcomeMet', 'OrderRefused']);
    expect(typeof m.submit(portfolio, {})).toBe('string');
  });

  it('meets only orders that would be accepted', () => {
    const { m, portfolio } = open();
    const rule = m.script({ type: 'ERROR' });
    expect(m.submit(portfolio, { quantity: 1_000_000 })).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    expect(m.brokerage.state.outcomes.get(rule)?.used).toBe(0);
  });

  it('rejects after its delay and releases the reservation', () => {
    const { m, portfolio } = open();
    const refusal = { code: 'SCRIPTED', shownAs: 'NOT_SHORTABLE' } as const;
    m.script({ type: 'REJECT_LATER', refusal, after: delay(2000) });
    const order = m.place(portfolio, {});
    m.advanceMs(1999);
    expect(m.order(order).status).toBe('PENDING');
    m.advanceMs(1);
    expect(m.order(order)).toMatchObject({ status: 'REJECTED', rejectReason: refusal, reserved: 0 });
  });

  it('rejects right after the acknowledgement without a delay, including the exits of a bracket', () => {
    const { m, portfolio } = open();
    m.script({ type: 'REJECT_LATER', refusal: { code: 'SCRIPTED', shownAs: 'NOT_SHORTABLE' } });
    const order = m.place(portfolio, {
      more: { bracketConfig: { profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('160') } } },
    });
    expect(m.order(order).status).toBe('REJECTED');
    expect(m.brokerage.state.orders.size).toBe(0);
  });

  it('ends an order in ERROR with its message', () => {
    const { m, portfolio } = open();
    m.script({ type: 'ERROR', message: 'the venue is gone' });
    const order = m.place(portfolio, {});
    expect(m.order(order)).toMatchObject({
      status: 'ERROR',
      reserved: 0,
      rejectReason: { shownAs: 'SCRIPTED_ERROR', message: 'the venue is gone' },
    });
  });
});

describe('scripted fills (D175)', () => {
  it('execute as written, in order, counted from reaching the market, without displayed size', () => {
    const { m, portfolio } = open();
    m.script(
      fill(percent(30, { after: delay(1000) }), percent(70, { after: delay(5000), price: Price.of('151') })),
    );
    const order = m.place(portfolio, { quantity: 100 });
    expect(m.waitingFor(order)).toMatch(/^held by outcome [0-9a-f-]{36}$/);
    m.advanceMs(1000);
    expect(m.fills(order)).toEqual(['30 @ 150.01']);
    expect(m.executions(order)[0]).toMatchObject({ rule: 'SCRIPTED' });
    m.advanceMs(3999);
    expect(m.fills(order)).toHaveLength(1);
    m.advanceMs(1);
    expect(m.fills(order)).toEqual(['30 @ 150.01', '70 @ 151']);
    // The five displayed shares are still available.
    expect(m.fills(m.place(portfolio, { quantity: 5 }))).toEqual(['5 @ 150.01']);
  });

  it('are never worse than the limit', () => {
    const { m, portfolio } = open();
    m.script(fill(percent(50, { price: Price.of('155') }), percent(50)), { times: 0 });
    expect(m.fills(m.place(portfolio, { limit: '149.00' }))).toEqual(['5 @ 149', '5 @ 149']);
    expect(m.fills(m.place(portfolio, { limit: '152.00' }))).toEqual(['5 @ 152', '5 @ 150.01']);
  });

  it('round down to whole shares, and the last piece gets the remainder', () => {
    const { m, portfolio } = open();
    m.script(fill(percent(33.3), percent(33.3), percent(33.4)), { times: 0 });
    expect(m.fills(m.place(portfolio, {})).map((text) => text.split(' ')[0])).toEqual(['3', '3', '4']);
    expect(m.fills(m.place(portfolio, { quantity: 1 }))).toEqual(['1 @ 150.01']);
    const parts = m.fills(m.place(portfolio, { quantity: '1.5' }));
    expect(parts.map((text) => text.split(' ')[0])).toEqual(['0.4995', '0.4995', '0.501']);
  });

  it('fill no more than the order has', () => {
    const { m, portfolio } = open();
    m.script(fill({ quantity: Quantity.of(8) }, { quantity: Quantity.of(8) }));
    expect(m.fills(m.place(portfolio, {}))).toEqual(['8 @ 150.01', '2 @ 150.01']);
  });

  it('leave the rest to the market, hold it or cancel it', () => {
    const { m, portfolio } = open();
    const limited: TestOrder = { limit: '149.00' };
    m.script(fill(percent(30)));
    const goesOn = m.place(portfolio, limited);
    m.script({ ...fill(percent(30)), rest: 'HOLD' } as Script);
    const held = m.place(portfolio, limited);
    m.script({ ...fill(percent(30)), rest: 'CANCEL' } as Script);
    const canceled = m.place(portfolio, limited);
    expect(m.waitingFor(goesOn)).toBe('ask 150.01 above limit 149.00');
    expect(m.order(canceled)).toMatchObject({ status: 'CANCELED', cancelReason: 'SCRIPTED' });
    m.quote('AAPL', '147.99', '148.00');
    expect(m.fills(goesOn)).toEqual(['3 @ 149', '7 @ 149']);
    expect([m.order(held).status, m.fills(held).length]).toEqual(['ACTIVE', 1]);
    expect(m.unscript()).toBe(3);
    m.advanceMs(0);
    expect(m.order(held).status).toBe('FILLED');
  });

  it('wait for the first quote without a given price, and for none with one', () => {
    const m = new TestMarket();
    const portfolio = m.openPortfolio();
    m.script(fill(percent(50, { price: Price.of('20') }), percent(50)));
    const order = m.place(portfolio, { symbol: 'F' });
    expect(m.fills(order)).toEqual(['5 @ 20']);
    m.quote('F', '11.99', '12.01');
    expect(m.fills(order)).toEqual(['5 @ 20', '5 @ 12.01']);
  });

  it('replace a trigger: a partly filled stop counts as triggered', () => {
    const { m, portfolio } = open();
    m.place(portfolio, { quantity: 10 });
    m.script(fill(percent(50)));
    const stop = m.place(portfolio, { intent: 'SELL_TO_CLOSE', type: 'STOP', stop: '100.00', quantity: 5 });
    expect(m.fills(stop)).toEqual(['2 @ 149.99', '3 @ 149.99']);
  });

  it('pause while trading is halted, even with overlapping halts', () => {
    const { m, portfolio } = open();
    m.script(
      fill(
        percent(50, { after: delay(60_000) }),
        percent(50, { after: delay(120_000), price: Price.of('150') }),
      ),
    );
    const order = m.place(portfolio, {});
    m.advanceMs(30_000);
    m.halt('AAPL', 'T1');
    m.advanceMs(600_000);
    m.halt('*', 'T1');
    m.lift('AAPL');
    m.advanceMs(600_000);
    expect(m.waitingFor(order)).toMatch('trading in AAPL is halted');
    m.lift('*');
    m.quote('AAPL', '149.99', '150.01');
    m.advanceMs(29_999);
    expect(m.fills(order)).toEqual([]);
    m.advanceMs(1);
    expect(m.fills(order)).toEqual(['5 @ 150.01']);
    m.advanceMs(60_000);
    expect(m.fills(order)).toEqual(['5 @ 150.01', '5 @ 150']);
  });

  it('pause while the market is closed', () => {
    const { m, portfolio } = open({ hour: 15, minute: 59 });
    m.script(fill(percent(100, { after: delay(120_000), price: Price.of('150') })));
    const order = m.place(portfolio, { tif: 'GTC' });
    m.advanceTo('2026-01-06', 9, 30);
    expect(m.waitingFor(order)).toMatch('held by outcome');
    m.advanceMs(59_999);
    expect(m.fills(order)).toEqual([]);
    m.advanceMs(1);
    expect(m.fills(order)).toEqual(['10 @ 150']);
  });

  it('fill an IOC with the pieces without a delay, and a FOK only whole and at once', () => {
    const { m, portfolio } = open();
    m.script(fill(percent(30), percent(70, { after: delay(1) })), { times: 0 });
    const ioc = m.place(portfolio, { tif: 'IOC' });
    expect(m.fills(ioc)).toEqual(['3 @ 150.01']);
    expect(m.order(ioc)).toMatchObject({ status: 'CANCELED', cancelReason: 'IOC_REMAINDER' });
    const fok = m.place(portfolio, { tif: 'FOK' });
    expect(m.order(fok)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'FOK_NOT_FILLABLE',
      filledQuantity: 0,
    });
    m.unscript();
    m.script(fill(percent(30), percent(70)));
    expect(m.order(m.place(portfolio, { tif: 'FOK', quantity: 100 })).status).toBe('FILLED');
  });

  it('check funds and positions as ever', () => {
    const { m, portfolio } = open();
    m.script(fill(percent(100, { price: Price.of('20000') })));
    expect(m.order(m.place(portfolio, {}))).toMatchObject({
      status: 'REJECTED',
      rejectReason: { code: 'INSUFFICIENT_FUNDS' },
    });
  });

  it('of a multi-leg order execute all legs, at the touches or at the net that is written', () => {
    const { m } = open();
    const [low, high] = ['AAPL260116C00150000', 'AAPL260116C00160000'];
    m.quote(low, '4.00', '4.10');
    m.quote(high, '1.00', '1.10');
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    m.script(fill(percent(50), percent(50, { price: Price.of('2.95') })));
    const order = m.place(portfolio, {
      quantity: 4,
      limit: '3.20',
      more: {
        assetClass: 'OPTION',
        strategy: 'VERTICAL_SPREAD',
        legs: [
          { optionSymbol: low, positionIntent: 'BUY_TO_OPEN', quantity: Quantity.of(1) },
          { optionSymbol: high, positionIntent: 'SELL_TO_OPEN', quantity: Quantity.of(1) },
        ],
      },
    });
    expect(m.executions(order).map(({ price, rule }) => `${Price.format(price)} ${rule}`)).toEqual([
      '4.1 SCRIPTED',
      '1 SCRIPTED',
      '4.1 SCRIPTED',
      '1.15 SCRIPTED',
    ]);
  });

  it('size an order for an amount by the price of the piece', () => {
    const { m, portfolio } = open();
    m.script(fill(percent(100, { price: Price.of('200') })));
    const order = m.place(portfolio, { notional: '1000.00' });
    expect(m.fills(order)).toEqual(['5 @ 200']);
  });

  it('work the exits of a bracket as the entry fills', () => {
    const { m, portfolio } = open();
    m.script(fill(percent(30), percent(70, { after: delay(1000) })));
    m.place(portfolio, {
      more: { bracketConfig: { profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('160') } } },
    });
    const exit = [...m.brokerage.state.orders.values()].find(
      ({ terms }) => terms.bracket?.part === 'PROFIT_TARGET',
    );
    expect(exit?.progress).toMatchObject({ status: 'ACTIVE', quantity: Quantity.of(3) });
    m.advanceMs(1000);
    expect(exit?.progress.quantity).toBe(Quantity.of(10));
  });

  it('continue unchanged after a restart', () => {
    const run = (restarts: boolean): string => {
      const { m, portfolio } = open();
      m.script(fill(percent(30, { after: delay(1000) }), percent(30, { after: delay(70_000) })), {
        times: 2,
        skip: 1,
      });
      for (let i = 0; i < 4; i++) m.place(portfolio, { limit: '140.00' });
      m.advanceMs(2000);
      if (restarts) m.restart();
      m.halt('AAPL', 'LUDP');
      m.advanceMs(400_000);
      if (restarts) m.restart();
      m.quote('AAPL', '149.99', '150.01');
      m.advanceMs(80_000);
      return stateHash(m.brokerage.state);
    };
    expect(run(true)).toBe(run(false));
  });
});

describe('a held order (D175)', () => {
  it('fills nothing until its time is over', () => {
    const { m, portfolio } = open();
    m.script({ type: 'HOLD', lasts: delay(10_000) });
    const order = m.place(portfolio, {});
    m.quote('AAPL', '149.99', '150.01');
    m.advanceMs(9_999);
    expect([m.order(order).status, m.waitingFor(order)]).toEqual([
      'ACTIVE',
      expect.stringMatching('held by outcome'),
    ]);
    m.advanceMs(1);
    expect(m.fills(order)).toEqual(['10 @ 150.01']);
  });

  it('without a time resumes when its rule is deleted, even before the open', () => {
    const { m, portfolio } = open({ hour: 8 });
    const rule = m.script({ type: 'HOLD' }, { times: 0 });
    const early = m.place(portfolio, {});
    m.advanceTo('2026-01-05', 9, 31);
    m.quote('AAPL', '149.99', '150.01');
    const late = m.place(portfolio, {});
    expect([m.fills(early), m.fills(late)]).toEqual([[], []]);
    expect(m.unscript(rule)).toBe(1);
    m.advanceMs(0);
    expect([m.fills(early), m.fills(late)]).toEqual([['10 @ 150.01'], ['10 @ 150.01']]);
  });

  it('expires, is canceled and is reset like any other', () => {
    const { m, portfolio } = open();
    m.script({ type: 'HOLD' }, { times: 0 });
    const [expires, canceled] = [m.place(portfolio, {}), m.place(portfolio, {})];
    expect(m.cancel(canceled)).toBeUndefined();
    m.advanceTo('2026-01-05', 16, 1);
    expect([m.order(expires).cancelReason, m.order(canceled).cancelReason]).toEqual(['EXPIRED', 'USER']);
    expect(m.brokerage.state.scripted.size).toBe(0);
  });
});

describe('a scripted cancel (D175)', () => {
  it('fills the order, is ignored, or is refused', () => {
    const { m, portfolio } = open();
    const place = (effect: 'FILL' | 'IGNORE' | 'REJECT') => {
      m.script({ type: 'ON_CANCEL', effect });
      return m.place(portfolio, { limit: '140.00' });
    };
    const [fills, ignores, rejects] = [place('FILL'), place('IGNORE'), place('REJECT')];
    expect(m.cancel(fills)).toBeUndefined();
    expect(m.order(fills).status).toBe('CANCELING');
    m.advanceMs(0);
    expect(m.fills(fills)).toEqual(['10 @ 140']);
    expect(m.cancel(ignores)).toBeUndefined();
    m.advanceMs(60_000);
    expect(m.order(ignores).status).toBe('CANCELING');
    expect(m.cancel(rejects)).toMatchObject({ code: 'ORDER_NOT_UPDATABLE', status: 'ACTIVE' });
    m.advanceTo('2026-01-05', 16, 1);
    expect([m.order(ignores).cancelReason, m.order(rejects).cancelReason]).toEqual(['EXPIRED', 'EXPIRED']);
  });

  it('fills an order that waits for the open once that has come', () => {
    const { m, portfolio } = open({ hour: 8 });
    m.script({ type: 'ON_CANCEL', effect: 'FILL' });
    const order = m.place(portfolio, {});
    expect(m.cancel(order)).toBeUndefined();
    m.advanceTo('2026-01-05', 9, 31);
    expect(m.order(order).status).toBe('CANCELING');
    m.quote('AAPL', '149.99', '150.01');
    expect(m.fills(order)).toEqual(['10 @ 150.01']);
  });

  it('races its latency: the order fills when the cancel arrives', () => {
    const { m, portfolio } = open();
    m.script({ type: 'ON_CANCEL', effect: 'FILL' });
    const order = m.place(portfolio, { limit: '140.00', more: { latencyProfile: 'CUSTOM', latencyMs: 100 } });
    m.advanceMs(100);
    m.cancel(order);
    m.advanceMs(99);
    expect(m.order(order).status).toBe('CANCELING');
    m.advanceMs(1);
    expect(m.order(order).status).toBe('FILLED');
  });

  it('applies to cancel-all, which skips orders that refuse', () => {
    const { m, portfolio } = open();
    for (const effect of ['FILL', 'IGNORE', 'REJECT'] as const) {
      m.script({ type: 'ON_CANCEL', effect });
      m.place(portfolio, { limit: '140.00' });
    }
    const { result } = m.execute<'CancelAccountOrders'>({
      type: 'CancelAccountOrders',
      by: m.by,
      accountId: '11111111-1111-4111-8111-111111111111',
    });
    expect('code' in result ? result : result.map(({ progress }) => progress.status)).toEqual([
      'CANCELING',
      'CANCELING',
    ]);
    m.execute<'ResetPortfolio'>({ type: 'ResetPortfolio', by: m.by, portfolioId: portfolio });
    expect(m.brokerage.state.orders.size).toBe(0);
  });
});

describe('outcome rules (D175)', () => {
  it('match by every field that is given, pass over and count; the oldest live one wins', () => {
    const { m, portfolio } = open();
    const rule = m.script(
      { type: 'ERROR' },
      { match: { symbol: 'AAPL', clientOrderId: 'a-*' }, skip: 1, times: 2 },
    );
    const other = m.script({ type: 'HOLD' }, { match: { quantity: Quantity.of(10) }, times: 0 });
    const place = (id: string, more: TestOrder = {}) =>
      m.order(m.place(portfolio, { ...more, more: { clientOrderId: id } })).status;
    expect([place('a-1'), place('b-1'), place('a-2'), place('a-3'), place('a-4')]).toEqual([
      'ACTIVE',
      'ACTIVE',
      'ERROR',
      'ERROR',
      'ACTIVE',
    ]);
    expect(place('a-5', { quantity: 1 })).toBe('FILLED');
    expect(m.brokerage.state.outcomes.get(rule)).toMatchObject({ passed: 1, used: 2 });
    expect(m.brokerage.state.outcomes.get(other)).toMatchObject({ used: 3 });
  });

  it('are at most 1,000: used ones make room, live ones do not', () => {
    const { m, portfolio } = open();
    m.script({ type: 'ERROR' });
    for (let i = 1; i < 1000; i++) m.script({ type: 'ERROR' }, { match: { symbol: 'F' } });
    expect(() => m.script({ type: 'ERROR' })).toThrow('a simulation has at most 1000 outcomes');
    m.place(portfolio, {});
    expect(m.script({ type: 'ERROR' })).toBe(1001);
    expect(m.brokerage.state.outcomes.has(1)).toBe(false);
  });
});

describe('orders for an auction (D175, D180)', () => {
  it('join the auction only after their script releases them', () => {
    const brokers = new Map([['default', testBroker('default', { auctionOrders: true })]]);
    const { m, portfolio } = open({ hour: 15, rules: { brokers } });
    m.script({ type: 'HOLD' });
    const held = m.place(portfolio, { tif: 'CLS' });
    m.script(fill(percent(50, { price: Price.of('100') })));
    const part = m.place(portfolio, { tif: 'CLS' });
    m.advanceTo('2026-01-05', 16, 1);
    expect(m.order(held)).toMatchObject({ status: 'CANCELED', cancelReason: 'EXPIRED' });
    expect(m.fills(part)).toEqual(['5 @ 100', '5 @ 150']);
  });
});
