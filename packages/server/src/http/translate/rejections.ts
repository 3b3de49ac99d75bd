import { type CloseObstacle, type Ids, Money, type Rejection, rejectionText } from '@sandpit/core';
import type { CloseReason } from '@sandpit/protocol';
import { type Answer, refuse, refuseCoded } from '../answer.js';
import { isoOf } from './instants.js';
import { centsNumber, moneyNumber } from './numbers.js';
import { fundsFigures, refusalFigures } from './orders.js';

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
    case 'FEATURE_NOT_AVAILABLE': {
      const { currentTier, requiredTier } = rejection;
      return refuseCoded(rejection.code, message, { currentTier, requiredTier });
    }
    case 'SCRIPTED': {
      const { shownAs, figures } = rejection;
      if (shownAs === 'SCRIPTED_ERROR') throw new Error('Only an order that was accepted ends in ERROR');
      const subject = SUBJECTS.has(shownAs) ? symbol : {};
      // The figures were validated against the details of this code when the script was set.
      return refuseCoded(shownAs, message, { ...subject, ...figures });
    }
    case 'INSUFFICIENT_FUNDS':
      return refuseCoded(rejection.code, message, {
        ...fundsFigures(rejection),
        ...closingLegsOf(rejection),
      });
    case 'INSUFFICIENT_POSITION':
    case 'OPTION_LEVEL':
    case 'MARKET_CLOSED':
      return refuseCoded(rejection.code, message, refusalFigures(rejection));
    case 'TRADING_HALTED': {
      const { reason, until } = rejection;
      return refuseCoded(rejection.code, message, {
        reason,
        ...(until !== undefined && { until: isoOf(until) }),
      });
    }
    case 'AUCTION_CLOSED': {
      const { cutoff, opensAt } = rejection;
      return refuseCoded(rejection.code, message, { cutoff, opensAt });
    }
    case 'DUPLICATE_CLIENT_ORDER_ID': {
      if (concern.ids === undefined) throw new Error('Only a new order can repeat a client order id');
      return refuseCoded(rejection.code, message, { orderId: concern.ids.idOf('ORDER', rejection.order) });
    }
    case 'CAP_EXCEEDED': {
      const { cap, allowed, left, asked, symbols } = rejection;
      return refuseCoded(rejection.code, message, {
        cap,
        ...(allowed !== undefined && { allowed: moneyNumber(allowed) }),
        ...(left !== undefined && { left: centsNumber(left) }),
        ...(asked !== undefined && { asked: centsNumber(asked) }),
        ...(symbols !== undefined && { symbols: [...symbols] }),
      });
    }
    case 'COMPETITION_RULE': {
      const { rule, allowed, asked, symbols } = rejection;
      return refuseCoded(rejection.code, message, {
        rule,
        ...(allowed !== undefined && { allowed }),
        ...(asked !== undefined && { asked }),
        ...(symbols !== undefined && { symbols: [...symbols] }),
      });
    }
    case 'COMPETITION_NOT_RUNNING':
      return refuseCoded(rejection.code, message, {
        status: rejection.phase === 'PAUSED' ? 'RUNNING' : rejection.phase,
      });
    case 'MARGIN_NOT_ELIGIBLE':
      return refuseCoded(rejection.code, message, { reasons: [...rejection.reasons] });
    case 'MARGIN_CALL_ACTIVE':
      return refuseCoded(rejection.code, message, {
        callAmount: moneyNumber(Money.toCents(rejection.callAmount)),
        ...closingLegsOf(rejection),
      });
    case 'DAY_TRADE_RESTRICTED': {
      const { dayTradeCount, restrictedUntil } = rejection;
      return refuseCoded(rejection.code, message, {
        dayTradeCount,
        restrictedUntil,
        ...closingLegsOf(rejection),
      });
    }
    case 'UNKNOWN_SYMBOL':
    case 'UNKNOWN_DELIVERABLE':
    case 'INSTRUMENT_NOT_TRADABLE':
    case 'NOT_SHORTABLE':
    case 'POSITION_CONFLICT':
    case 'STALE_MARKET_DATA':
      return refuseCoded(rejection.code, message, symbol);
    case 'BROKER_RESTRICTION':
      return refuseCoded(
        rejection.code,
        message,
        concern.brokerId === undefined ? {} : { brokerId: concern.brokerId },
      );
    case 'ACCOUNT_FROZEN':
      return refuseCoded(
        rejection.code,
        message,
        rejection.accountId === undefined ? {} : { accountId: rejection.accountId },
      );
    case 'ORDER_NOT_UPDATABLE': {
      const { status } = rejection;
      const orderId = concern.orderId === undefined ? {} : { orderId: concern.orderId };
      return refuseCoded(rejection.code, message, { ...orderId, status });
    }
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
