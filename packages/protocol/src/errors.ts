/**
 * The closed list of error codes, and the two shapes of an error body (contract 7).
 *
 * A code never changes its meaning and is never reused. `docs/reference/errors.md` has a section for each; a
 * test keeps both lists equal.
 */
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { agentLevels, competitionRules, competitionStatuses, orderStatuses, scopes, tiers } from './enums.js';
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
  /** The fields in addition to `code`. */
  readonly details: TProperties;
}

/** Values of the `error` field of the plain shape. */
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
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
} as const;
export type HttpErrorStatus = keyof typeof statusNames;

const symbolDetail = { symbol: optional(anyText({ description: 'The symbol in the request.' })) };

/** An obstacle to closing a portfolio (D212). */
export const CloseReason = closed(
  'CloseReason',
  {
    code: choice(
      ['POSITIONS', 'OPEN_ORDERS', 'UNSETTLED_CASH', 'UNDELIVERED', 'LOAN', 'MARGIN_CALL', 'ACCRUALS'],
      {
        description:
          '`POSITIONS`: the portfolio has positions. `OPEN_ORDERS`: orders are open. `UNSETTLED_CASH`: cash has not settled, or dividends are not paid. `UNDELIVERED`: shares are not delivered or received yet. `LOAN`: the portfolio has a loan. `MARGIN_CALL`: a margin call of any type is open. `ACCRUALS`: cash does not cover accrued interest and borrow fees.',
      },
    ),
    count: optional(
      integer(1, 1e9, {
        description: 'Number of positions, orders, margin calls, or symbols to deliver.',
      }),
    ),
    amount: optional(
      number({
        description:
          'Pending, owed, called or accrued dollars. Pending cash is negative if the portfolio pays.',
      }),
    ),
    settlesOn: optional(date({ description: 'Latest outstanding settlement date.' })),
    availableCash: optional(number({ description: 'Settled cash available for the accruals, dollars.' })),
  },
  {
    description: 'Reason that a portfolio cannot be closed, with its figures.',
    examples: [{ code: 'UNSETTLED_CASH', amount: 999, settlesOn: '2026-01-06' }],
  },
);
export type CloseReason = Static<typeof CloseReason>;

/** Contracts that a rejected roll would close (D269). */
const closingLegs = optional(
  listOf(anyText(), {
    description: 'Rolls only: the contracts that the order closes. Closing them alone is accepted.',
  }),
);

export const errorCodes = {
  INSUFFICIENT_FUNDS: {
    status: 400,
    meaning:
      'The order or withdrawal requires more cash, or in a margin portfolio more buying power, than is available.',
    details: {
      availableCash: number({
        description: 'Cash that can be spent or withdrawn without borrowing, dollars.',
      }),
      requiredAmount: number({
        description:
          'Dollars that the order or withdrawal requires; for an order its highest cost including charges.',
      }),
      availableBuyingPower: optional(
        number({ description: 'Margin portfolios: overnight buying power in dollars, less open orders.' }),
      ),
      requiredBuyingPower: optional(
        number({ description: 'Margin portfolios: buying power in dollars that the order requires.' }),
      ),
      closingLegs,
    },
  },
  MARKET_CLOSED: {
    status: 400,
    meaning: 'The market is closed, and the order cannot wait for the open.',
    details: { nextOpen: instant({ description: 'The next open, in New York time with its offset.' }) },
  },
  TRADING_HALTED: {
    status: 400,
    meaning: 'Trading is halted and the order cannot wait for its end.',
    details: {
      reason: anyText({ description: 'The code of the halt, such as LUDP.' }),
      until: optional(instant({ description: 'End of the halt, if known.' })),
    },
  },
  AUCTION_CLOSED: {
    status: 400,
    meaning: 'The auction of the order accepts no more orders.',
    details: {
      cutoff: instant({
        description: 'End of acceptance for the auction; in exchange time, with its offset.',
      }),
      opensAt: instant({
        description:
          'Time from which orders for the next auction are accepted; in exchange time, with its offset.',
      }),
    },
  },
  FEATURE_NOT_AVAILABLE: {
    status: 403,
    meaning:
      'The subscription tier, or the configuration of the server, does not include the requested feature.',
    details: {
      currentTier: choice(tiers),
      requiredTier: optional(
        choice(tiers, { description: 'Absent where the server is configured without the feature.' }),
      ),
    },
  },
  INSUFFICIENT_POSITION: {
    status: 400,
    meaning: 'The order or exercise requires more than the quantity that is held and not reserved.',
    details: {
      availableQuantity: number({ description: 'Shares or contracts held and not reserved.' }),
      requiredQuantity: number({ description: 'Shares or contracts that the request requires.' }),
    },
  },
  UNKNOWN_SYMBOL: {
    status: 400,
    meaning: 'No instrument with this symbol is listed.',
    details: symbolDetail,
  },
  UNKNOWN_DELIVERABLE: {
    status: 400,
    meaning:
      'The symbol is that of an adjusted option contract, which is not listed: its root ends in a digit and does not say what the contract delivers.',
    details: symbolDetail,
  },
  INSTRUMENT_NOT_TRADABLE: {
    status: 400,
    meaning:
      'The instrument is listed but cannot be traded this way: it has expired, is an index, has another asset class, or is traded in whole shares only (`fractionable: false`) and the order would open a fraction.',
    details: symbolDetail,
  },
  NOT_SHORTABLE: {
    status: 400,
    meaning: 'The instrument cannot be sold short in this portfolio.',
    details: symbolDetail,
  },
  POSITION_CONFLICT: {
    status: 400,
    meaning: 'The portfolio holds the opposite position, which must be closed first.',
    details: {
      ...symbolDetail,
      positionQuantity: optional(number({ description: 'Shares or contracts held; negative when short.' })),
    },
  },
  OPTION_LEVEL: {
    status: 403,
    meaning: 'The option level of the broker and portfolio does not allow the strategy.',
    details: {
      currentLevel: optional(integer(0, 10, { description: 'Option level of the portfolio, 0 to 4.' })),
      requiredLevel: optional(integer(0, 10, { description: 'Option level that the strategy requires.' })),
    },
  },
  DAY_TRADE_RESTRICTED: {
    status: 403,
    meaning: 'Day-trading rules forbid opening or adding to a position.',
    details: {
      dayTradeCount: optional(integer(0, 1e9)),
      restrictedUntil: optional(date()),
      closingLegs,
    },
  },
  MARGIN_CALL_ACTIVE: {
    status: 403,
    meaning: 'The portfolio has an open margin call; only orders that reduce risk are accepted.',
    details: {
      callAmount: optional(
        number({ description: 'Dollars due now: the sum of `amountDue` of the open calls.' }),
      ),
      closingLegs,
    },
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
      'The account is frozen: it allows reads and cancels, and no other change of orders, cash or portfolios.',
    details: { accountId: optional(uuid()) },
  },
  BROKER_RESTRICTION: {
    status: 400,
    meaning: 'The broker configuration of the portfolio does not offer the requested feature.',
    details: { brokerId: optional(anyText()), restriction: optional(anyText()) },
  },
  ORDER_NOT_UPDATABLE: {
    status: 409,
    meaning: 'The status of the order does not allow an update or cancel.',
    details: { orderId: optional(uuid()), status: choice(orderStatuses) },
  },
  DUPLICATE_CLIENT_ORDER_ID: {
    status: 409,
    meaning: 'An order of the portfolio already has this clientOrderId.',
    details: { orderId: uuid({ description: 'The existing order.' }) },
  },
  PORTFOLIO_NOT_EMPTY: {
    status: 409,
    meaning: 'The portfolio cannot be closed while it has positions, open orders, unsettled items or debts.',
    details: {
      reasons: listOf(CloseReason, { description: 'All reasons against it, with their figures.' }),
    },
  },
  WEBHOOK_ADDRESS_REFUSED: {
    status: 400,
    meaning: 'The server sends no events to the address of this URL.',
    details: {},
  },
  RATE_LIMITED: {
    status: 429,
    meaning: 'The tenant exceeded the request limit of the route.',
    details: { retryAfter: integer(0, 1e9, { description: 'Seconds to wait before the next request.' }) },
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    meaning: 'The token lacks the scope that the route requires.',
    details: { requiredScope: choice(scopes) },
  },
  LEVEL_TOO_LOW: {
    status: 403,
    meaning: "The level of the agent's token does not allow the operation.",
    details: {
      level: choice(agentLevels),
      requiredLevel: optional(
        choice(agentLevels, {
          description: 'Lowest level that allows the operation; absent where no agent may perform it.',
        }),
      ),
    },
  },
  CAP_EXCEEDED: {
    status: 403,
    meaning: "The order exceeds a cap of the agent's token.",
    details: {
      cap: choice(['maxOrderNotional', 'maxNotional', 'maxOrdersPerMinute', 'symbols', 'maxDailyLoss']),
      allowed: optional(number({ description: 'The cap: dollars or orders.' })),
      left: optional(number({ description: 'Unused part of the cap: dollars or orders.' })),
      asked: optional(
        number({ description: 'Value of the order, dollars; for maxDailyLoss the current loss.' }),
      ),
      symbols: optional(listOf(anyText())),
      retryAfter: optional(integer(0, 60, { description: 'Seconds until an order is accepted.' })),
    },
  },
  COMPETITION_RULE: {
    status: 403,
    meaning: 'A rule of the competition forbids the order, or has eliminated the entry.',
    details: {
      rule: choice(competitionRules, { description: 'The rule, by its name in `rules`.' }),
      allowed: optional(number({ description: 'The limit: percent, dollars or orders.' })),
      asked: optional(number({ description: 'Value for this order, in the unit of the limit.' })),
      symbols: optional(listOf(anyText(), { description: 'The symbols that may be traded.' })),
    },
  },
  ENTRY_TOKEN: {
    status: 403,
    meaning: 'The token of an entry does not allow the operation.',
    details: {},
  },
  RECORDING_IN_USE: {
    status: 403,
    meaning:
      'The tenant has entered a competition or evaluation on the recording that the simulation replays, and that is not over.',
    details: {},
  },
  JOIN_CODE: {
    status: 403,
    meaning: 'The join code of the competition is missing or wrong.',
    details: {},
  },
  COMPETITION_NOT_RUNNING: {
    status: 409,
    meaning: 'The competition does not accept the request in its present status.',
    details: { status: optional(choice(competitionStatuses)) },
  },
  COMPETITION_STARTED: {
    status: 409,
    meaning:
      'Market, rules and scoring of a competition are fixed once the first entry exists, everything else once trading starts.',
    details: {},
  },
  COMPETITION_FULL: {
    status: 409,
    meaning: 'The competition has as many entries as its capacity.',
    details: { capacity: integer(1, 10_000, { description: 'Maximum entries.' }) },
  },
  ALREADY_ENTERED: {
    status: 409,
    meaning: 'The tenant has as many entries as the competition allows.',
    details: { entriesPerTenant: integer(1, 1000, { description: 'Maximum entries per tenant.' }) },
  },
  INVITATION_FULL: {
    status: 409,
    meaning: 'The invitation, or the tenant that invites, has as many members as its limit.',
    details: { capacity: integer(1, 1_000_000, { description: 'Maximum members.' }) },
  },
  INVITATION_EXPIRED: {
    status: 409,
    meaning: 'The invitation has expired.',
    details: { expiredAt: instant({ description: 'Wall-clock time.' }) },
  },
  COMPETITION_NOT_FINISHED: {
    status: 409,
    meaning:
      'The simulations of a competition cannot be forked, exported, stepped or deleted before it is over.',
    details: {},
  },
  EVALUATION_STARTED: {
    status: 409,
    meaning: 'An evaluation is fixed once it has an entry.',
    details: {},
  },
  EVALUATION_NOT_RUNNING: {
    status: 409,
    meaning: 'The run has ended: orders and the clock are closed, reads go on.',
    details: {},
  },
  EVALUATION_NOT_FINISHED: {
    status: 409,
    meaning: 'The request requires cells of an evaluation that have ended.',
    details: {},
  },
  STALE_MARKET_DATA: {
    status: 503,
    meaning: 'The request requires a quote, and the latest one is too old.',
    details: { ...symbolDetail, quotedAt: optional(instant()) },
  },
  MARKET_DATA_LIMIT: {
    status: 503,
    meaning: 'The plan of the live market data source allows no more symbols, and all of them are in use.',
    details: { limit: integer(0, 1e9, { description: 'Symbols that the plan allows at once.' }) },
  },
  EPHEMERAL_FULL: {
    status: 503,
    meaning:
      'The ephemeral simulations of the tenant, or of all tenants together, use as much memory as they may. Nothing was changed; delete some of them.',
    details: {},
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    meaning: 'The service cannot commit, is starting or is shutting down. Nothing was changed; try again.',
    details: {
      retryAfter: optional(integer(0, 1e9, { description: 'Seconds to wait before the next request.' })),
    },
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
      description:
        'One sentence; for a failed validation of body, query or path, an array with one sentence per failed rule.',
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

/** The details of each code as its own schema: `InsufficientFunds` for `INSUFFICIENT_FUNDS`. */
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
  status: HttpErrorStatus = statusOf(code),
): CodedProblem {
  return { statusCode: status, message, error: { code, ...details } as unknown as CodedDetails };
}
