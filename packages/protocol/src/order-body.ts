/** The bodies that place and change orders, with the rules across their fields (contract 4.2). */
import type { Static } from 'typebox';
import { bracketTimesInForce, type OrderType, strategies, strategyLegCounts } from './enums.js';
import {
  choice,
  closed,
  dateTime,
  exactly,
  expectedChoice,
  flag,
  integer,
  list,
  moneyBounds,
  nullable,
  optional,
  positive,
  price,
  priceBounds,
  quantity,
  signed,
  text,
  uuid,
} from './fields.js';
import {
  AssetClassValue,
  LatencyProfileValue,
  OrderSessionValue,
  OrderTypeValue,
  PositionIntentValue,
  StrategyValue,
  TimeInForceValue,
} from './orders.js';
import { type Report, type Rule, ruled } from './rules.js';

/** The prices that each type has; any other is refused. */
const pricesOf: Record<
  OrderType,
  { readonly limit: boolean; readonly stop: boolean; readonly trailing: boolean }
> = {
  MARKET: { limit: false, stop: false, trailing: false },
  LIMIT: { limit: true, stop: false, trailing: false },
  STOP: { limit: false, stop: true, trailing: false },
  STOP_LIMIT: { limit: true, stop: true, trailing: false },
  TRAILING_STOP: { limit: false, stop: false, trailing: true },
  TRAILING_STOP_LIMIT: { limit: true, stop: false, trailing: true },
};

const mustBePositive = 'must be a positive number';
const mustBeDate = 'must be an ISO 8601 date or date-time';

export const Leg = ruled(
  closed('Leg', {
    optionSymbol: text({
      description: 'In OSI form, padded or not.',
      examples: ['AAPL260116C00150000'],
    }),
    positionIntent: PositionIntentValue,
    quantity: quantity({ description: 'Contracts per unit, or in total.' }),
  }),
  (body, report) => {
    if (isFraction(body.quantity)) report.field('quantity', 'must be a whole number');
  },
);
export type Leg = Static<typeof Leg>;

const StopLoss = ruled(
  closed('StopLoss', {
    orderType: choice(['STOP', 'STOP_LIMIT']),
    stopPrice: price(),
    limitPrice: optional(price()),
  }),
  (body, report) => {
    if (body.orderType === 'STOP_LIMIT' && body.limitPrice === undefined) {
      report.field('limitPrice', mustBePositive);
    }
    if (body.orderType === 'STOP' && body.limitPrice !== undefined) {
      report.field('limitPrice', 'should not exist for STOP orders');
    }
  },
);

export const BracketConfig = ruled(
  closed('BracketConfig', {
    profitTarget: optional(closed('ProfitTarget', { orderType: exactly('LIMIT'), limitPrice: price() })),
    stopLoss: optional(StopLoss),
    timeInForce: optional(
      choice(bracketTimesInForce, { description: 'Time in force of the exit orders; default GTC.' }),
    ),
  }),
  (body, report) => {
    if (body.profitTarget === undefined && body.stopLoss === undefined) {
      report.field('profitTarget', 'or stopLoss must be given');
    }
  },
);
export type BracketConfig = Static<typeof BracketConfig>;

/** Second order of an OCO pair of closing orders (D167). */
export const OcoConfig = closed('OcoConfig', { stopLoss: StopLoss });
export type OcoConfig = Static<typeof OcoConfig>;

const terms = {
  symbol: text({
    description: 'The instrument; of a multi-leg order the underlying.',
    examples: ['AAPL'],
  }),
  assetClass: AssetClassValue,
  orderType: OrderTypeValue,
  positionIntent: PositionIntentValue,
  quantity: optional(quantity({ description: 'Shares or contracts. Multi-leg orders: units, optional.' })),
  notional: optional(
    positive(moneyBounds, {
      description:
        'Amount in dollars instead of a quantity, at least 1.00: EQUITY, MARKET and DAY only. The fill price determines the quantity.',
      examples: [500],
    }),
  ),
  timeInForce: TimeInForceValue,
  limitPrice: optional(
    signed(priceBounds, {
      description: 'Limit price, positive. Multi-leg orders: net price per unit; a credit is negative.',
    }),
  ),
  stopPrice: optional(price()),
  trailingAmount: optional(price({ description: 'Trailing distance in dollars. Excludes trailingPercent.' })),
  trailingPercent: optional(
    positive(
      { maximum: 100, decimals: 4 },
      { description: 'Trailing distance in percent. Excludes trailingAmount.', exclusiveMaximum: 100 },
    ),
  ),
  strategy: optional(StrategyValue),
  legs: optional(list(Leg, { min: 2, max: 4 })),
  bracketConfig: optional(BracketConfig),
  ocoConfig: optional(OcoConfig),
  latencyProfile: optional(LatencyProfileValue),
  latencyMs: optional(integer(0, 60_000, { description: 'Latency for latencyProfile CUSTOM; default 100.' })),
  goodTillDate: optional(
    dateTime({
      description:
        'Expiration for timeInForce GTD; New York time if it has no zone; a date alone means the end of that date.',
    }),
  ),
  session: optional(OrderSessionValue),
  clientOrderId: optional(
    text({
      maxLength: 64,
      pattern: '^(?:[A-Za-z0-9._-]+|~[A-Za-z0-9._~:%@,#$-]*)$',
      description:
        'Unique in the portfolio. One that begins with `~` may also contain `: % @ , # $`; if scripts are on it scripts its order, such as `~fill:30%`.',
      'x-expected': 'must be 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen',
    }),
  ),
  notes: optional(
    text({
      maxLength: 4000,
      'x-text': 'lines',
      description:
        'Reason for the order: up to 4,000 Unicode characters. Stored with the order and never interpreted.',
      examples: ['Breakout above the 20-day high; exit below 182.'],
    }),
  ),
  recordRefusal: optional(
    flag({
      description:
        'If true, an order that the brokerage refuses is stored with status REJECTED and answered with 201. Invalid requests, unknown symbols and a repeated `clientOrderId` remain errors. Default false.',
    }),
  ),
};

type Terms = { readonly [K in keyof typeof terms]?: unknown };
type TermsReport = Report<keyof typeof terms>;

const orderRule: Rule<Terms> = (body, report) => {
  checkQuantity(body, report);
  checkPrices(body, report);
  checkStrategy(body, report);
  checkPair(body, report);
  checkTiming(body, report);
  checkAuction(body, report);
};

function checkQuantity(body: Terms, report: TermsReport): void {
  const { quantity, legs, assetClass, notional } = body;
  if (notional !== undefined) checkNotional(body, report);
  else if (quantity === undefined && legs === undefined) report.field('quantity', mustBePositive);
  if ((assetClass === 'OPTION' || assetClass === 'FUTURE') && isFraction(quantity)) {
    report.field('quantity', `must be a whole number for ${assetClass} orders`);
  }
}

function checkNotional({ quantity, notional, ...body }: Terms, report: TermsReport): void {
  if (quantity !== undefined) report.field('quantity', 'should not exist together with notional');
  if (typeof notional === 'number' && notional > 0 && notional < 1)
    report.field('notional', 'must not be less than 1');
  const only = (name: keyof typeof body, values: readonly string[]): void => {
    const value = body[name];
    if (typeof value === 'string' && !values.includes(value))
      report.field('notional', `is only allowed for ${values.join(' and ')} orders`);
  };
  only('assetClass', ['EQUITY']);
  only('orderType', ['MARKET']);
  only('positionIntent', ['BUY_TO_OPEN', 'SELL_TO_CLOSE']);
  only('timeInForce', ['DAY']);
}

/** Contracts come whole. A number that is no quantity at all is complained about by its schema. */
function isFraction(quantity: unknown): boolean {
  return (
    typeof quantity === 'number' && quantity > 0 && Number.isFinite(quantity) && !Number.isInteger(quantity)
  );
}

function checkPrices(body: Terms, report: TermsReport): void {
  const { limitPrice, stopPrice, trailingAmount, trailingPercent } = body;
  const orderType = orderTypeOf(body.orderType);
  if (typeof limitPrice === 'number' && limitPrice <= 0 && body.legs === undefined) {
    report.field('limitPrice', mustBePositive);
  }
  if (trailingAmount !== undefined && trailingPercent !== undefined) {
    report.field('trailingPercent', 'should not exist together with trailingAmount');
  }
  if (orderType === undefined) return;
  const has = pricesOf[orderType];
  const notForType = `should not exist for ${orderType} orders`;
  if (has.limit && limitPrice === undefined) report.field('limitPrice', 'must be a number');
  if (!has.limit && limitPrice !== undefined) report.field('limitPrice', notForType);
  if (has.stop && stopPrice === undefined) report.field('stopPrice', mustBePositive);
  if (!has.stop && stopPrice !== undefined) report.field('stopPrice', notForType);
  if (has.trailing) {
    if (trailingAmount === undefined && trailingPercent === undefined) {
      report.field('trailingAmount', `or trailingPercent ${mustBePositive}`);
    }
  } else {
    if (trailingAmount !== undefined) report.field('trailingAmount', notForType);
    if (trailingPercent !== undefined) report.field('trailingPercent', notForType);
  }
}

function orderTypeOf(value: unknown): OrderType | undefined {
  return typeof value === 'string' && Object.hasOwn(pricesOf, value) ? (value as OrderType) : undefined;
}

function checkStrategy(body: Terms, report: TermsReport): void {
  const { assetClass, strategy, legs } = body;
  if (assetClass === 'EQUITY' || assetClass === 'FUTURE') {
    if (strategy !== undefined) report.field('strategy', `should not exist for ${assetClass} orders`);
    if (legs !== undefined) report.field('legs', `should not exist for ${assetClass} orders`);
    return;
  }
  if (legs !== undefined && orderTypeOf(body.orderType) !== undefined) {
    if (body.orderType !== 'MARKET' && body.orderType !== 'LIMIT') {
      report.field('orderType', 'must be MARKET or LIMIT for multi-leg orders');
    }
    if (body.bracketConfig !== undefined) {
      report.field('bracketConfig', 'should not exist for multi-leg orders');
    }
  }
  if (legs !== undefined && strategy === undefined) report.field('strategy', expectedChoice(strategies));
  if (typeof strategy === 'string' && Object.hasOwn(strategyLegCounts, strategy)) {
    const legCount = strategyLegCounts[strategy as keyof typeof strategyLegCounts];
    // A list that no strategy could have is complained about by the schema already.
    const possible = Array.isArray(legs) && legs.length >= 2 && legs.length <= 4;
    if (legs === undefined || (possible && legs.length !== legCount)) {
      report.field('legs', `must contain exactly ${legCount} legs for ${strategy}`);
    }
  }
  if (strategy === 'CUSTOM' && legs === undefined)
    report.field('legs', 'must contain 2 to 4 legs for CUSTOM');
}

/** Checks of a pair that depend on its body alone; the core does the rest. */
function checkPair({ ocoConfig, bracketConfig, legs, orderType, session }: Terms, report: TermsReport): void {
  if (ocoConfig === undefined) return;
  if (legs !== undefined) report.field('ocoConfig', 'should not exist for multi-leg orders');
  if (bracketConfig !== undefined) report.field('ocoConfig', 'should not exist together with bracketConfig');
  if (orderTypeOf(orderType) !== undefined && orderType !== 'LIMIT')
    report.field('ocoConfig', 'is only allowed for LIMIT orders');
  if (session === 'EXTENDED') report.field('session', 'must be REGULAR for OCO orders');
}

function checkTiming(body: Terms, report: TermsReport): void {
  const { timeInForce, goodTillDate, latencyProfile, latencyMs, orderType } = body;
  if (timeInForce === 'GTD') {
    if (goodTillDate === undefined) report.field('goodTillDate', mustBeDate);
  } else if (goodTillDate !== undefined && typeof timeInForce === 'string') {
    report.field('goodTillDate', 'should only exist for GTD orders');
  }
  if (latencyMs !== undefined && latencyProfile !== 'CUSTOM') {
    report.field('latencyMs', 'should only exist with latencyProfile CUSTOM');
  }
  if (body.session !== 'EXTENDED') return;
  if (body.assetClass === 'OPTION' || body.assetClass === 'FUTURE') {
    report.field('session', 'EXTENDED is only allowed for EQUITY orders');
  }
  if (orderTypeOf(orderType) !== undefined && orderType !== 'LIMIT') {
    report.field('session', 'EXTENDED is only allowed for LIMIT orders');
  }
  if (typeof timeInForce === 'string' && timeInForce !== 'DAY' && timeInForce !== 'GTC') {
    report.field('session', 'EXTENDED is only allowed for DAY and GTC orders');
  }
}

/** Checks of an order for an auction (D180). */
function checkAuction(body: Terms, report: TermsReport): void {
  const { timeInForce, assetClass, orderType, quantity, bracketConfig, ocoConfig } = body;
  if (timeInForce !== 'OPG' && timeInForce !== 'CLS') return;
  if (typeof assetClass === 'string' && assetClass !== 'EQUITY')
    report.field('timeInForce', `${timeInForce} is only allowed for EQUITY orders`);
  if (orderTypeOf(orderType) !== undefined && orderType !== 'MARKET' && orderType !== 'LIMIT')
    report.field('timeInForce', `${timeInForce} is only allowed for MARKET and LIMIT orders`);
  if (assetClass === 'EQUITY' && isFraction(quantity))
    report.field('quantity', `must be a whole number for ${timeInForce} orders`);
  if (bracketConfig !== undefined)
    report.field('bracketConfig', `should not exist for ${timeInForce} orders`);
  if (ocoConfig !== undefined) report.field('ocoConfig', `should not exist for ${timeInForce} orders`);
}

/** The body of a create, and of a preview. */
export const CreateOrderBody = ruled(
  closed(
    'CreateOrderBody',
    { portfolioId: uuid(), ...terms },
    {
      examples: [
        {
          portfolioId: '0192f0c1-6e01-7d2a-8f3e-9a4c51d0b7aa',
          symbol: 'AAPL',
          assetClass: 'EQUITY',
          orderType: 'LIMIT',
          positionIntent: 'BUY_TO_OPEN',
          quantity: 10,
          timeInForce: 'DAY',
          limitPrice: 187.5,
        },
      ],
    },
  ),
  orderRule,
);
export type CreateOrderBody = Static<typeof CreateOrderBody>;

/** The order of a batch: the portfolio is optional, since each account has its own. */
export const BatchOrderData = ruled(
  closed('BatchOrderData', {
    portfolioId: optional(
      uuid({
        description: 'Portfolio for its own account. Other accounts use their oldest open portfolio.',
      }),
    ),
    ...terms,
  }),
  orderRule,
);
export type BatchOrderData = Static<typeof BatchOrderData>;

export const BatchOrdersBody = closed('BatchOrdersBody', {
  accountIds: list(uuid(), { min: 1, max: 1000, unique: true }),
  orderData: BatchOrderData,
});
export type BatchOrdersBody = Static<typeof BatchOrdersBody>;

/** All fields are optional, and null is absent (D247). The simulation compares them with the order before it checks them, and refuses a body without fields. */
export const UpdateOrderBody = closed('UpdateOrderBody', {
  limitPrice: nullable(signed(priceBounds, { description: 'LIMIT and STOP_LIMIT types.' })),
  stopPrice: nullable(price({ description: 'STOP and STOP_LIMIT.' })),
  quantity: nullable(quantity({ description: 'Total quantity. Can be changed only before the first fill.' })),
  timeInForce: nullable(TimeInForceValue),
  goodTillDate: nullable(dateTime({ description: 'Expiration; GTD only.' })),
});
export type UpdateOrderBody = Static<typeof UpdateOrderBody>;
