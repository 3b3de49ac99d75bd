/** Errors of the API and of the connection: one class for each code of the API, with its figures. */
import type { ErrorCode, ErrorDetails } from '@sandpit/protocol';

/** Base class of all errors of this client. */
export class SandpitError extends Error {
  override readonly name: string = 'SandpitError';
}

/** The server could not be reached, or did not answer, for as long as was tried. */
export class UnreachableError extends SandpitError {
  override readonly name = 'UnreachableError';
}

/** Contents of an error answer. */
export interface Refusal {
  readonly status: number;
  /** The rules of a body that were broken, or one sentence. */
  readonly messages: readonly string[];
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** The unparsed body. */
  readonly body: unknown;
}

/** The server answered with an error. */
export class AnswerError extends SandpitError {
  override readonly name: string = 'AnswerError';
  readonly status: number;
  readonly messages: readonly string[];
  readonly requestId: string | undefined;
  readonly body: unknown;

  constructor({ status, messages, requestId, body }: Refusal, advice = '') {
    super(`${messages.join('; ')}${advice}`);
    this.status = status;
    this.messages = messages;
    this.requestId = requestId;
    this.body = body;
  }
}

/** 400 without a code: the request breaks a rule of its form. */
export class ValidationError extends AnswerError {
  override readonly name = 'ValidationError';
}
/** 401: no token, or one that is expired, revoked, or of another server. */
export class UnauthorizedError extends AnswerError {
  override readonly name = 'UnauthorizedError';
}
/** 404: the object does not exist, or belongs to another tenant. */
export class NotFoundError extends AnswerError {
  override readonly name = 'NotFoundError';
}
/** 409 without a code: not possible in the current state. */
export class ConflictError extends AnswerError {
  override readonly name = 'ConflictError';
}

/** An error with a code; `figures` are its details. */
export class CodedError<Code extends ErrorCode = ErrorCode> extends AnswerError {
  override readonly name: string = 'CodedError';
  readonly code: Code;
  readonly figures: ErrorDetails<Code>;

  constructor(refusal: Refusal, code: Code, figures: ErrorDetails<Code>) {
    super(refusal);
    this.code = code;
    this.figures = figures;
  }
}

export class InsufficientFundsError extends CodedError<'INSUFFICIENT_FUNDS'> {
  override readonly name = 'InsufficientFundsError';
}
export class InsufficientPositionError extends CodedError<'INSUFFICIENT_POSITION'> {
  override readonly name = 'InsufficientPositionError';
}
export class MarketClosedError extends CodedError<'MARKET_CLOSED'> {
  override readonly name = 'MarketClosedError';
}
export class TradingHaltedError extends CodedError<'TRADING_HALTED'> {
  override readonly name = 'TradingHaltedError';
}
export class AuctionClosedError extends CodedError<'AUCTION_CLOSED'> {
  override readonly name = 'AuctionClosedError';
}
export class FeatureNotAvailableError extends CodedError<'FEATURE_NOT_AVAILABLE'> {
  override readonly name = 'FeatureNotAvailableError';
}
export class UnknownSymbolError extends CodedError<'UNKNOWN_SYMBOL'> {
  override readonly name = 'UnknownSymbolError';
}
export class UnknownDeliverableError extends CodedError<'UNKNOWN_DELIVERABLE'> {
  override readonly name = 'UnknownDeliverableError';
}
export class InstrumentNotTradableError extends CodedError<'INSTRUMENT_NOT_TRADABLE'> {
  override readonly name = 'InstrumentNotTradableError';
}
export class NotShortableError extends CodedError<'NOT_SHORTABLE'> {
  override readonly name = 'NotShortableError';
}
export class PositionConflictError extends CodedError<'POSITION_CONFLICT'> {
  override readonly name = 'PositionConflictError';
}
export class OptionLevelError extends CodedError<'OPTION_LEVEL'> {
  override readonly name = 'OptionLevelError';
}
export class DayTradeRestrictedError extends CodedError<'DAY_TRADE_RESTRICTED'> {
  override readonly name = 'DayTradeRestrictedError';
}
export class MarginCallActiveError extends CodedError<'MARGIN_CALL_ACTIVE'> {
  override readonly name = 'MarginCallActiveError';
}
export class MarginNotEligibleError extends CodedError<'MARGIN_NOT_ELIGIBLE'> {
  override readonly name = 'MarginNotEligibleError';
}
export class AccountFrozenError extends CodedError<'ACCOUNT_FROZEN'> {
  override readonly name = 'AccountFrozenError';
}
export class BrokerRestrictionError extends CodedError<'BROKER_RESTRICTION'> {
  override readonly name = 'BrokerRestrictionError';
}
export class OrderNotUpdatableError extends CodedError<'ORDER_NOT_UPDATABLE'> {
  override readonly name = 'OrderNotUpdatableError';
}
export class DuplicateClientOrderIdError extends CodedError<'DUPLICATE_CLIENT_ORDER_ID'> {
  override readonly name = 'DuplicateClientOrderIdError';
}
export class PortfolioNotEmptyError extends CodedError<'PORTFOLIO_NOT_EMPTY'> {
  override readonly name = 'PortfolioNotEmptyError';
}
export class WebhookAddressRefusedError extends CodedError<'WEBHOOK_ADDRESS_REFUSED'> {
  override readonly name = 'WebhookAddressRefusedError';
}
export class RateLimitedError extends CodedError<'RATE_LIMITED'> {
  override readonly name = 'RateLimitedError';
}
export class InsufficientScopeError extends CodedError<'INSUFFICIENT_SCOPE'> {
  override readonly name = 'InsufficientScopeError';
}
export class LevelTooLowError extends CodedError<'LEVEL_TOO_LOW'> {
  override readonly name = 'LevelTooLowError';
}
export class CapExceededError extends CodedError<'CAP_EXCEEDED'> {
  override readonly name = 'CapExceededError';
}
export class CompetitionRuleError extends CodedError<'COMPETITION_RULE'> {
  override readonly name = 'CompetitionRuleError';
}
export class EntryTokenError extends CodedError<'ENTRY_TOKEN'> {
  override readonly name = 'EntryTokenError';
}
export class RecordingInUseError extends CodedError<'RECORDING_IN_USE'> {
  override readonly name = 'RecordingInUseError';
}
export class JoinCodeError extends CodedError<'JOIN_CODE'> {
  override readonly name = 'JoinCodeError';
}
export class CompetitionNotRunningError extends CodedError<'COMPETITION_NOT_RUNNING'> {
  override readonly name = 'CompetitionNotRunningError';
}
export class CompetitionStartedError extends CodedError<'COMPETITION_STARTED'> {
  override readonly name = 'CompetitionStartedError';
}
export class CompetitionFullError extends CodedError<'COMPETITION_FULL'> {
  override readonly name = 'CompetitionFullError';
}
export class AlreadyEnteredError extends CodedError<'ALREADY_ENTERED'> {
  override readonly name = 'AlreadyEnteredError';
}
export class InvitationFullError extends CodedError<'INVITATION_FULL'> {
  override readonly name = 'InvitationFullError';
}
export class InvitationExpiredError extends CodedError<'INVITATION_EXPIRED'> {
  override readonly name = 'InvitationExpiredError';
}
export class CompetitionNotFinishedError extends CodedError<'COMPETITION_NOT_FINISHED'> {
  override readonly name = 'CompetitionNotFinishedError';
}
export class EvaluationStartedError extends CodedError<'EVALUATION_STARTED'> {
  override readonly name = 'EvaluationStartedError';
}
export class EvaluationNotRunningError extends CodedError<'EVALUATION_NOT_RUNNING'> {
  override readonly name = 'EvaluationNotRunningError';
}
export class EvaluationNotFinishedError extends CodedError<'EVALUATION_NOT_FINISHED'> {
  override readonly name = 'EvaluationNotFinishedError';
}
export class StaleMarketDataError extends CodedError<'STALE_MARKET_DATA'> {
  override readonly name = 'StaleMarketDataError';
}
export class MarketDataLimitError extends CodedError<'MARKET_DATA_LIMIT'> {
  override readonly name = 'MarketDataLimitError';
}
/** Delete ephemeral simulations; waiting frees no memory. */
export class EphemeralFullError extends CodedError<'EPHEMERAL_FULL'> {
  override readonly name = 'EphemeralFullError';
}
export class ServiceUnavailableError extends CodedError<'SERVICE_UNAVAILABLE'> {
  override readonly name = 'ServiceUnavailableError';
}

type CodedClass = new (refusal: Refusal, code: never, figures: never) => CodedError;

/** The class of each code: one that is missing does not compile. */
export const ERROR_CLASSES: Readonly<Record<ErrorCode, CodedClass>> = {
  INSUFFICIENT_FUNDS: InsufficientFundsError,
  INSUFFICIENT_POSITION: InsufficientPositionError,
  MARKET_CLOSED: MarketClosedError,
  TRADING_HALTED: TradingHaltedError,
  AUCTION_CLOSED: AuctionClosedError,
  FEATURE_NOT_AVAILABLE: FeatureNotAvailableError,
  UNKNOWN_SYMBOL: UnknownSymbolError,
  UNKNOWN_DELIVERABLE: UnknownDeliverableError,
  INSTRUMENT_NOT_TRADABLE: InstrumentNotTradableError,
  NOT_SHORTABLE: NotShortableError,
  POSITION_CONFLICT: PositionConflictError,
  OPTION_LEVEL: OptionLevelError,
  DAY_TRADE_RESTRICTED: DayTradeRestrictedError,
  MARGIN_CALL_ACTIVE: MarginCallActiveError,
  MARGIN_NOT_ELIGIBLE: MarginNotEligibleError,
  ACCOUNT_FROZEN: AccountFrozenError,
  BROKER_RESTRICTION: BrokerRestrictionError,
  ORDER_NOT_UPDATABLE: OrderNotUpdatableError,
  DUPLICATE_CLIENT_ORDER_ID: DuplicateClientOrderIdError,
  PORTFOLIO_NOT_EMPTY: PortfolioNotEmptyError,
  WEBHOOK_ADDRESS_REFUSED: WebhookAddressRefusedError,
  RATE_LIMITED: RateLimitedError,
  INSUFFICIENT_SCOPE: InsufficientScopeError,
  LEVEL_TOO_LOW: LevelTooLowError,
  CAP_EXCEEDED: CapExceededError,
  COMPETITION_RULE: CompetitionRuleError,
  ENTRY_TOKEN: EntryTokenError,
  RECORDING_IN_USE: RecordingInUseError,
  JOIN_CODE: JoinCodeError,
  COMPETITION_NOT_RUNNING: CompetitionNotRunningError,
  COMPETITION_STARTED: CompetitionStartedError,
  COMPETITION_FULL: CompetitionFullError,
  ALREADY_ENTERED: AlreadyEnteredError,
  INVITATION_FULL: InvitationFullError,
  INVITATION_EXPIRED: InvitationExpiredError,
  COMPETITION_NOT_FINISHED: CompetitionNotFinishedError,
  EVALUATION_STARTED: EvaluationStartedError,
  EVALUATION_NOT_RUNNING: EvaluationNotRunningError,
  EVALUATION_NOT_FINISHED: EvaluationNotFinishedError,
  STALE_MARKET_DATA: StaleMarketDataError,
  MARKET_DATA_LIMIT: MarketDataLimitError,
  EPHEMERAL_FULL: EphemeralFullError,
  SERVICE_UNAVAILABLE: ServiceUnavailableError,
};

/** The error of an answer. */
export function errorOf(
  status: number,
  body: unknown,
  requestId: string | undefined,
  baseUrl: string,
): AnswerError {
  const { message, error } = (typeof body === 'object' && body !== null ? body : {}) as {
    readonly message?: unknown;
    readonly error?: unknown;
  };
  const messages = (Array.isArray(message) ? message : [message]).map((one) =>
    typeof one === 'string' ? one : `HTTP ${status}`,
  );
  const refusal: Refusal = { status, messages, requestId, body };
  if (typeof error === 'object' && error !== null && 'code' in error) {
    const { code, ...figures } = error as { readonly code: unknown };
    const known = Object.entries(ERROR_CLASSES).find(([name]) => name === code)?.[1];
    // A code of a newer server is no less an error.
    if (known !== undefined) return new known(refusal, code as never, figures as never);
  }
  switch (status) {
    case 400:
      return new ValidationError(refusal);
    case 401:
      return new UnauthorizedError(
        refusal,
        `: ${baseUrl} does not accept this token. Get another one (sandpit token, or an API key)`,
      );
    case 404:
      return new NotFoundError(
        refusal,
        message === 'Route not found'
          ? `: ${baseUrl} is a Sandpit of another version than this client. Install the same of both`
          : '',
      );
    case 409:
      return new ConflictError(refusal);
    default:
      return new AnswerError(refusal);
  }
}
