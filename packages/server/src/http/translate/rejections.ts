import {
  type CloseObstacle,
  type Ids,
  type InsufficientFunds,
  Money,
  type OrderRejection,
  type Refusal,
  refusalText,
  type Rejection,
  rejectionText,
  type ScriptedCode,
} from '@sandpit/core';
import type { CloseReason, CodedDetails, ErrorDetails, RejectReason } from '@sandpit/protocol';
import { type Answer, refuse, refuseCoded, refuseWith } from '../answer.js';
import { isoOf } from './instants.js';
import { centsNumber, moneyNumber, quantityNumber } from './numbers.js';

/** Subject of the refused request, for details that the rejection itself does not carry. */
export interface Concern {
  readonly symbol?: string;
  readonly brokerId?: string;
  readonly orderId?: string;
  /** For a new order: creates the ids of others. */
  readonly ids?: Ids;
}

/** A refusal of the brokerage as an HTTP response (contract 7, D31, D55). */
export function answerTo(rejection: Rejection, concern: Concern = {}): Answer {
  const message = rejectionText(rejection);
  const about = ('symbol' in rejection ? rejection.symbol : undefined) ?? concern.symbol;
  const symbol = about === undefined ? {} : { symbol: about };
  switch (rejection.code) {
    case 'INVALID':
      return refuse(400, [...rejection.messages]);
    case 'NOT_FOUND':
      return refuse(404, message);
    case 'CONFLICT':
      return refuse(409, message);
    case 'PORTFOLIO_NOT_EMPTY':
      return refuseCoded(rejection.code, message, { reasons: rejection.reasons.map(closeReason) });
    case 'BROKER_NOT_ALLOWED':
      return refuse(400, message);
    case 'DUPLICATE_CLIENT_ORDER_ID': {
      if (concern.ids === undefined) throw new Error('Only a new order can repeat a client order id');
      return refuseCoded(rejection.code, message, { orderId: concern.ids.idOf('ORDER', rejection.order) });
    }
    case 'COMPETITION_NOT_RUNNING':
      if (rejection.isEvaluation === true) return refuseCoded('EVALUATION_NOT_RUNNING', message, {});
      return refuseCoded(rejection.code, message, {
        status: rejection.phase === 'PAUSED' ? 'RUNNING' : rejection.phase,
      });
    case 'MARGIN_NOT_ELIGIBLE':
      return refuseCoded(rejection.code, message, { reasons: [...rejection.reasons] });
    case 'UNKNOWN_SYMBOL':
    case 'UNKNOWN_DELIVERABLE':
      return refuseCoded(rejection.code, message, symbol);
    case 'ORDER_NOT_UPDATABLE': {
      const { status } = rejection;
      const orderId = concern.orderId === undefined ? {} : { orderId: concern.orderId };
      return refuseCoded(rejection.code, message, { ...orderId, status });
    }
    default:
      return refuseWith(codedOf(rejection, concern), message);
  }
}

/** Codes under which refusals of orders are shown. */
type ShownCode = Exclude<OrderRejection['code'], 'SCRIPTED'> | ScriptedCode;
type ShownDetails = Extract<CodedDetails, { code: ShownCode }>;

/** Code and details of a refusal of an order. */
function codedOf(rejection: OrderRejection, concern: Concern): ShownDetails {
  const about = ('symbol' in rejection ? rejection.symbol : undefined) ?? concern.symbol;
  const symbol = about === undefined ? {} : { symbol: about };
  const { code } = rejection;
  switch (code) {
    case 'FEATURE_NOT_AVAILABLE': {
      const { currentTier, requiredTier } = rejection;
      return { code, currentTier, requiredTier };
    }
    case 'SCRIPTED': {
      const { shownAs, figures } = rejection;
      if (shownAs === 'SCRIPTED_ERROR') throw new Error('Only an order that was accepted ends in ERROR');
      const subject = SUBJECTS.has(shownAs) ? symbol : {};
      // The figures were validated against the details of this code when the script was set.
      return { code: shownAs, ...subject, ...figures } as ShownDetails;
    }
    case 'INSUFFICIENT_FUNDS':
      return { code, ...fundsFigures(rejection), ...closingLegsOf(rejection) };
    case 'INSUFFICIENT_POSITION':
    case 'OPTION_LEVEL':
    case 'MARKET_CLOSED':
      return { code, ...refusalFigures(rejection) } as ShownDetails;
    case 'TRADING_HALTED': {
      const { reason, until } = rejection;
      return { code, reason, ...(until !== undefined && { until: isoOf(until) }) };
    }
    case 'AUCTION_CLOSED': {
      const { cutoff, opensAt } = rejection;
      return { code, cutoff, opensAt };
    }
    case 'CAP_EXCEEDED': {
      const { cap, allowed, left, asked, symbols } = rejection;
      return {
        code,
        cap,
        ...(allowed !== undefined && { allowed: moneyNumber(allowed) }),
        ...(left !== undefined && { left: centsNumber(left) }),
        ...(asked !== undefined && { asked: centsNumber(asked) }),
        ...(symbols !== undefined && { symbols: [...symbols] }),
      };
    }
    case 'COMPETITION_RULE': {
      const { rule, allowed, asked, symbols } = rejection;
      return {
        code,
        rule,
        ...(allowed !== undefined && { allowed }),
        ...(asked !== undefined && { asked }),
        ...(symbols !== undefined && { symbols: [...symbols] }),
      };
    }
    case 'MARGIN_CALL_ACTIVE':
      return {
        code,
        callAmount: moneyNumber(Money.toCents(rejection.callAmount)),
        ...closingLegsOf(rejection),
      };
    case 'DAY_TRADE_RESTRICTED': {
      const { dayTradeCount, restrictedUntil } = rejection;
      return { code, dayTradeCount, restrictedUntil, ...closingLegsOf(rejection) };
    }
    case 'INSTRUMENT_NOT_TRADABLE':
    case 'NOT_SHORTABLE':
    case 'POSITION_CONFLICT':
    case 'STALE_MARKET_DATA':
      return { code, ...symbol };
    case 'BROKER_RESTRICTION':
      return { code, ...(concern.brokerId !== undefined && { brokerId: concern.brokerId }) };
    case 'ACCOUNT_FROZEN':
      return { code, ...(rejection.accountId !== undefined && { accountId: rejection.accountId }) };
  }
}

/** The reason for which the brokerage ended an acknowledged order (D161). */
export const rejectReasonOf = (refusal: Refusal): RejectReason => ({
  code: refusal.code === 'SCRIPTED' ? refusal.shownAs : refusal.code,
  message: refusalText(refusal),
  ...refusalFigures(refusal),
});

/** The refusal of a recorded order (D276): code and details of the answer that it would have had without a record. */
export function orderRejectionOf(
  rejection: OrderRejection,
  symbol: string,
): RejectReason & { readonly code: ShownCode } {
  const { code, ...details } = codedOf(rejection, { symbol });
  return { code, message: rejectionText(rejection), ...details };
}

/** The message names buying power if a MARGIN portfolio lacks it (D152). */
const fundsFigures = (
  refusal: InsufficientFunds,
): ErrorDetails<'INSUFFICIENT_FUNDS'> & Omit<RejectReason, 'code' | 'message'> => ({
  availableCash: moneyNumber(refusal.availableCash),
  requiredAmount: moneyNumber(refusal.requiredAmount),
  ...(refusal.availableBuyingPower !== undefined && {
    availableBuyingPower: centsNumber(refusal.availableBuyingPower),
  }),
  ...(refusal.requiredBuyingPower !== undefined && {
    requiredBuyingPower: centsNumber(refusal.requiredBuyingPower),
  }),
});

/** The figures of a refusal by their names in the contract. */
function refusalFigures(refusal: Refusal): Omit<RejectReason, 'code' | 'message'> {
  switch (refusal.code) {
    case 'INSUFFICIENT_FUNDS':
      return fundsFigures(refusal);
    case 'INSUFFICIENT_POSITION':
      return {
        availableQuantity: quantityNumber(refusal.availableQuantity),
        requiredQuantity: quantityNumber(refusal.requiredQuantity),
      };
    case 'MARKET_CLOSED':
      return { nextOpen: refusal.nextOpen };
    case 'OPTION_LEVEL':
      return { currentLevel: refusal.currentLevel, requiredLevel: refusal.requiredLevel };
    case 'SCRIPTED':
      return { ...refusal.figures };
    case 'INSTRUMENT_NOT_TRADABLE':
    case 'NOT_SHORTABLE':
    case 'POSITION_CONFLICT':
    case 'BROKER_RESTRICTION':
    case 'STALE_MARKET_DATA':
      return {};
  }
}

const closingLegsOf = ({
  closingLegs,
}: {
  readonly closingLegs?: readonly string[];
}): { readonly closingLegs?: string[] } =>
  closingLegs === undefined ? {} : { closingLegs: [...closingLegs] };

/** Codes whose details name the symbol of the request. */
const SUBJECTS: ReadonlySet<string> = new Set([
  'UNKNOWN_SYMBOL',
  'INSTRUMENT_NOT_TRADABLE',
  'NOT_SHORTABLE',
  'POSITION_CONFLICT',
  'STALE_MARKET_DATA',
]);

function closeReason(reason: CloseObstacle): CloseReason {
  const { code } = reason;
  switch (code) {
    case 'POSITIONS':
    case 'OPEN_ORDERS':
    case 'UNDELIVERED':
      return reason;
    case 'UNSETTLED_CASH': {
      const { amount, settlesOn } = reason;
      return {
        code,
        amount: moneyNumber(Money.toCents(amount)),
        ...(settlesOn !== undefined && { settlesOn }),
      };
    }
    case 'LOAN':
      return { code, amount: moneyNumber(Money.toCents(reason.amount)) };
    case 'MARGIN_CALL':
      return { code, count: reason.count, amount: moneyNumber(Money.upToCents(reason.amount)) };
    case 'ACCRUALS':
      return {
        code,
        amount: moneyNumber(reason.amount),
        availableCash: moneyNumber(reason.availableCash),
      };
  }
}

/** True when a command was refused. */
export const isRejection = (result: object | undefined): result is Rejection =>
  result !== undefined && 'code' in result;
