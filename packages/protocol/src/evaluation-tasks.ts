/** Tasks of an evaluation: instructions for an agent, and assertions by which the journal of its simulation is graded (D211). */
import { type Static, Type } from 'typebox';
import {
  anyText,
  choice,
  closed,
  count,
  flag,
  instant,
  integer,
  list,
  listOf,
  moneyBounds,
  nameText,
  number,
  optional,
  quantityBounds,
  signed,
  simulatedTime,
  text,
} from './fields.js';
import { AssetClassValue } from './orders.js';
import { OutcomeMatch } from './outcomes.js';
import { type Report, ruled } from './rules.js';

/** Code points of the instructions of a task. */
export const LONGEST_INSTRUCTIONS = 8000;
/** Instants at which an assertion is judged. */
const WHEN = ['end', 'always', 'ever'] as const;
const MOST_ASSERTIONS = 50;
const MOST_ORDERS = 1_000_000_000;
const MOST_PORTFOLIOS = 1_000_000;

interface Bounds<Exact extends string> {
  readonly exact: Exact;
  readonly body: Readonly<Record<string, unknown>>;
  readonly report: Report<Exact | 'min' | 'max'>;
}

/** An exact figure, or bounds in the right order. */
function reportBounds<Exact extends string>({ exact, body, report }: Bounds<Exact>): void {
  const { min, max } = body;
  const isBounded = min !== undefined || max !== undefined;
  if (body[exact] !== undefined && isBounded)
    report.field(exact, 'must not be given together with min or max');
  if (body[exact] === undefined && !isBounded) report.field(exact, 'must be given, or min or max');
  reportOrder(body, report);
}

function reportOrder(
  { min, max }: { readonly min?: unknown; readonly max?: unknown },
  report: Report<'min' | 'max'>,
): void {
  if (typeof min === 'number' && typeof max === 'number' && min > max)
    report.field('max', 'must not be less than min');
}

const whichPositions = {
  symbol: optional(text({ maxLength: 32, description: 'Symbol of the instrument.', examples: ['AAPL'] })),
  underlying: optional(
    text({
      maxLength: 32,
      description:
        'Options on this underlying and futures of this root, in place of `symbol`. The shares do not count.',
    }),
  ),
};

function reportWhich(
  { symbol, underlying }: { readonly symbol?: unknown; readonly underlying?: unknown },
  report: Report<'underlying'>,
): void {
  if (symbol !== undefined && underlying !== undefined)
    report.field('underlying', 'must not be given together with symbol');
}

const shares = (description: string) => optional(signed(quantityBounds, { description }));

const PositionCondition = ruled(
  closed(
    'PositionCondition',
    {
      ...whichPositions,
      assetClass: optional(AssetClassValue),
      quantity: shares('Exactly so many shares or contracts; negative = short.'),
      min: shares('At least so many.'),
      max: shares('At most so many.'),
    },
    { description: 'Signed sum of the quantities of the positions that match.' },
  ),
  (body, report) => {
    reportWhich(body, report);
    reportBounds({ exact: 'quantity', body, report });
  },
);

const NoPositionCondition = ruled(
  closed('NoPositionCondition', whichPositions, {
    description: 'No position matches, long or short; `{}` = no position at all.',
  }),
  reportWhich,
);

const orders = (description: string) => optional(integer(0, MOST_ORDERS, { description }));

const OrderCondition = ruled(
  closed(
    'OrderCondition',
    {
      match: OutcomeMatch,
      count: orders('Exactly so many orders.'),
      min: orders('At least so many.'),
      max: orders('At most so many.'),
    },
    {
      description:
        'Number of orders that match and that the entrant has placed since `from`. Refused orders, exits of brackets and orders of the broker do not count.',
    },
  ),
  (body, report) => reportBounds({ exact: 'count', body, report }),
);

const dollars = (description: string) => optional(signed(moneyBounds, { description }));

const AmountCondition = ruled(
  closed('AmountCondition', {
    min: dollars('At least so many dollars.'),
    max: dollars('At most so many dollars.'),
  }),
  (body, report) => {
    if (body.min === undefined && body.max === undefined) report.field('min', 'must be given, or max');
    reportOrder(body, report);
  },
);

const MarginCallCondition = ruled(
  closed('MarginCallCondition', {
    open: optional(flag({ description: '`true`: a margin call is open. `false`: none is.' })),
    met: optional(
      Type.Literal(true, {
        description: 'At least one margin call was issued, and all of them are MET.',
        'x-expected': 'must be true',
      }),
    ),
  }),
  (body, report) => {
    if (body.open !== undefined && body.met !== undefined)
      report.field('met', 'must not be given together with open');
    if (body.open === undefined && body.met === undefined) report.field('open', 'must be given, or met');
  },
);

const conditions = {
  position: optional(PositionCondition),
  noPosition: optional(NoPositionCondition),
  order: optional(OrderCondition),
  cash: optional(AmountCondition),
  equity: optional(AmountCondition),
  realizedPnl: optional(AmountCondition),
  marginCall: optional(MarginCallCondition),
};

/** Reports objects that have none or several of these fields. */
function reportOneOf<Name extends string>(
  names: readonly Name[],
  body: Readonly<Record<string, unknown>>,
  report: Report<Name>,
): void {
  const given = names.filter((name) => body[name] !== undefined);
  const [first, second] = given;
  if (second !== undefined) report.field(second, `must not be given together with ${first}`);
  const [any, ...others] = names;
  if (first === undefined && any !== undefined)
    report.field(any, `must be given, or one of ${others.join(', ')}`);
}

const CONDITIONS = [
  'position',
  'noPosition',
  'order',
  'cash',
  'equity',
  'realizedPnl',
  'marginCall',
] as const;

export const TaskCondition = ruled(closed('TaskCondition', conditions), (body, report) => {
  reportOneOf(CONDITIONS, body, report);
});
export type TaskCondition = Static<typeof TaskCondition>;

export const TaskAssertion = ruled(
  closed(
    'TaskAssertion',
    {
      when: choice(WHEN, {
        description:
          '`end`: holds at `until`, after everything at that instant. `always`: holds at `from`, after every record, at every session close and at `until`. `ever`: holds at one of these, `from` excepted.',
      }),
      from: optional(
        simulatedTime({ description: 'Start of the time that counts; absent = that of the market.' }),
      ),
      until: optional(
        simulatedTime({ description: 'End of the time that counts; absent = that of the market.' }),
      ),
      portfolio: optional(
        integer(1, MOST_PORTFOLIOS, {
          description: 'Number of the portfolio in the order of opening; absent = all together.',
        }),
      ),
      ...conditions,
      anyOf: optional(
        list(TaskCondition, { min: 2, max: 10 }, { description: 'At least one of these holds.' }),
      ),
    },
    {
      description:
        'A condition on the journal. `cash` is settled, pending and reserved cash less the loan; `realizedPnl` is before charges.',
      examples: [{ when: 'end', position: { symbol: 'AAPL', quantity: 100 } }],
    },
  ),
  (body, report) => {
    reportOneOf([...CONDITIONS, 'anyOf'], body, report);
  },
);
export type TaskAssertion = Static<typeof TaskAssertion>;

export const EvaluationTask = closed(
  'EvaluationTask',
  {
    name: nameText({ description: 'Name of the task. Entrants do not see it.' }),
    instructions: text({
      maxLength: LONGEST_INSTRUCTIONS,
      'x-text': 'lines',
      description: 'Instructions for the agent.',
    }),
    assert: list(
      TaskAssertion,
      { min: 1, max: MOST_ASSERTIONS },
      { description: 'The task is passed if all of these hold.' },
    ),
  },
  {
    examples: [
      {
        name: 'Buy 100 AAPL',
        instructions: 'Hold exactly 100 shares of AAPL at the end. Do not borrow.',
        assert: [
          { when: 'end', position: { symbol: 'AAPL', quantity: 100 } },
          { when: 'always', cash: { min: 0 } },
        ],
      },
    ],
  },
);
export type EvaluationTask = Static<typeof EvaluationTask>;

const TaskExpectation = closed(
  'TaskExpectation',
  {
    quantity: optional(number()),
    count: optional(count()),
    min: optional(number()),
    max: optional(number()),
    open: optional(flag()),
    met: optional(flag()),
  },
  { description: 'The figure that the assertion requires; `count` = 0 for `noPosition`.' },
);

const figureFound = () => Type.Union([number(), flag()], { 'x-expected': 'must be a number or a boolean' });

/** Reason why a task failed. */
export const TaskFailure = closed(
  'TaskFailure',
  {
    assertion: count({ description: 'Index of the first assertion that failed, from 0.' }),
    when: choice(WHEN),
    at: instant({ description: 'Simulated time, by the recording.' }),
    sequence: optional(
      count({
        description: 'Record of the journal after which the assertion was judged; absent between records.',
      }),
    ),
    expected: Type.Union([TaskExpectation, listOf(TaskExpectation)], {
      description: 'What the assertion requires; of `anyOf` a list.',
      'x-expected': 'must be an object or a list',
    }),
    got: Type.Union([figureFound(), listOf(figureFound())], {
      description:
        'What the journal has: for `always` at the first instant that broke the assertion, for `ever` what came nearest, for `end` the last figure. Of `anyOf` a list.',
      'x-expected': 'must be a figure or a list',
    }),
    text: anyText({ description: 'The failure in a sentence.' }),
  },
  { description: 'First assertion of a task that failed, and the figure that it found.' },
);
export type TaskFailure = Static<typeof TaskFailure>;
