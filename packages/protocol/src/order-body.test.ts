import { describe, expect, it } from 'vitest';
import { orderTypes, strategyLegCounts } from './enums.js';
import { BatchOrdersBody, CreateOrderBody, UpdateOrderBody } from './order-body.js';
import { limitOrder, marketOrder, verticalSpread, without } from './testing/order.js';
import { validateBody } from './validate.js';

const judge = (body: unknown): string[] => {
  const result = validateBody(CreateOrderBody, body);
  return result.ok ? [] : result.messages;
};

describe('CreateOrderBody', () => {
  it('accepts limit orders, market orders and spreads', () => {
    expect(validateBody(CreateOrderBody, limitOrder)).toEqual({ ok: true, value: limitOrder });
    expect(judge(marketOrder)).toEqual([]);
    expect(judge(verticalSpread)).toEqual([]);
  });

  it('reports every missing field of an empty body', () => {
    expect(judge({})).toEqual([
      'portfolioId must be a UUID',
      'symbol must be a string',
      'assetClass must be one of EQUITY, OPTION, FUTURE',
      'orderType must be one of MARKET, LIMIT, STOP, STOP_LIMIT, TRAILING_STOP, TRAILING_STOP_LIMIT',
      'positionIntent must be one of BUY_TO_OPEN, BUY_TO_CLOSE, SELL_TO_OPEN, SELL_TO_CLOSE',
      'quantity must be a positive number',
      'timeInForce must be one of DAY, GTC, IOC, FOK, GTD, OPG, CLS',
    ]);
  });

  it('reports errors in field order, regardless of their rule', () => {
    expect(
      judge({ ...marketOrder, quantity: '10', limitPrice: 1, latencyMs: 5, session: 'EXTENDED', foo: 1 }),
    ).toEqual([
      'quantity must be a positive number',
      'limitPrice should not exist for MARKET orders',
      'latencyMs should only exist with latencyProfile CUSTOM',
      'session EXTENDED is only allowed for LIMIT orders',
      'property foo should not exist',
    ]);
  });
});

describe('Notes of an order', () => {
  it('accept 4,000 code points of any UTF-16 length, with line breaks and tabs', () => {
    const notes = `${'📈'.repeat(3_997)}a\n\t`;
    expect(validateBody(CreateOrderBody, { ...limitOrder, notes })).toMatchObject({
      ok: true,
      value: { notes },
    });
  });

  it.each([
    ['x'.repeat(4_001), 'notes must be at most 4000 characters'],
    ['📈'.repeat(4_001), 'notes must be at most 4000 characters'],
    [' \n', 'notes should not be empty'],
    ['a\u0000b', 'notes must not contain control characters'],
    [7, 'notes must be a string'],
  ])('refuse %.10j', (notes, message) => {
    expect(judge({ ...limitOrder, notes })).toEqual([message]);
  });

  it('cannot be changed by an update', () => {
    expect(validateBody(UpdateOrderBody, { limitPrice: 1, notes: 'no' })).toEqual({
      ok: false,
      messages: ['property notes should not exist'],
    });
  });
});

describe('Prices by order type', () => {
  const base = without(limitOrder, 'limitPrice', 'orderType');
  const prices = { limitPrice: 10, stopPrice: 11, trailingAmount: 1 };
  const needs = {
    MARKET: [],
    LIMIT: ['limitPrice'],
    STOP: ['stopPrice'],
    STOP_LIMIT: ['limitPrice', 'stopPrice'],
    TRAILING_STOP: ['trailingAmount'],
    TRAILING_STOP_LIMIT: ['limitPrice', 'trailingAmount'],
  } as const;
  const missing = {
    limitPrice: 'limitPrice must be a number',
    stopPrice: 'stopPrice must be a positive number',
    trailingAmount: 'trailingAmount or trailingPercent must be a positive number',
  };

  it.each(orderTypes)('are required and allowed as order type %s defines', (orderType) => {
    const needed: readonly string[] = needs[orderType];
    expect(judge({ ...base, orderType })).toEqual(
      Object.entries(missing).flatMap(([name, message]) => (needed.includes(name) ? [message] : [])),
    );
    expect(judge({ ...base, orderType, ...prices })).toEqual(
      Object.keys(prices).flatMap((name) =>
        needed.includes(name) ? [] : [`${name} should not exist for ${orderType} orders`],
      ),
    );
  });

  it('trails by an amount or by a percentage', () => {
    const trailing = { ...base, orderType: 'TRAILING_STOP' };
    expect(judge({ ...trailing, trailingPercent: 2.5 })).toEqual([]);
    expect(judge({ ...trailing, trailingAmount: 1, trailingPercent: 2.5 })).toEqual([
      'trailingPercent should not exist together with trailingAmount',
    ]);
    expect(judge({ ...trailing, trailingPercent: 100 })).toEqual(['trailingPercent must be less than 100']);
    expect(judge({ ...trailing, trailingPercent: 0.00001 })).toEqual([
      'trailingPercent must have at most 4 decimal places',
    ]);
  });

  it.each<[unknown, string]>([
    ['10', 'limitPrice must be a number'],
    [null, 'limitPrice must be a number'],
    [0, 'limitPrice must be a positive number'],
    [-1, 'limitPrice must be a positive number'],
    [1e7 + 1, 'limitPrice must not be greater than 10000000'],
    [0.123456789, 'limitPrice must have at most 8 decimal places'],
  ])('a limit price of %j is refused', (limitPrice, message) => {
    expect(judge({ ...limitOrder, limitPrice })).toEqual([message]);
  });
});

describe('Time in force, session and latency', () => {
  it('GTD and goodTillDate belong together', () => {
    expect(judge({ ...limitOrder, timeInForce: 'GTD' })).toEqual([
      'goodTillDate must be an ISO 8601 date or date-time',
    ]);
    expect(judge({ ...limitOrder, timeInForce: 'GTD', goodTillDate: '2026-02-01' })).toEqual([]);
    expect(judge({ ...limitOrder, timeInForce: 'GTD', goodTillDate: '2026-02-01T15:00:00-05:00' })).toEqual(
      [],
    );
    expect(judge({ ...limitOrder, goodTillDate: '2026-02-01' })).toEqual([
      'goodTillDate should only exist for GTD orders',
    ]);
    expect(judge({ ...limitOrder, timeInForce: 'GTD', goodTillDate: '2026-02-30' })).toHaveLength(1);
  });

  it('EXTENDED is allowed only for LIMIT orders with DAY or GTC', () => {
    expect(judge({ ...limitOrder, session: 'EXTENDED' })).toEqual([]);
    expect(judge({ ...limitOrder, session: 'EXTENDED', timeInForce: 'GTC' })).toEqual([]);
    expect(judge({ ...marketOrder, session: 'EXTENDED', timeInForce: 'IOC' })).toEqual([
      'session EXTENDED is only allowed for LIMIT orders',
      'session EXTENDED is only allowed for DAY and GTC orders',
    ]);
    expect(judge({ ...limitOrder, session: 'OVERNIGHT' })).toEqual(['session must be REGULAR or EXTENDED']);
  });

  it.each(['20260201', '2026-032', '2026-W05-7', '2026-02-01T15:00', '20260201T153000Z', '2026-02-01T15-05'])(
    'goodTillDate accepts every date and date-time of ISO 8601 (D156): %s',
    (goodTillDate) => {
      expect(judge({ ...limitOrder, timeInForce: 'GTD', goodTillDate })).toEqual([]);
    },
  );

  it('latencyMs is allowed only with CUSTOM, and is optional (D154)', () => {
    expect(judge({ ...limitOrder, latencyProfile: 'CUSTOM', latencyMs: 0 })).toEqual([]);
    expect(judge({ ...limitOrder, latencyProfile: 'CUSTOM' })).toEqual([]);
    expect(judge({ ...limitOrder, latencyProfile: 'RETAIL', latencyMs: 5 })).toEqual([
      'latencyMs should only exist with latencyProfile CUSTOM',
    ]);
  });
});

describe('strategies', () => {
  it.each(Object.keys(strategyLegCounts) as (keyof typeof strategyLegCounts)[])(
    '%s requires its number of legs',
    (strategy) => {
      const legs = Array.from({ length: 4 }, () => verticalSpread.legs[0]);
      for (const n of [2, 3, 4]) {
        expect(judge({ ...verticalSpread, strategy, legs: legs.slice(0, n) })).toEqual(
          n === strategyLegCounts[strategy]
            ? []
            : [`legs must contain exactly ${strategyLegCounts[strategy]} legs for ${strategy}`],
        );
      }
    },
  );

  it('CUSTOM accepts two to four legs (D270)', () => {
    const legs = Array.from({ length: 5 }, () => verticalSpread.legs[0]);
    const judged = (n: number) => judge({ ...verticalSpread, strategy: 'CUSTOM', legs: legs.slice(0, n) });
    expect([2, 3, 4].map(judged)).toEqual([[], [], []]);
    expect([1, 5].map(judged)).toEqual([
      ['legs must contain 2 to 4 elements'],
      ['legs must contain 2 to 4 elements'],
    ]);
    expect(judge({ ...without(verticalSpread, 'legs'), strategy: 'CUSTOM' })).toEqual([
      'legs must contain 2 to 4 legs for CUSTOM',
    ]);
  });

  it('refuses impossible lists of legs', () => {
    expect(judge({ ...verticalSpread, legs: [] })).toEqual(['legs must contain 2 to 4 elements']);
    expect(judge({ ...verticalSpread, legs: {} })).toEqual(['legs must be an array']);
    expect(judge(without(verticalSpread, 'legs'))).toEqual([
      'legs must contain exactly 2 legs for VERTICAL_SPREAD',
    ]);
    expect(judge({ ...verticalSpread, legs: [{ quantity: 1.5 }, null] })).toEqual([
      'legs.0.optionSymbol must be a string',
      'legs.0.positionIntent must be one of BUY_TO_OPEN, BUY_TO_CLOSE, SELL_TO_OPEN, SELL_TO_CLOSE',
      'legs.0.quantity must be a whole number',
      'legs.1 must be an object',
    ]);
  });

  it('requires a strategy for legs, and option orders for both', () => {
    expect(judge(without(verticalSpread, 'strategy'))).toEqual([
      'strategy must be one of VERTICAL_SPREAD, IRON_CONDOR, BUTTERFLY, CALENDAR_SPREAD, STRADDLE, STRANGLE, CUSTOM',
    ]);
    expect(judge({ ...verticalSpread, assetClass: 'EQUITY' })).toEqual([
      'strategy should not exist for EQUITY orders',
      'legs should not exist for EQUITY orders',
    ]);
  });

  it('accepts a net credit and an absent quantity', () => {
    expect(judge({ ...without(verticalSpread, 'quantity'), limitPrice: -1.25 })).toEqual([]);
    expect(judge({ ...verticalSpread, limitPrice: 0 })).toEqual([]);
  });

  it.each(['OPTION', 'FUTURE'])('%s orders require whole contracts', (assetClass) => {
    expect(judge({ ...limitOrder, assetClass, quantity: 1.5 })).toEqual([
      `quantity must be a whole number for ${assetClass} orders`,
    ]);
  });
});

describe('An amount of money instead of a quantity', () => {
  const amount = { ...without(marketOrder, 'quantity'), notional: 500.25 };

  it('is allowed for DAY market orders in shares only', () => {
    expect(judge(amount)).toEqual([]);
    expect(judge({ ...amount, quantity: 1 })).toEqual(['quantity should not exist together with notional']);
    expect(judge({ ...amount, notional: 0.5 })).toEqual(['notional must not be less than 1']);
    expect(judge({ ...amount, notional: 0.001 })).toContain('notional must have at most 2 decimal places');
    expect(judge({ ...amount, orderType: 'LIMIT', limitPrice: 10, timeInForce: 'GTC' })).toEqual([
      'notional is only allowed for MARKET orders',
      'notional is only allowed for DAY orders',
    ]);
    expect(judge({ ...amount, positionIntent: 'SELL_TO_OPEN', assetClass: 'FUTURE' })).toEqual([
      'notional is only allowed for EQUITY orders',
      'notional is only allowed for BUY_TO_OPEN and SELL_TO_CLOSE orders',
    ]);
  });
});

describe('OCO closing orders', () => {
  const closing = { ...limitOrder, positionIntent: 'SELL_TO_CLOSE' };
  const ocoConfig = { stopLoss: { orderType: 'STOP', stopPrice: 90 } };

  it('require a limit order and its stop, and exclude brackets', () => {
    expect(judge({ ...closing, ocoConfig })).toEqual([]);
    expect(judge({ ...closing, ocoConfig: {} })).toEqual(['ocoConfig.stopLoss must be an object']);
    expect(
      judge({ ...closing, ocoConfig: { stopLoss: { orderType: 'STOP_LIMIT', stopPrice: 90 } } }),
    ).toEqual(['ocoConfig.stopLoss.limitPrice must be a positive number']);
    expect(judge({ ...without(closing, 'limitPrice'), orderType: 'MARKET', ocoConfig })).toEqual([
      'ocoConfig is only allowed for LIMIT orders',
    ]);
    expect(judge({ ...closing, session: 'EXTENDED', ocoConfig })).toEqual([
      'session must be REGULAR for OCO orders',
    ]);
    expect(judge({ ...closing, ocoConfig, bracketConfig: ocoConfig })).toEqual([
      'ocoConfig should not exist together with bracketConfig',
    ]);
  });
});

describe('Brackets', () => {
  const bracket = (bracketConfig: unknown): string[] => judge({ ...limitOrder, bracketConfig });

  it('accept one exit or both', () => {
    const profitTarget = { orderType: 'LIMIT', limitPrice: 200 };
    const stopLoss = { orderType: 'STOP', stopPrice: 180 };
    expect(bracket({ profitTarget })).toEqual([]);
    expect(bracket({ stopLoss })).toEqual([]);
    expect(bracket({ profitTarget, stopLoss, timeInForce: 'DAY' })).toEqual([]);
    expect(bracket({ stopLoss: { orderType: 'STOP_LIMIT', stopPrice: 180, limitPrice: 179 } })).toEqual([]);
  });

  it('report errors with the path of the field', () => {
    expect(bracket('yes')).toEqual(['bracketConfig must be an object']);
    expect(bracket([])).toEqual(['bracketConfig must be an object']);
    expect(bracket({})).toEqual(['bracketConfig.profitTarget or stopLoss must be given']);
    expect(
      bracket({
        profitTarget: { orderType: 'MARKET', limitPrice: 0 },
        stopLoss: { orderType: 'STOP', limitPrice: 5, x: 1 },
        timeInForce: 'IOC',
      }),
    ).toEqual([
      'bracketConfig.profitTarget.orderType must be LIMIT',
      'bracketConfig.profitTarget.limitPrice must be a positive number',
      'bracketConfig.stopLoss.stopPrice must be a positive number',
      'bracketConfig.stopLoss.limitPrice should not exist for STOP orders',
      'property bracketConfig.stopLoss.x should not exist',
      'bracketConfig.timeInForce must be DAY or GTC',
    ]);
    expect(bracket({ stopLoss: { orderType: 'STOP_LIMIT', stopPrice: 180 } })).toEqual([
      'bracketConfig.stopLoss.limitPrice must be a positive number',
    ]);
  });
});

describe('clientOrderId', () => {
  it.each(['a', 'A-1_b.c', 'x'.repeat(64)])('%s is accepted', (clientOrderId) => {
    expect(judge({ ...limitOrder, clientOrderId })).toEqual([]);
  });

  it.each(['', 'a b', 'ä', 'a\n', 'x'.repeat(65), 7, null])('%j is refused', (clientOrderId) => {
    expect(judge({ ...limitOrder, clientOrderId })).toEqual([
      'clientOrderId must be 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen',
    ]);
  });
});

describe('BatchOrdersBody', () => {
  const judgeBatch = (body: unknown): string[] => {
    const result = validateBody(BatchOrdersBody, body);
    return result.ok ? [] : result.messages;
  };
  const accountIds = [limitOrder.portfolioId];

  it('requires no portfolio', () => {
    expect(judgeBatch({ accountIds, orderData: limitOrder })).toEqual([]);
    expect(judgeBatch({ accountIds, orderData: without(limitOrder, 'portfolioId') })).toEqual([]);
  });

  it('reports errors of an order with the path of the field', () => {
    expect(
      judgeBatch({ accountIds: [], orderData: { ...marketOrder, limitPrice: 3, quantity: -1 } }),
    ).toEqual([
      'accountIds must contain 1 to 1000 elements',
      'orderData.quantity must be a positive number',
      'orderData.limitPrice should not exist for MARKET orders',
    ]);
    expect(judgeBatch({})).toEqual(['accountIds must be an array', 'orderData must be an object']);
  });

  it('accepts at most a thousand accounts', () => {
    const many = (n: number): string[] =>
      Array.from({ length: n }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`);
    expect(judgeBatch({ accountIds: many(1000), orderData: marketOrder })).toEqual([]);
    expect(judgeBatch({ accountIds: many(1001), orderData: marketOrder })).toEqual([
      'accountIds must contain 1 to 1000 elements',
    ]);
    expect(judgeBatch({ accountIds: [...accountIds, ...accountIds], orderData: marketOrder })).toEqual([
      'accountIds must not contain duplicates',
    ]);
  });
});

describe('UpdateOrderBody', () => {
  const judgeUpdate = (body: unknown): string[] => {
    const result = validateBody(UpdateOrderBody, body);
    return result.ok ? [] : result.messages;
  };

  it('accepts one changed field or several', () => {
    expect(judgeUpdate({ limitPrice: 10 })).toEqual([]);
    expect(judgeUpdate({ limitPrice: -0.5 })).toEqual([]);
    expect(judgeUpdate({ stopPrice: 10, quantity: 5, timeInForce: 'GTC' })).toEqual([]);
    expect(judgeUpdate({ timeInForce: 'GTD', goodTillDate: '2026-02-01' })).toEqual([]);
    expect(judgeUpdate({ goodTillDate: '2026-02-01' })).toEqual([]);
  });

  it('accepts an empty update, which the order refuses after its state', () => {
    expect(judgeUpdate({})).toEqual([]);
    expect(judgeUpdate({ timeInForce: 'GTD' })).toEqual([]);
  });

  it('refuses fields that cannot change', () => {
    expect(judgeUpdate({ limitPrice: 1, symbol: 'MSFT' })).toEqual(['property symbol should not exist']);
    expect(judgeUpdate({ goodTillDate: 'soon' })).toEqual([
      'goodTillDate must be an ISO 8601 date or date-time',
    ]);
  });
});
