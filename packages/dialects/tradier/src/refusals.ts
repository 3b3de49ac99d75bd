/** Refusals in Tradier's words: plain text, a fault for credentials, or a pair of texts for orders that the brokerage refuses. */
import {
  DialectRefusal,
  doorReply,
  type CallRefusal,
  type Head,
  type Refused,
  type Reply,
  retryAfter,
  wordsFor,
} from '@sandpit/dialect-port';
import { answer, plainText, wantsJson } from './wire.js';

export class TradierRefusal extends DialectRefusal {
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(reply.text);
    this.reply = reply;
  }
}

/** A request that is invalid in itself. */
export const invalid = (name: string, reason: string): TradierRefusal =>
  new TradierRefusal(plainText(400, `Invalid parameter, ${name}: ${reason}.`));

/** An account of another owner, an unknown account, and an order that the account does not have. */
export const unauthorizedAccount = (account: string): TradierRefusal =>
  new TradierRefusal(plainText(401, `Unauthorized Account: ${account.slice(0, 40).toUpperCase()}`));

const TOKEN_TEXT = 'Invalid Access Token';
const BACKOFFICE = 'Backoffice rejected override of the order.';

/** Reasons of refused orders, by the codes of `/v1`. */
const REASONS: Readonly<Record<string, string>> = {
  INSUFFICIENT_FUNDS: 'InitialMargin',
  OPTION_LEVEL: 'AccountIsNotApproved',
  ACCOUNT_FROZEN: 'AccountDisabled',
  MARGIN_CALL_ACTIVE: 'AccountMarginRuleViolation',
  DAY_TRADE_RESTRICTED: 'DayTraderPatternRestriction',
  NOT_SHORTABLE: 'UnexpectedSellShortOrder',
  POSITION_CONFLICT: 'UnexpectedSellShortOrder',
  MARKET_CLOSED: 'MarketClosed',
  AUCTION_CLOSED: 'MarketClosed',
  TRADING_HALTED: 'TradingHalted',
  INSTRUMENT_NOT_TRADABLE: 'AssetTradingNotConfiguredForAccount',
  BROKER_RESTRICTION: 'AssetTradingNotConfiguredForAccount',
  FEATURE_NOT_AVAILABLE: 'AssetTradingNotConfiguredForAccount',
};

/** The reason of an order that the brokerage refused; `isBuy` tells covers from sales. */
function reasonOf(code: string, isBuy: boolean): string {
  if (code === 'INSUFFICIENT_POSITION')
    return isBuy ? 'UnexpectedBuyToCoverOrder' : 'UnexpectedSellShortOrder';
  return REASONS[code] ?? code;
}

/** The text that an order carries as `reason_description`. */
export const reasonText = (code: string, isBuy: boolean): string => `${BACKOFFICE} ${reasonOf(code, isBuy)}`;

export const refusedOrder = (head: Head, code: string, isBuy: boolean): Reply =>
  answer(head, 'errors', { error: [BACKOFFICE, reasonOf(code, isBuy)] });

/** Names of fields here, by those of `/v1`. */
const NAMES: Readonly<Record<string, string>> = {
  limitPrice: 'price',
  stopPrice: 'stop',
  timeInForce: 'duration',
  orderType: 'type',
  positionIntent: 'side',
  notes: 'tag',
  legs: 'option_symbol',
  from: 'start',
  to: 'end',
  underlying: 'symbol',
};

/** A refusal of `/v1` that no handler translated. */
export function translated(refused: Refused, head: Head): Reply {
  return wordsFor<Reply>(
    {
      UNKNOWN_SYMBOL: () => invalid('symbol', 'not found').reply,
      UNKNOWN_DELIVERABLE: () => invalid('symbol', 'not found').reply,
      RATE_LIMITED: ({ details }) => tooMany(Number(details['retryAfter'] ?? 1)),
      SERVICE_UNAVAILABLE: unavailable,
      STALE_MARKET_DATA: unavailable,
      INSUFFICIENT_SCOPE: () => plainText(403, 'Insufficient scope of the access token'),
    },
    refused,
    ({ status, messages, details }) => {
      if (status === 401) return badToken(head);
      if (status === 429) return tooMany(1);
      if (status === 503) return unavailable;
      if (status === 400 && details.code === undefined) return invalidField(messages[0] ?? '');
      return plainText(status === 404 ? 400 : status, messages.join(' '));
    },
  );
}

/** `limitPrice must be a multiple of 0.01` → `Invalid parameter, price: must be a multiple of 0.01.` */
function invalidField(message: string): Reply {
  const [, path = '', reason = message] = /^([\w.]+) ((?:must|should|is|or|may) .*)$/.exec(message) ?? [];
  const name = path.split('.').at(-1) ?? '';
  return path === '' ? plainText(400, `${message}.`) : invalid(NAMES[name] ?? name, reason).reply;
}

const unavailable = plainText(503, 'Service Unavailable', retryAfter(1));
const tooMany = (seconds: number): Reply => plainText(429, 'Quota Violation', retryAfter(seconds));

const badToken = (head: Head): Reply =>
  wantsJson(head)
    ? answer(
        head,
        'fault',
        { faultstring: TOKEN_TEXT, detail: { errorcode: 'keymanagement.service.invalid_access_token' } },
        401,
      )
    : plainText(401, TOKEN_TEXT);

/** A refusal of the server. */
export const refusedByDoor = (refusal: CallRefusal, head: Head): Reply =>
  doorReply(refusal, TEXTS, plainText) ?? badToken(head);

const TEXTS = {
  NOT_FOUND: 'Not Found',
  MALFORMED: 'Bad Request',
  TOO_LARGE: 'Request Entity Too Large',
  RATE_LIMITED: 'Quota Violation',
  UNAVAILABLE: 'Service Unavailable',
  INTERNAL: 'Internal Server Error',
};
