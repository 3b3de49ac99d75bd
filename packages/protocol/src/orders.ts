import { type Static, Type } from 'typebox';
import {
  assetClasses,
  bracketTimesInForce,
  cancelReasons,
  competitionRules,
  latencyProfiles,
  orderSessions,
  orderStatuses,
  orderTypes,
  positionIntents,
  spreadShapes,
  strategies,
  tiers,
  timesInForce,
} from './enums.js';
import { ErrorCodeValue } from './errors.js';
import {
  anyText,
  choice,
  closed,
  count,
  dateOrInstant,
  exactly,
  expectedChoice,
  instant,
  listOf,
  namedChoice,
  number,
  optional,
  parameters,
  text,
  uuid,
} from './fields.js';
import { paged, pageFields } from './paging.js';

export const AssetClassValue = namedChoice('AssetClass', assetClasses);
export const OrderTypeValue = namedChoice('OrderType', orderTypes);
export const PositionIntentValue = namedChoice('PositionIntent', positionIntents);
export const TimeInForceValue = namedChoice('TimeInForce', timesInForce);
export const OrderStatusValue = namedChoice('OrderStatus', orderStatuses);
export const StrategyValue = namedChoice('Strategy', strategies);
export const LatencyProfileValue = namedChoice('LatencyProfile', latencyProfiles);
export const OrderSessionValue = namedChoice('OrderSession', orderSessions);
export const CancelReasonValue = namedChoice('CancelReason', cancelReasons);

/** One leg of an order, as answers show it. */
export const OrderLeg = closed('OrderLeg', {
  optionSymbol: anyText(),
  positionIntent: PositionIntentValue,
  quantity: number(),
});
export type OrderLeg = Static<typeof OrderLeg>;

const OrderStopLoss = closed('OrderStopLoss', {
  orderType: choice(['STOP', 'STOP_LIMIT']),
  stopPrice: number(),
  limitPrice: optional(number()),
});

/** The exits of an order, as answers show them. */
export const OrderBracket = closed('OrderBracket', {
  profitTarget: optional(closed('OrderProfitTarget', { orderType: exactly('LIMIT'), limitPrice: number() })),
  stopLoss: optional(OrderStopLoss),
  timeInForce: optional(choice(bracketTimesInForce)),
});
export type OrderBracket = Static<typeof OrderBracket>;

/** The stop of a closing order that it cancels, and is canceled by. */
export const OrderOco = closed('OrderOco', { stopLoss: OrderStopLoss });
export type OrderOco = Static<typeof OrderOco>;

/** Why an order was REJECTED: the code, the sentence, and the figures of the refusal (D135, D276). */
export const RejectReason = closed('RejectReason', {
  code: Type.Union([ErrorCodeValue, exactly('SCRIPTED_ERROR')], {
    description: 'Error code; SCRIPTED_ERROR if a script ended the order with status ERROR.',
  }),
  message: anyText(),
  availableCash: optional(number()),
  requiredAmount: optional(number()),
  availableBuyingPower: optional(number()),
  requiredBuyingPower: optional(number()),
  availableQuantity: optional(number()),
  requiredQuantity: optional(number()),
  currentLevel: optional(number()),
  requiredLevel: optional(number()),
  nextOpen: optional(anyText()),
  reason: optional(anyText()),
  until: optional(anyText()),
  cutoff: optional(anyText()),
  opensAt: optional(anyText()),
  symbol: optional(anyText()),
  positionQuantity: optional(number()),
  dayTradeCount: optional(number()),
  restrictedUntil: optional(anyText()),
  callAmount: optional(number()),
  accountId: optional(anyText()),
  brokerId: optional(anyText()),
  restriction: optional(anyText()),
  quotedAt: optional(anyText()),
  orderId: optional(anyText()),
  currentTier: optional(choice(tiers)),
  requiredTier: optional(choice(tiers)),
  cap: optional(anyText()),
  rule: optional(choice(competitionRules)),
  allowed: optional(number()),
  left: optional(number()),
  asked: optional(number()),
  symbols: optional(listOf(anyText())),
  closingLegs: optional(listOf(anyText())),
});
export type RejectReason = Static<typeof RejectReason>;

/** The fields of contract 2.5 first, then what the decisions add. Fields that do not apply to an order are absent. */
export const orderFields = {
  orderId: uuid(),
  portfolioId: uuid(),
  symbol: anyText(),
  assetClass: AssetClassValue,
  orderType: OrderTypeValue,
  positionIntent: PositionIntentValue,
  quantity: number({
    description: 'Quantity. With `notional`: an estimate at the current price until the order fills.',
  }),
  notional: optional(number({ description: 'Amount to buy or sell, in dollars.' })),
  limitPrice: optional(number()),
  stopPrice: optional(number()),
  timeInForce: TimeInForceValue,
  filledQuantity: optional(number()),
  averagePrice: optional(number({ description: 'Average price of the fills.' })),
  status: OrderStatusValue,
  executedAt: optional(instant()),
  canceledAt: optional(instant()),
  createdAt: instant(),
  updatedAt: instant(),
  trailingAmount: optional(number()),
  trailingPercent: optional(number()),
  strategy: optional(StrategyValue),
  shape: optional(
    choice(spreadShapes, {
      description:
        'Name of the spread that a CUSTOM order opens or closes; absent if a short leg has no long leg.',
    }),
  ),
  legs: optional(listOf(OrderLeg)),
  bracketConfig: optional(OrderBracket),
  ocoConfig: optional(OrderOco),
  latencyProfile: optional(LatencyProfileValue),
  latencyMs: optional(count()),
  goodTillDate: optional(anyText()),
  session: optional(OrderSessionValue),
  clientOrderId: optional(anyText()),
  notes: optional(
    anyText({
      description: 'Reason given when the order was placed.',
      examples: ['Breakout above the 20-day high; exit below 182.'],
    }),
  ),
  parentOrderId: optional(
    uuid({
      description:
        'For an exit order of a bracket, its entry order; for the stop of an OCO pair, its limit order.',
    }),
  ),
  accountId: optional(uuid()),
  origin: optional(
    choice(['LIQUIDATION', 'COMPETITION'], {
      description:
        'Reason of an order placed by the broker: a margin call, or the elimination of an entry of a competition.',
    }),
  ),
  cancelReason: optional(CancelReasonValue),
  rejectReason: optional(
    Type.Union([ErrorCodeValue, RejectReason], {
      description:
        'Reason of the rejection; only its code if `recordRefusal` recorded the order. `rejection` always has the whole reason.',
    }),
  ),
  rejection: optional(RejectReason),
  waitingFor: optional(
    anyText({
      description: 'Reason that an open order has not filled.',
      examples: ['ask 10.05 above limit 10.00'],
    }),
  ),
};

export const Order = closed('Order', orderFields, {
  examples: [
    {
      orderId: '0192f0c1-7a52-7c11-9e53-2f6d1b1f2a10',
      portfolioId: '0192f0c1-6e01-7d2a-8f3e-9a4c51d0b7aa',
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 10,
      limitPrice: 187.5,
      timeInForce: 'DAY',
      status: 'PENDING',
      createdAt: '2026-01-05T14:30:00.000Z',
      updatedAt: '2026-01-05T14:30:00.000Z',
    },
  ],
});
export type Order = Static<typeof Order>;

export const OrderPage = paged('OrderPage', Order, 'Orders, newest first.');
export type OrderPage = Static<typeof OrderPage>;

export const OrderListItem = closed('OrderListItem', {
  orderId: uuid(),
  symbol: anyText(),
  orderType: OrderTypeValue,
  quantity: number(),
  status: OrderStatusValue,
  createdAt: instant(),
});
export type OrderListItem = Static<typeof OrderListItem>;

export const OrderListPage = paged(
  'OrderListPage',
  OrderListItem,
  'Orders of an account in short, newest first.',
);
export type OrderListPage = Static<typeof OrderListPage>;

const STATUS = orderStatuses.join('|');

/** The filters of the order lists (D21, D148). */
const orderFilters = {
  ...pageFields,
  status: optional(
    text({
      pattern: `^(${STATUS})(,(${STATUS}))*$`,
      description: 'One status, or several separated by commas.',
      examples: ['ACTIVE,PENDING_MARKET_OPEN'],
      'x-expected': expectedChoice(orderStatuses),
    }),
  ),
  symbol: optional(text({ description: 'Exactly this symbol.' })),
  assetClass: optional(AssetClassValue),
  from: optional(
    dateOrInstant({ description: 'Created at or after this; a date starts at midnight in New York.' }),
  ),
  to: optional(dateOrInstant({ description: 'Created before this; a date counts as a whole.' })),
};

export const OrderQuery = parameters(orderFilters);
export type OrderQuery = Static<typeof OrderQuery>;

/** Query of all orders of a tenant. */
export const TenantOrderQuery = parameters({
  ...orderFilters,
  accountId: optional(uuid({ description: 'Only orders of this account.' })),
  portfolioId: optional(uuid({ description: 'Only orders of this portfolio.' })),
  clientOrderId: optional(text({ maxLength: 64, description: 'Only orders with this client order id.' })),
});
export type TenantOrderQuery = Static<typeof TenantOrderQuery>;

/** The answer of an update. */
export const UpdatedOrder = closed('UpdatedOrder', {
  orderId: uuid(),
  limitPrice: optional(number()),
  status: OrderStatusValue,
  updatedAt: instant(),
  message: anyText(),
});
export type UpdatedOrder = Static<typeof UpdatedOrder>;

/** The answer of a cancel; without `canceledAt` while the order is CANCELING (D29). */
export const CanceledOrder = closed('CanceledOrder', {
  orderId: uuid(),
  status: OrderStatusValue,
  canceledAt: optional(instant()),
  message: anyText(),
});
export type CanceledOrder = Static<typeof CanceledOrder>;

/** The answer of canceling all orders of an account. */
export const CanceledOrders = closed(
  'CanceledOrders',
  {
    canceledCount: count({
      description: 'Number of canceled orders, including orders with a pending cancel.',
    }),
    canceledOrders: listOf(uuid(), { description: 'Orders whose cancellation was accepted.' }),
    cancelRequested: optional(
      listOf(uuid(), {
        description:
          'Orders of `canceledOrders` that are still CANCELING because their latency has not passed; they may still fill. Absent if there are none.',
      }),
    ),
    message: anyText(),
  },
  {
    examples: [
      {
        canceledCount: 2,
        canceledOrders: ['b1a7c2de-8d1f-4c55-9b0a-6f1d2c3e4f50', '0f9e8d7c-6b5a-4432-8110-fedcba987654'],
        cancelRequested: ['0f9e8d7c-6b5a-4432-8110-fedcba987654'],
        message: '2 orders canceled, 1 of them pending',
      },
    ],
  },
);
export type CanceledOrders = Static<typeof CanceledOrders>;
