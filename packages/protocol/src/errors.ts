/**
 * The closed list of error codes, and the two shapes of an error body (contract 7).
 *
 * A code never changes its meaning and is never used again for another. `docs/reference/errors.md` has a section for
 * each; a test keeps both lists equal.
 */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { agentLevels, orderStatuses, scopes, tiers } from './enums.js';
import {
  anyText,
  date,
  choice,
  closed,
  exactly,
  instant,
  integer,
  listOf,
  number,
  optional,
  uuid,
} from './fields.js';

export interface ErrorCodeEntry {
  readonly status: HttpErrorStatus;
  /** One line for people. */
  readonly meaning: string;
  /** The fields beside `code`. */
  readonly details: TProperties;
}

/** The names that the `error` field of the plain shape gives. */
export const statusNames = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  417: 'Expectation Failed',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;
export type HttpErrorStatus = keyof typeof statusNames;

const symbolDetail = { symbol: optional(anyText({ description: 'The symbol that was asked for.' })) };

export const errorCodes = {
  INSUFFICIENT_FUNDS: {
    status: 400,
    meaning: 'There is not enough free cash, or in a margin portfolio not enough buying power.',
    details: {
      availableCash: number({ description: 'What may be spent, or withdrawn, without borrowing.' }),
      requiredAmount: number({ description: 'Of an order: its worst cost, charges included.' }),
      availableBuyingPower: optional(number({ description: 'Of orders in margin portfolios.' })),
      requiredBuyingPower: optional(number()),
    },
  },
  MARKET_CLOSED: {
    status: 400,
    meaning: 'The market is closed and the order cannot wait for it to open.',
    details: { nextOpen: instant({ description: 'In exchange time, with its offset.' }) },
  },
  FEATURE_NOT_AVAILABLE: {
    status: 403,
    meaning: 'The subscription tier does not include what was asked for.',
    details: { currentTier: choice(tiers), requiredTier: choice(tiers) },
  },
  INSUFFICIENT_POSITION: {
    status: 400,
    meaning: 'More would be closed than is held and not yet reserved.',
    details: { availableQuantity: number(), requiredQuantity: number() },
  },
  UNKNOWN_SYMBOL: {
    status: 400,
    meaning: 'No instrument of this symbol is listed.',
    details: symbolDetail,
  },
  INSTRUMENT_NOT_TRADABLE: {
    status: 400,
    meaning:
      'The instrument is listed but takes no such order: expired, halted, an index, or of another asset class.',
    details: symbolDetail,
  },
  NOT_SHORTABLE: {
    status: 400,
    meaning: 'The instrument cannot be sold short in this portfolio.',
    details: symbolDetail,
  },
  POSITION_CONFLICT: {
    status: 400,
    meaning: 'The order would open a position against an opposite one; close that first.',
    details: {
      ...symbolDetail,
      positionQuantity: optional(number({ description: 'What is held; negative when short.' })),
    },
  },
  OPTION_LEVEL: {
    status: 403,
    meaning: 'The option level of the broker and portfolio does not allow the strategy.',
    details: {
      currentLevel: optional(integer(0, 10)),
      requiredLevel: optional(integer(0, 10)),
    },
  },
  DAY_TRADE_RESTRICTED: {
    status: 403,
    meaning: 'Day-trading rules forbid an order that would open or add to a position.',
    details: { dayTradeCount: optional(integer(0, 1e9)), restrictedUntil: optional(date()) },
  },
  MARGIN_CALL_ACTIVE: {
    status: 403,
    meaning: 'The portfolio has an open margin call; only orders that reduce risk are accepted.',
    details: { callAmount: optional(number()) },
  },
  MARGIN_NOT_ELIGIBLE: {
    status: 400,
    meaning: 'The portfolio does not meet the conditions of the margin type.',
    details: {
      reasons: listOf(anyText()),
      totalEquity: optional(number()),
      requiredEquity: optional(number()),
    },
  },
  ACCOUNT_FROZEN: {
    status: 403,
    meaning:
      'The account is frozen: reading and cancelling work, what changes orders, cash or portfolios does not.',
    details: { accountId: optional(uuid()) },
  },
  BROKER_RESTRICTION: {
    status: 400,
    meaning: 'The broker configuration of the portfolio does not offer what was asked for.',
    details: { brokerId: optional(anyText()), restriction: optional(anyText()) },
  },
  ORDER_NOT_UPDATABLE: {
    status: 409,
    meaning: 'The status of the order allows no update or cancel.',
    details: { orderId: optional(uuid()), status: choice(orderStatuses) },
  },
  DUPLICATE_CLIENT_ORDER_ID: {
    status: 409,
    meaning: 'An order of the portfolio already has this clientOrderId.',
    details: { orderId: uuid({ description: 'The existing order.' }) },
  },
  RATE_LIMITED: {
    status: 429,
    meaning: 'More requests than the limit of the route allows.',
    details: { retryAfter: integer(0, 1e9, { description: 'Seconds.' }) },
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    meaning: 'The token does not have the scope that the route needs.',
    details: { requiredScope: choice(scopes) },
  },
  LEVEL_TOO_LOW: {
    status: 403,
    meaning: 'The token of an agent does not reach so far.',
    details: {
      level: choice(agentLevels),
      requiredLevel: optional(choice(agentLevels, { description: 'Absent: no agent may do it.' })),
    },
  },
  CAP_EXCEEDED: {
    status: 403,
    meaning: 'The caps of the token do not allow this order.',
    details: {
      cap: choice(['maxOrderNotional', 'maxNotional', 'maxOrdersPerMinute', 'symbols', 'maxDailyLoss']),
      allowed: optional(number({ description: 'The cap; dollars, or orders.' })),
      left: optional(number({ description: 'What would pass: dollars, or orders.' })),
      asked: optional(number({ description: 'What the order comes to; of a loss what it has come to.' })),
      symbols: optional(listOf(anyText())),
      retryAfter: optional(integer(0, 60, { description: 'Seconds.' })),
    },
  },
  STALE_MARKET_DATA: {
    status: 503,
    meaning: 'The answer needs a quote, and the latest one is too old to use.',
    details: { ...symbolDetail, quotedAt: optional(instant()) },
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'The service cannot commit, is starting, or is shutting down. Nothing was changed; try again.',
    details: { retryAfter: optional(integer(0, 1e9, { description: 'Seconds.' })) },
  },
} as const satisfies Record<string, ErrorCodeEntry>;

export type ErrorCode = keyof typeof errorCodes;
export type ErrorDetails<Code extends ErrorCode> = Static<TObject<(typeof errorCodes)[Code]['details']>>;

/** All codes, in the order of the list. */
export const errorCodeNames = Object.keys(errorCodes) as ErrorCode[];

/** The HTTP status of a code. */
export function statusOf(code: ErrorCode): HttpErrorStatus {
  return errorCodes[code].status;
}

/** A code as a field of something else, such as the reason of a rejected order. */
export const ErrorCodeValue = Type.Enum(errorCodeNames, {
  $id: 'ErrorCode',
  title: 'ErrorCode',
  type: 'string',
});

const statusCode = Type.Integer({ minimum: 400, maximum: 599, 'x-expected': 'must be an HTTP error status' });

/** The plain shape: `error` names the status. */
export const Problem = closed(
  'Problem',
  {
    statusCode,
    message: Type.Union([Type.String(), Type.Array(Type.String())], {
      description: 'One sentence; for a body, query or path that fails validation one per failed rule.',
    }),
    error: anyText({ description: 'The name of the status.', examples: ['Bad Request', 'Not Found'] }),
  },
  {
    description: 'An error without a code.',
    examples: [
      { statusCode: 404, message: 'Portfolio not found', error: 'Not Found' },
      { statusCode: 400, message: ['portfolioType must be CASH or MARGIN'], error: 'Bad Request' },
    ],
  },
);
export type Problem = Static<typeof Problem>;

/** The details of each code as a schema of its own: `InsufficientFunds` for `INSUFFICIENT_FUNDS`. */
export const errorDetailSchemas: ReadonlyMap<ErrorCode, TObject> = new Map(
  errorCodeNames.map((code) => [code, detailSchema(code)]),
);

function detailSchema(code: ErrorCode): TObject {
  const { meaning, details } = errorCodes[code];
  const name = code
    .split('_')
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join('');
  return closed(name, { code: exactly(code), ...details }, { description: meaning });
}

/** The coded shape: `error` is an object of a code and its details. */
export const CodedProblem = closed(
  'CodedProblem',
  {
    statusCode,
    message: anyText(),
    error: Type.Unsafe<CodedDetails>(
      Type.Union([...errorDetailSchemas.values()], {
        $id: 'CodedDetails',
        title: 'CodedDetails',
        'x-discriminator': 'code',
      }),
    ),
  },
  {
    description: 'An error with a code.',
    examples: [
      {
        statusCode: 400,
        message: 'Insufficient funds',
        error: { code: 'INSUFFICIENT_FUNDS', availableCash: 250.5, requiredAmount: 1875 },
      },
    ],
  },
);
export type CodedProblem = Static<typeof CodedProblem>;

/** A code with its details, for any code. */
export type CodedDetails = { [Code in ErrorCode]: { code: Code } & ErrorDetails<Code> }[ErrorCode];

/** The body of a plain error. */
export function problem(status: HttpErrorStatus, message: string | string[]): Problem {
  return { statusCode: status, message, error: statusNames[status] };
}

/** The body of a coded error. */
export function codedProblem<Code extends ErrorCode>(
  code: Code,
  message: string,
  details: ErrorDetails<Code>,
): CodedProblem {
  return { statusCode: statusOf(code), message, error: { code, ...details } as unknown as CodedDetails };
}
