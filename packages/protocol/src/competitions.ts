/** Competitions (D194–D196): one market, many entries, each its own simulation; rules, leaderboard, result. */
import { type Static, Type } from 'typebox';
import { calendars, competitionRules, competitionStatuses, entryStatuses, scorings } from './enums.js';
import { PortfolioTypeValue } from './accounts.js';
import {
  anyText,
  choice,
  closed,
  count,
  exactly,
  flag,
  instant,
  integer,
  list,
  listOf,
  moneyBounds,
  namedChoice,
  number,
  optional,
  parameters,
  positive,
  price,
  simulatedTime,
  text,
  uuid,
  nameText,
} from './fields.js';
import { AssetClassValue, LatencyProfileValue } from './orders.js';
import { isNameable } from './formats.js';
import { maskField, reportMaskOnWall } from './masks.js';
import { pageFields, paged } from './paging.js';
import { FillModelValue } from './portfolios.js';
import { type Rule, ruled } from './rules.js';
import { ClockModeValue, clockSpeedBounds } from './simulation.js';
import { FeedValue } from './simulations.js';

/** Most entrants of one competition. */
const MOST_ENTRANTS = 10_000;
/** Longest display name, code points. */
export const LONGEST_DISPLAY_NAME = 40;

const percent = (description: string) =>
  positive({ maximum: 100, decimals: 4 }, { description, 'x-expected': 'must be a positive number' });

export const ScoringValue = namedChoice('Scoring', scorings, {
  description:
    '`TOTAL_RETURN`: time-weighted return. `SHARPE`, `SORTINO`: ratio of the returns, with risk-free rate 0, not annualized. `CALMAR`: total return divided by the maximum drawdown.',
});

export const CompetitionMarket = ruled(
  closed('CompetitionMarket', {
    feed: FeedValue,
    clock: ClockModeValue,
    calendar: optional(choice(calendars)),
    start: simulatedTime({ description: 'Simulated time at which trading begins.' }),
    end: simulatedTime({ description: 'Simulated time at which trading ends.' }),
    speed: optional(
      positive(clockSpeedBounds, { description: 'Simulated seconds per real second. Scaled clocks only.' }),
    ),
    seed: optional(
      Type.Union([text(), Type.Integer()], {
        description: 'Seed, combined with 128 random bits of the server.',
        'x-expected': 'must be a string or an integer',
      }),
    ),
    replay: optional(
      text({
        description: 'Recorded symbols, separated by commas; absent = all. Replay feed only.',
      }),
    ),
    mask: optional(
      maskField(
        'For the replay feed: what of the recording is hidden from entrants; absent or true = symbols, dates (`SESSIONS`) and prices, false = nothing. On a wall clock dates stay.',
      ),
    ),
    luld: optional(flag({ description: 'Whether limit up, limit down is simulated; absent = false.' })),
  }),
  (body, report) => {
    const { feed, clock } = body;
    if (body.speed !== undefined && (clock === 'wall' || clock === 'manual'))
      report.field('speed', `should not exist for ${clock} clocks`);
    for (const field of ['replay', 'mask'] as const)
      if (body[field] !== undefined && typeof feed === 'string' && feed !== 'replay')
        report.field(field, `should not exist for ${feed} feeds`);
    if (typeof body.replay === 'string' && body.replay.split(',').some((symbol) => symbol.trim() === ''))
      report.field('replay', 'must be symbols, separated by commas');
    if (feed === 'live') {
      if (body.luld === true) report.field('luld', 'should not exist for live feeds');
      if (clock !== undefined && clock !== 'wall') report.field('clock', 'must be wall for live feeds');
      if (body.calendar !== undefined && body.calendar !== 'XNYS')
        report.field('calendar', 'must be XNYS for live feeds');
    }
    reportMaskOnWall(body, report);
    const { start, end } = body;
    if (typeof start === 'string' && typeof end === 'string' && Date.parse(start) >= Date.parse(end))
      report.field('end', 'must be after start');
  },
);
export type CompetitionMarket = Static<typeof CompetitionMarket>;

export const CompetitionRules = closed('CompetitionRules', {
  initialCash: positive(moneyBounds, { description: 'Initial cash of each entry, dollars.' }),
  portfolioType: PortfolioTypeValue,
  brokerId: text({ description: 'Broker configuration of every entry.', examples: ['default'] }),
  assetClasses: list(
    AssetClassValue,
    { min: 1, max: 3, unique: true },
    { description: 'Asset classes in which positions may be opened.' },
  ),
  optionLevel: optional(
    integer(0, 4, { description: 'Highest option level, 0 to 4; absent = that of the broker.' }),
  ),
  shortSelling: optional(
    flag({ description: 'Whether shares may be sold short; absent = as the broker allows.' }),
  ),
  latencyProfile: optional(LatencyProfileValue),
  fillModel: optional(FillModelValue),
  maxPositionPercent: optional(
    percent(
      'Highest market value of the shares of a symbol plus that of the options on it, in percent of total equity.',
    ),
  ),
  maxOrdersPerMinute: optional(
    integer(1, 100_000, { description: 'Maximum orders accepted per minute of the simulated clock.' }),
  ),
  minPrice: optional(price({ description: 'Minimum last price for opening a position, dollars.' })),
  symbols: optional(
    list(
      text({ maxLength: 32 }),
      { min: 1, max: 1000, unique: true },
      { description: 'Symbols that may be traded; for options the underlying, for futures the root.' },
    ),
  ),
  maxDailyLossPercent: optional(
    percent('Loss since the last session close, in percent of its equity, that eliminates an entry.'),
  ),
  trailingDrawdownPercent: optional(
    percent('Decline from the highest equity, in percent of it, that eliminates an entry.'),
  ),
  entriesPerTenant: optional(integer(1, 1000, { description: 'Maximum entries per tenant; absent = 1.' })),
  minTrades: optional(
    integer(0, 1_000_000, {
      description: 'Minimum executions for a ranked score; absent = 1.',
    }),
  ),
});
export type CompetitionRules = Static<typeof CompetitionRules>;

const entryModes = ['OPEN', 'CODE'] as const;
const visibilities = ['PUBLIC', 'PRIVATE'] as const;

const settings = {
  name: nameText({ description: 'Name of the competition.' }),
  market: CompetitionMarket,
  rules: CompetitionRules,
  scoring: ScoringValue,
  entry: choice(entryModes, { description: '`CODE`: entering requires the join code.' }),
  capacity: optional(integer(1, MOST_ENTRANTS, { description: 'Maximum entries; absent = 10,000.' })),
  visibility: choice(visibilities, {
    description: '`PUBLIC`: the competition and its leaderboard are readable without a token.',
  }),
};

export const CompetitionBody = closed('CompetitionBody', settings, {
  examples: [
    {
      name: 'Spring cup',
      market: {
        feed: 'synthetic',
        clock: 'scaled',
        speed: 60,
        start: '2026-01-05T14:30:00Z',
        end: '2026-01-09T21:00:00Z',
      },
      rules: { initialCash: 100000, portfolioType: 'MARGIN', brokerId: 'default', assetClasses: ['EQUITY'] },
      scoring: 'TOTAL_RETURN',
      entry: 'OPEN',
      visibility: 'PRIVATE',
    },
  ],
});
export type CompetitionBody = Static<typeof CompetitionBody>;

export const UpdateCompetitionBody = closed(
  'UpdateCompetitionBody',
  {
    name: optional(settings.name),
    market: optional(settings.market),
    rules: optional(settings.rules),
    scoring: optional(settings.scoring),
    entry: optional(settings.entry),
    capacity: settings.capacity,
    visibility: optional(settings.visibility),
  },
  {
    description:
      'Omitted fields keep their values. `market`, `rules` and `scoring` are fixed once the first entry exists.',
  },
);
export type UpdateCompetitionBody = Static<typeof UpdateCompetitionBody>;

const competitionFields = {
  competitionId: uuid(),
  name: anyText(),
  status: namedChoice('CompetitionStatus', competitionStatuses),
  paused: flag({ description: 'Whether trading is paused by the organizer.' }),
  market: CompetitionMarket,
  rules: CompetitionRules,
  scoring: ScoringValue,
  entry: choice(entryModes),
  capacity: optional(count()),
  visibility: choice(visibilities),
  entries: count({ description: 'Entries that have not been withdrawn.' }),
  isOrganizer: flag({ description: 'Whether the competition belongs to the tenant of the token.' }),
  now: optional(instant({ description: 'Current time of the market clock.' })),
  simulationId: optional(anyText({ description: 'Simulation of the market. Organizer only.' })),
  joinCode: optional(anyText({ description: 'Join code. Organizer only.' })),
  journalHash: optional(
    anyText({ description: 'Hash over the journals of the competition; present once it is FINISHED.' }),
  ),
  createdAt: instant({ description: 'Wall-clock time.' }),
};

export const Competition = closed('Competition', competitionFields);
export type Competition = Static<typeof Competition>;

/** The answer of a create: with a token of the organizer for the market, of scopes `simulate` and `read`. */
export const CreatedCompetition = closed('CreatedCompetition', { ...competitionFields, token: anyText() });
export type CreatedCompetition = Static<typeof CreatedCompetition>;

export const CompetitionPage = paged(
  'CompetitionPage',
  Competition,
  'Competitions that are public, organized by the tenant or entered by it, newest first.',
);
export type CompetitionPage = Static<typeof CompetitionPage>;

export const CompetitionQuery = parameters({
  ...pageFields,
  status: optional(choice(competitionStatuses, { description: 'Only competitions with this status.' })),
});
export type CompetitionQuery = Static<typeof CompetitionQuery>;

export const DeletedCompetition = closed('DeletedCompetition', { competitionId: uuid(), message: anyText() });
export type DeletedCompetition = Static<typeof DeletedCompetition>;

const DISPLAY_NAME = `^(?!\\s)[^\\p{C}\\p{Zl}\\p{Zp}]{1,${LONGEST_DISPLAY_NAME}}(?<!\\s)$`;

/** Name of a person or program among others. */
export const displayNameText = (description: string) =>
  text({
    // Code points beyond the basic plane count twice in a length.
    maxLength: 2 * LONGEST_DISPLAY_NAME,
    pattern: DISPLAY_NAME,
    description,
    'x-expected': 'must be 1 to 40 visible characters',
    examples: ['Momentum Mia'],
  });

export const reportDisplayName: Rule<{ displayName: string }> = ({ displayName }, report) => {
  if (typeof displayName !== 'string' || !new RegExp(DISPLAY_NAME, 'u').test(displayName)) return;
  if (!isNameable(displayName)) report.field('displayName', 'must contain a letter or a digit');
};

export const EnterCompetitionBody = ruled(
  closed(
    'EnterCompetitionBody',
    {
      displayName: displayNameText(
        'Name on the leaderboard, unique in the competition without regard to case and width: 1 to 40 visible characters, at least one a letter or a digit.',
      ),
      joinCode: optional(text({ description: 'Join code; required if `entry` is CODE.' })),
    },
    { examples: [{ displayName: 'Momentum Mia' }] },
  ),
  reportDisplayName,
);
export type EnterCompetitionBody = Static<typeof EnterCompetitionBody>;

export const EntryStatusValue = namedChoice('EntryStatus', entryStatuses);

const entryFields = {
  entryId: uuid(),
  competitionId: uuid(),
  displayName: anyText(),
  portfolioId: uuid(),
  simulationId: anyText({ description: 'Simulation of the entry.' }),
  status: EntryStatusValue,
  reason: optional(anyText({ description: 'Reason for the elimination or disqualification.' })),
  createdAt: instant({ description: 'Wall-clock time.' }),
};

export const Entry = closed('Entry', entryFields);
export type Entry = Static<typeof Entry>;

const entryToken = anyText({
  description: 'A JWT that trades the portfolio of the entry and reads its market.',
});

export const CreatedEntry = closed('CreatedEntry', { ...entryFields, token: entryToken });
export type CreatedEntry = Static<typeof CreatedEntry>;

/** The entry that a token trades, for pages and programs that have nothing but the token (D195). */
export const OwnEntry = closed('OwnEntry', {
  ...entryFields,
  rank: optional(count({ description: 'Rank on the leaderboard, at most a second old.' })),
  totalEquity: optional(number({ description: 'Equity on the leaderboard, dollars.' })),
  return: optional(number({ description: 'Time-weighted return on the leaderboard, a fraction.' })),
  competition: Competition,
});
export type OwnEntry = Static<typeof OwnEntry>;

export const EntryPage = paged(
  'EntryPage',
  Entry,
  'Entries, oldest first: all of them for the organizer, otherwise those of the tenant.',
);
export type EntryPage = Static<typeof EntryPage>;

export const IssuedEntryToken = closed('IssuedEntryToken', {
  competitionId: uuid(),
  entryId: uuid(),
  portfolioId: uuid(),
  simulationId: anyText(),
  token: entryToken,
  tokenType: exactly('Bearer'),
  expiresIn: count({ description: 'Seconds.' }),
  expiresAt: instant(),
});
export type IssuedEntryToken = Static<typeof IssuedEntryToken>;

export const UpdateEntryBody = closed(
  'UpdateEntryBody',
  {
    status: exactly('DISQUALIFIED'),
    reason: optional(text({ description: 'Shown with the entry.' })),
  },
  { examples: [{ status: 'DISQUALIFIED', reason: 'two accounts of one person' }] },
);
export type UpdateEntryBody = Static<typeof UpdateEntryBody>;

export const LeaderboardRow = closed('LeaderboardRow', {
  rank: integer(1, MOST_ENTRANTS + 1, { description: 'Rank; ties share a rank (1, 2, 2, 4).' }),
  entryId: uuid(),
  displayName: anyText(),
  totalEquity: number({ description: 'Dollars.' }),
  return: number({ description: 'Total return as a fraction: 0.05 is 5 percent.' }),
  score: optional(
    number({ description: 'Score by the scoring rule of the competition; absent if it cannot be computed.' }),
  ),
  sharpe: optional(number({ description: 'Sharpe ratio of the returns, not annualized.' })),
  maxDrawdown: number({ description: 'Largest decline from a high, as a fraction of it.' }),
  trades: count({ description: 'Executions.' }),
  status: EntryStatusValue,
});
export type LeaderboardRow = Static<typeof LeaderboardRow>;

export const Leaderboard = closed('Leaderboard', {
  competitionId: uuid(),
  at: instant({ description: 'Simulated time of the figures.' }),
  status: namedChoice('CompetitionStatus', competitionStatuses),
  rows: listOf(LeaderboardRow, { description: 'Rows sorted by rank, then by name.' }),
  journalHash: optional(anyText({ description: 'Present once the result is final.' })),
});
export type Leaderboard = Static<typeof Leaderboard>;

const ticket = optional(
  text({
    maxLength: 4096,
    description: 'Ticket from `POST /v1/stream/ticket`, instead of the bearer token.',
  }),
);

export const LeaderboardStreamQuery = parameters({ ticket });
export type LeaderboardStreamQuery = Static<typeof LeaderboardStreamQuery>;

const CompetitionEquityPoint = closed('CompetitionEquityPoint', {
  at: instant(),
  equity: number({ description: 'Total equity in dollars.' }),
});

export const LeaderboardCurve = closed('LeaderboardCurve', {
  rank: count(),
  entryId: uuid(),
  displayName: anyText(),
  points: listOf(CompetitionEquityPoint, {
    description: 'Points at the start, at each full hour of the session or each close, and now.',
  }),
});

export const LeaderboardCurves = closed('LeaderboardCurves', {
  competitionId: uuid(),
  at: instant(),
  curves: listOf(LeaderboardCurve, { description: 'Equity curves of the ten highest ranks.' }),
});
export type LeaderboardCurves = Static<typeof LeaderboardCurves>;

/** A line of an exported competition. */
export const CompetitionExportLine = Type.Union(
  [
    Type.Object(
      {
        type: exactly('competition'),
        format: Type.Integer({ description: 'Format of the file.' }),
        competitionId: uuid(),
        competition: Type.Object({}, { description: 'Request body that created the competition.' }),
        scoring: ScoringValue,
        minTrades: count(),
        draw: anyText({ description: '128-bit seed of prices, random draws and ids, in hex.' }),
        marketId: anyText(),
        entries: Type.Array(Type.Object({}), {
          description: 'Entries with `equity`: total equity at the start, every close and the end.',
        }),
        result: Type.Object({}, { description: '`at`, `rows` of the leaderboard and `journalHash`.' }),
      },
      { title: 'Competition' },
    ),
    Type.Object({}, { title: 'Line of an exported simulation' }),
  ],
  {
    $id: 'CompetitionExportLine',
    description: 'Lines of JSON: the competition, then the lines of its simulations.',
  },
);
export type CompetitionExportLine = Static<typeof CompetitionExportLine>;

export const CompetitionParams = parameters({ competitionId: uuid({ description: 'The competition.' }) });
export const EntryParams = parameters({
  competitionId: uuid({ description: 'The competition.' }),
  entryId: uuid({ description: 'The entry.' }),
});

/** The rules that a refusal of an entry's order names. */
export const CompetitionRuleValue = choice(competitionRules, {
  description: 'Competition rule that the order violates.',
});
