/** Scripted outcomes: instructions of a test for its next orders (D175). */
import type { Static } from 'typebox';
import { errorCodes } from './errors.js';
import {
  anyText,
  choice,
  closed,
  count,
  integer,
  list,
  number,
  optional,
  positive,
  price,
  quantity,
  span,
  text,
  uuid,
} from './fields.js';
import { AssetClassValue, OrderTypeValue, PositionIntentValue } from './orders.js';
import { paged } from './paging.js';
import { ruled } from './rules.js';

/** Refusals that a script may return for orders. */
export const scriptedCodes = [
  'INSUFFICIENT_FUNDS',
  'INSUFFICIENT_POSITION',
  'MARKET_CLOSED',
  'TRADING_HALTED',
  'AUCTION_CLOSED',
  'UNKNOWN_SYMBOL',
  'INSTRUMENT_NOT_TRADABLE',
  'NOT_SHORTABLE',
  'POSITION_CONFLICT',
  'OPTION_LEVEL',
  'DAY_TRADE_RESTRICTED',
  'MARGIN_CALL_ACTIVE',
  'ACCOUNT_FROZEN',
  'BROKER_RESTRICTION',
  'STALE_MARKET_DATA',
  'DUPLICATE_CLIENT_ORDER_ID',
] as const;

export const OutcomeMatch = closed(
  'OutcomeMatch',
  {
    portfolioId: optional(uuid()),
    symbol: optional(
      text({ description: 'Symbol; for a multi-leg order, the underlying.', examples: ['AAPL'] }),
    ),
    assetClass: optional(AssetClassValue),
    orderType: optional(OrderTypeValue),
    positionIntent: optional(PositionIntentValue),
    quantity: optional(quantity({ description: 'Exact quantity in shares, contracts or units.' })),
    clientOrderId: optional(
      text({
        maxLength: 64,
        description: 'Client order id, or a prefix that ends in `*`.',
        examples: ['retry-*'],
      }),
    ),
  },
  { description: 'Conditions that must all be met; `{}` matches every order.' },
);
export type OutcomeMatch = Static<typeof OutcomeMatch>;

const message = optional(
  text({ maxLength: 500, description: 'Message of the rejection; absent = the message of the code.' }),
);

/** The details of the codes; other details are refused. */
const figures = {
  availableCash: optional(number()),
  requiredAmount: optional(number()),
  availableBuyingPower: optional(number()),
  requiredBuyingPower: optional(number()),
  availableQuantity: optional(number()),
  requiredQuantity: optional(number()),
  nextOpen: optional(text()),
  reason: optional(text()),
  until: optional(text()),
  cutoff: optional(text()),
  opensAt: optional(text()),
  symbol: optional(text()),
  positionQuantity: optional(number()),
  currentLevel: optional(integer(0, 10)),
  requiredLevel: optional(integer(0, 10)),
  dayTradeCount: optional(integer(0, 1e9)),
  restrictedUntil: optional(text()),
  callAmount: optional(number()),
  accountId: optional(uuid()),
  brokerId: optional(text()),
  restriction: optional(text()),
  quotedAt: optional(text()),
  orderId: optional(uuid()),
};
export const scriptedFigures = Object.keys(figures) as (keyof typeof figures)[];

type Figures = { readonly [Name in keyof typeof figures]?: unknown } & { readonly code?: unknown };

function checkFigures(
  body: Figures,
  report: { field: (name: keyof typeof figures, problem: string) => void },
): void {
  const code = scriptedCodes.find((one) => one === body.code);
  if (code === undefined) return;
  for (const name of scriptedFigures)
    if (body[name] !== undefined && !Object.hasOwn(errorCodes[code].details, name))
      report.field(name, `should not exist for ${code}`);
}

const code = choice(scriptedCodes, { description: 'Code of the refusal.' });

export const OutcomeReject = ruled(closed('OutcomeReject', { code, message, ...figures }), checkFigures);
export const OutcomeRejectLater = ruled(
  closed('OutcomeRejectLater', {
    code,
    message,
    after: optional(span({ description: 'Delay after acceptance; absent = none.', examples: ['PT2S'] })),
    ...figures,
  }),
  checkFigures,
);

export const OutcomeFill = ruled(
  closed('OutcomeFill', {
    quantity: optional(quantity({ description: 'Shares, contracts or units.' })),
    percent: optional(
      positive(
        { maximum: 100, decimals: 4 },
        { description: 'Percent of the whole order, rounded down to its quantity step.' },
      ),
    ),
    price: optional(
      price({
        description:
          'Price; absent = the best bid or ask, after the first quote if there is none. Never worse than the limit.',
      }),
    ),
    after: optional(
      span({ description: 'Open market time since the order reached the market.', examples: ['PT1S'] }),
    ),
  }),
  (body, report) => {
    if (body.quantity !== undefined && body.percent !== undefined)
      report.field('percent', 'should not exist together with quantity');
  },
);
export type OutcomeFill = Static<typeof OutcomeFill>;

const KINDS = ['reject', 'rejectLater', 'fill', 'hold', 'onCancel', 'error'] as const;

export const OutcomeEffect = ruled(
  closed(
    'OutcomeEffect',
    {
      reject: optional(OutcomeReject),
      rejectLater: optional(OutcomeRejectLater),
      fill: optional(
        list(
          OutcomeFill,
          { min: 0, max: 2000 },
          {
            description:
              'Up to 2,000 executions, in order. Without `quantity` and `percent`: the remaining quantity. Empty only with `rest` hold or cancel.',
          },
        ),
      ),
      rest: optional(
        choice(['market', 'hold', 'cancel'], {
          description:
            'With `fill`: the rest continues as a normal order (default), stays open without fills, or is canceled.',
        }),
      ),
      hold: optional(
        closed('OutcomeHold', {
          for: optional(
            span({
              description: 'Open market time; absent = until the outcome is deleted.',
              examples: ['PT10S'],
            }),
          ),
        }),
      ),
      onCancel: optional(
        choice(['fill', 'ignore', 'reject'], {
          description:
            'Result of a cancel: CANCELING and then a fill, CANCELING without an end, or a refusal.',
        }),
      ),
      error: optional(
        closed('OutcomeError', {
          message: optional(text({ maxLength: 500, description: 'The message of `rejectReason`.' })),
        }),
      ),
    },
    {
      description:
        'Exactly one of `reject`, `rejectLater`, `fill` (with `rest`), `hold`, `onCancel` and `error`.',
      examples: [
        { reject: { code: 'INSUFFICIENT_FUNDS', availableCash: 10 } },
        { fill: [{ percent: 30 }, { percent: 70, after: 'PT5S' }] },
        { hold: { for: 'PT10S' } },
      ],
    },
  ),
  (outcome, report) => {
    const given = KINDS.filter((kind) => outcome[kind] !== undefined);
    if (given.length !== 1)
      report.sentence(
        'reject',
        'outcome must contain exactly one of reject, rejectLater, fill, hold, onCancel, error',
      );
    if (outcome.rest !== undefined && outcome.fill === undefined)
      report.field('rest', 'should not exist without fill');
    const isEmpty = Array.isArray(outcome.fill) && outcome.fill.length === 0;
    if (isEmpty && (outcome.rest === undefined || outcome.rest === 'market'))
      report.sentence('fill', 'fill must contain at least 1 elements');
    const percent = percentOf(outcome.fill);
    if (percent > 100 + 1e-9) report.field('fill', 'must not add up to more than 100 percent');
  },
);
export type OutcomeEffect = Static<typeof OutcomeEffect>;

const percentOf = (pieces: unknown): number =>
  Array.isArray(pieces)
    ? pieces.reduce((sum: number, piece: unknown) => {
        const percent = (piece as { readonly percent?: unknown } | null)?.percent;
        return typeof percent === 'number' ? sum + percent : sum;
      }, 0)
    : 0;

export const OutcomeBody = closed(
  'OutcomeBody',
  {
    match: OutcomeMatch,
    skip: optional(
      integer(0, 1_000_000, { description: 'Number of matching orders to ignore first.', default: 0 }),
    ),
    times: optional(
      integer(0, 1_000_000, {
        description: 'Number of orders to script after that; 0 = unlimited.',
        default: 1,
      }),
    ),
    outcome: OutcomeEffect,
  },
  { examples: [{ match: { symbol: 'AAPL' }, outcome: { fill: [{ percent: 30 }], rest: 'hold' } }] },
);
export type OutcomeBody = Static<typeof OutcomeBody>;

export const ScriptedOutcome = closed('ScriptedOutcome', {
  outcomeId: uuid({ description: 'Id of the outcome, also in the explanations of its executions.' }),
  match: OutcomeMatch,
  skip: count({ description: 'Number of matching orders to ignore first.' }),
  times: count({ description: 'Number of orders to script after that; 0 = unlimited.' }),
  used: count({ description: 'Number of orders scripted so far.' }),
  outcome: OutcomeEffect,
});
export type ScriptedOutcome = Static<typeof ScriptedOutcome>;

export const OutcomePage = paged(
  'OutcomePage',
  ScriptedOutcome,
  'Outcomes, oldest first, those that are used up included.',
);
export type OutcomePage = Static<typeof OutcomePage>;

export const DeletedOutcome = closed('DeletedOutcome', { outcomeId: anyText(), message: anyText() });
export type DeletedOutcome = Static<typeof DeletedOutcome>;

export const DeletedOutcomes = closed('DeletedOutcomes', {
  deleted: count({ description: 'Number of deleted outcomes.' }),
  message: anyText(),
});
export type DeletedOutcomes = Static<typeof DeletedOutcomes>;
