/** Messages of ACCT_ACTIVITY: what happens to the orders of accounts. */
import { type Event, type Execution, type OrderSnapshot, sideOf, tradedBy } from '@sandpit/core';
import type { Desk, HappenedRecord } from '@sandpit/dialect-port';
import { reasonText } from './order-rejections.js';
import { idOf, isShown } from './order-shape.js';
import { accountNumberOf } from './request.js';
import { symbolOut } from './symbols.js';

export interface Activity {
  readonly seq: number;
  readonly account: string;
  readonly type: string;
  /** JSON, as text on the wire too. */
  readonly text: string;
}

const SCALE = 1e6;
const SIX_DECIMALS = 12;

/** `lo / 10^(signScale / 2)`; an odd `signScale` is a negative number. */
const decimal = (value: number): object => ({
  lo: String(Math.round(Math.abs(value) * SCALE)),
  signScale: value < 0 ? SIX_DECIMALS + 1 : SIX_DECIMALS,
});

type Parts = Readonly<Record<string, unknown>>;
interface Step {
  readonly type: string;
  readonly parts: Parts;
}

/** `2026-11-30 09:45:00.155` in New York. */
function timeOf(desk: Desk, at: HappenedRecord['at']): object {
  const ms = String(at % 1000).padStart(3, '0');
  return { DateTimeString: `${desk.calendar.format(at).slice(0, 19).replace('T', ' ')}.${ms}` };
}

const legStatus = ({ progress }: OrderSnapshot): string =>
  progress.status === 'FILLED' ? 'Filled' : progress.status === 'CANCELED' ? 'Canceled' : 'Open';

function created(desk: Desk, order: OrderSnapshot): Step {
  const { terms, progress } = order;
  const legs = terms.legs ?? [{ optionSymbol: terms.symbol, positionIntent: terms.positionIntent }];
  const shape = {
    OrderTypeCode: terms.orderType,
    DurationCode: progress.timeInForce,
    Quantity: decimal(progress.quantity / 1e6),
    ...(progress.limitPrice !== undefined && { LimitPrice: decimal(progress.limitPrice / 1e8) }),
    ...(progress.stopPrice !== undefined && { StopPrice: decimal(progress.stopPrice / 1e8) }),
    OrderLegs: legs.map(({ optionSymbol, positionIntent }, i) => ({
      LegID: String(i + 1),
      BuySellCode: sideOf(positionIntent) === 'BUY' ? 'Buy' : 'Sell',
      Security: { Symbol: symbolOut(desk, optionSymbol) },
    })),
  };
  return {
    type: 'OrderCreated',
    parts: { OrderCreatedEventEquityOrder: { EventType: 'OrderCreated', Order: shape } },
  };
}

function filled(desk: Desk, order: OrderSnapshot, execution: Execution, at: HappenedRecord['at']): Step[] {
  const { terms, progress } = order;
  const { symbol, positionIntent } = tradedBy(terms, execution);
  const executionId = String(execution.number);
  const price = decimal(execution.price / 1e8);
  const info = {
    ExecutionSequenceNumber: execution.number,
    ExecutionId: executionId,
    ExecutionQuantity: decimal(execution.quantity / 1e6),
    ExecutionPrice: price,
    ExecutionTransType: 'Fill',
    ExecutionTimeStamp: timeOf(desk, at),
    ActualChargedCommissionAmount: decimal((execution.commission ?? 0) / 1e4),
  };
  const leg = String((execution.leg ?? 0) + 1);
  return [
    {
      type: 'ExecutionCreated',
      parts: { ExecutionCreatedEventExecutionInfo: { LegId: leg, ExecutionInfo: info } },
    },
    {
      type: 'OrderFillCompleted',
      parts: {
        OrderFillCompletedEventOrderLegQuantityInfo: {
          LegId: leg,
          LegStatus: legStatus(order),
          QuantityInfo: {
            ExecutionID: executionId,
            CumulativeQuantity: decimal(progress.filledQuantity / 1e6),
            LeavesQuantity: decimal((progress.quantity - progress.filledQuantity) / 1e6),
            AveragePrice: decimal((progress.averagePrice ?? 0) / 1e8),
          },
          ExecutionInfo: info,
          OrderInfoForTransactionPosting: {
            Symbol: symbolOut(desk, symbol),
            BuySellCode: positionIntent.startsWith('BUY') ? 'Buy' : 'Sell',
            Quantity: decimal(progress.quantity / 1e6),
            OrderTypeCode: terms.orderType,
            ...(progress.limitPrice !== undefined && { LimitPrice: decimal(progress.limitPrice / 1e8) }),
          },
        },
      },
    },
  ];
}

function canceling(order: OrderSnapshot): Step {
  const { progress } = order;
  const leaves = decimal((progress.quantity - progress.filledQuantity) / 1e6);
  const leg = {
    LegID: '1',
    IntendedOrderQuantity: decimal(progress.quantity / 1e6),
    RequestedAmount: leaves,
    LegStatus: legStatus(order),
  };
  return {
    type: 'CancelAccepted',
    parts: {
      CancelAcceptedEvent: {
        LifecycleSchwabOrderID: String(idOf(order)),
        CancelRequestType: 'ClientCancel',
        LegCancelRequestInfoList: [leg],
      },
    },
  };
}

function out(desk: Desk, order: OrderSnapshot, at: HappenedRecord['at']): Step {
  const { progress } = order;
  const leaves = decimal((progress.quantity - progress.filledQuantity) / 1e6);
  const code = progress.rejection?.code ?? progress.rejectReason?.code;
  const detail = {
    SchwabOrderID: String(idOf(order)),
    NgOMSRuleName: code ?? '',
    NgOMSRuleDescription: code === undefined ? '' : reasonText(code),
  };
  return {
    type: 'OrderUROutCompleted',
    parts: {
      OrderUROutCompletedEvent: {
        LegId: '1',
        LeavesQuantity: decimal(0),
        CancelQuantity: leaves,
        OutCancelType: progress.cancelReason === 'USER' ? 'ClientCancel' : 'SystemReject',
        ValidationDetail: code === undefined ? [] : [detail],
        ExecutionTimeStamp: timeOf(desk, at),
      },
    },
  };
}

function changed(order: OrderSnapshot): Step[] {
  const replacements = order.progress.replacements ?? 1;
  const before = { ...order, progress: { ...order.progress, replacements: replacements - 1 } };
  const ids = { OldSchwabOrderID: String(idOf(before)), NewSchwabOrderID: String(idOf(order)) };
  return ['ChangeCreated', 'ChangeAccepted'].map((type) => ({ type, parts: { [`${type}Event`]: ids } }));
}

function stepsOf(desk: Desk, event: Event, order: OrderSnapshot, at: HappenedRecord['at']): readonly Step[] {
  if (event.type === 'OrderAccepted') return [created(desk, order)];
  if (event.type === 'OrderRejected') return [created(desk, order), out(desk, order, at)];
  if (event.type === 'OrderExecuted')
    return event.executions.flatMap((execution) => filled(desk, order, execution as Execution, at));
  if (event.type !== 'OrderMoved') return [];
  switch (event.transition) {
    case 'QUEUED':
    case 'ACTIVATED':
    case 'STARTED':
      return [
        {
          type: 'OrderAccepted',
          parts: { OrderAcceptedEvent: { ExpectedReleaseTimestamp: timeOf(desk, at) } },
        },
      ];
    case 'REPLACED':
      return changed(order);
    case 'CANCELING':
      return [canceling(order)];
    case 'CANCELED':
    case 'EXPIRED':
    case 'REJECTED':
    case 'FAILED':
      return [out(desk, order, at)];
    default:
      return [];
  }
}

const STEPS_OF_RECORD = 10_000;

/** What a record says of the orders that a reader may see. */
export function activitiesIn(
  desk: Desk,
  only: string | undefined,
  record: HappenedRecord,
): readonly Activity[] {
  const found: Activity[] = [];
  record.events.forEach((event, i) => {
    const order = record.orders[i];
    if (order === undefined || !isShown(order)) return;
    const { portfolioId } = order.terms;
    if (only !== undefined && portfolioId !== only) return;
    const number = desk.book(portfolioId)?.portfolio()?.terms.number;
    if (number === undefined) return;
    const account = accountNumberOf(number);
    for (const { type, parts } of stepsOf(desk, event, order, record.at)) {
      const text = JSON.stringify({
        SchwabOrderID: String(idOf(order)),
        AccountNumber: account,
        BaseEvent: { EventType: type, ...parts },
      });
      found.push({ seq: record.seq * STEPS_OF_RECORD + found.length, account, type, text });
    }
  });
  return found;
}
