/**
 * Every closed list of values in the API. The list is the source; the type follows from it. A published value never changes its meaning.
 */

export const assetClasses = ['EQUITY', 'OPTION', 'FUTURE'] as const;
export type AssetClass = (typeof assetClasses)[number];

/** Classes of instruments that can be listed and quoted; an index can be neither held nor ordered. */
export const instrumentClasses = ['EQUITY', 'OPTION', 'FUTURE', 'INDEX'] as const;
export type InstrumentClass = (typeof instrumentClasses)[number];

export const orderTypes = [
  'MARKET',
  'LIMIT',
  'STOP',
  'STOP_LIMIT',
  'TRAILING_STOP',
  'TRAILING_STOP_LIMIT',
] as const;
export type OrderType = (typeof orderTypes)[number];

export const positionIntents = ['BUY_TO_OPEN', 'BUY_TO_CLOSE', 'SELL_TO_OPEN', 'SELL_TO_CLOSE'] as const;
export type PositionIntent = (typeof positionIntents)[number];

export const continuousTimesInForce = ['DAY', 'GTC', 'IOC', 'FOK', 'GTD'] as const;
/** OPG and CLS are for the auctions of the open and the close. */
export const timesInForce = [...continuousTimesInForce, 'OPG', 'CLS'] as const;
export type TimeInForce = (typeof timesInForce)[number];

export const orderStatuses = [
  'CREATED',
  'PENDING',
  'PENDING_MARKET_OPEN',
  'RESERVING',
  'ACTIVE',
  'FILLED',
  'CANCELING',
  'CANCELED',
  'REJECTED',
  'ERROR',
] as const;
export type OrderStatus = (typeof orderStatuses)[number];

/** Why an order is CANCELED (D19, D135). */
export const cancelReasons = [
  'USER',
  'EXPIRED',
  'IOC_REMAINDER',
  'FOK_NOT_FILLABLE',
  'OCO',
  'RESET',
  'MARGIN_CALL',
  'BROKER',
  'CORPORATE_ACTION',
  'INSTRUMENT_EXPIRED',
  'INSUFFICIENT_FUNDS',
  'STALE_MARKET_DATA',
  'TRADING_HALTED',
  'SCRIPTED',
  'COMPETITION',
] as const;
export type CancelReason = (typeof cancelReasons)[number];

/** The sessions an order may be for (D25). */
export const orderSessions = ['REGULAR', 'EXTENDED'] as const;
export type OrderSession = (typeof orderSessions)[number];

export const latencyProfiles = ['RETAIL', 'INSTITUTIONAL', 'COLOCATED', 'CUSTOM'] as const;
export type LatencyProfile = (typeof latencyProfiles)[number];

export const strategies = [
  'VERTICAL_SPREAD',
  'IRON_CONDOR',
  'BUTTERFLY',
  'CALENDAR_SPREAD',
  'STRADDLE',
  'STRANGLE',
  'CUSTOM',
] as const;
export type Strategy = (typeof strategies)[number];

/** Exactly this many legs (contract 4.2); CUSTOM has two to four (D270). */
export const strategyLegCounts = {
  VERTICAL_SPREAD: 2,
  IRON_CONDOR: 4,
  BUTTERFLY: 3,
  CALENDAR_SPREAD: 2,
  STRADDLE: 2,
  STRANGLE: 2,
} as const satisfies Record<Exclude<Strategy, 'CUSTOM'>, number>;

/** Names of spreads by their shape (D104), which `shape` of a CUSTOM order shows (D270). */
export const spreadShapes = [
  'DEBIT_SPREAD',
  'CREDIT_SPREAD',
  'LONG_BUTTERFLY',
  'SHORT_BUTTERFLY',
  'IRON_CONDOR',
  'IRON_BUTTERFLY',
  'LONG_CALENDAR',
  'LONG_BOX',
  'SHORT_BOX',
  'LONG_CONDOR',
  'SHORT_CONDOR',
  'DIAGONAL_SPREAD',
  'UNIVERSAL_SPREAD',
] as const;

/** The exits of a bracket rest until the entry has ended; an immediate time in force would make no sense. */
export const bracketTimesInForce = ['DAY', 'GTC'] as const;
export type BracketTimeInForce = (typeof bracketTimesInForce)[number];

/** Liquidity flag of an execution: it executed against a resting quote (TAKER), or rested until the market reached it (MAKER). */
export const liquidityFlags = ['TAKER', 'MAKER'] as const;
export type LiquidityFlag = (typeof liquidityFlags)[number];

export const portfolioTypes = ['CASH', 'MARGIN'] as const;
export type PortfolioType = (typeof portfolioTypes)[number];

export const accountTypes = ['INDIVIDUAL', 'IRA', 'ROTH_IRA'] as const;
export type AccountType = (typeof accountTypes)[number];

export const accountStatuses = ['ACTIVE', 'FROZEN'] as const;
export type AccountStatus = (typeof accountStatuses)[number];

export const marginTypes = ['REG_T', 'PORTFOLIO'] as const;
export type MarginType = (typeof marginTypes)[number];

/** Margin types of a portfolio in the eligibility answer; a CASH portfolio has NONE (D14). */
export const currentMarginTypes = ['NONE', 'REG_T', 'PORTFOLIO'] as const;
export type CurrentMarginType = (typeof currentMarginTypes)[number];

export const portfolioMarginEngineTypes = ['SIMPLE', 'SPAN', 'TIMS'] as const;
export type PortfolioMarginEngineType = (typeof portfolioMarginEngineTypes)[number];

export const fillModels = ['ideal', 'quote', 'depth', 'strict'] as const;
export type FillModel = (typeof fillModels)[number];

export const dayTradeRegimes = ['LEGACY_PDT', 'INTRADAY_MARGIN'] as const;
export type DayTradeRegime = (typeof dayTradeRegimes)[number];

export const liquidations = ['NEVER', 'WHEN_DUE', 'AT_ONCE'] as const;

export const optionTypes = ['CALL', 'PUT'] as const;
export type OptionType = (typeof optionTypes)[number];

export const optionStyles = ['AMERICAN', 'EUROPEAN'] as const;
export type OptionStyle = (typeof optionStyles)[number];

export const optionSettlements = ['PHYSICAL', 'CASH'] as const;
export type OptionSettlement = (typeof optionSettlements)[number];

export const settleSessions = ['AM', 'PM'] as const;
export type SettleSession = (typeof settleSessions)[number];

export const underlyingClasses = ['EQUITY', 'NARROW_INDEX', 'BROAD_INDEX'] as const;
export type UnderlyingClass = (typeof underlyingClasses)[number];

export const curveIntervals = ['1m', '5m', '1h', '1d'] as const;

export const activityCategories = [
  'ORDER',
  'EXECUTION',
  'CASH',
  'SETTLEMENT',
  'MARGIN',
  'OPTION',
  'CORPORATE_ACTION',
  'SYSTEM',
] as const;
export type ActivityCategory = (typeof activityCategories)[number];

/** Names of the groups of a margin requirement (D43). */
export const marginStrategies = [
  'LONG_STOCK',
  'SHORT_STOCK',
  'LONG_CALL',
  'LONG_PUT',
  'NAKED_CALL',
  'NAKED_PUT',
  'COVERED_CALL',
  'COVERED_PUT',
  'PROTECTIVE_CALL',
  'PROTECTIVE_PUT',
  'COLLAR',
  'CONVERSION',
  'REVERSAL',
  'DEBIT_SPREAD',
  'CREDIT_SPREAD',
  'SHORT_STRADDLE',
  'SHORT_STRANGLE',
  'LONG_BUTTERFLY',
  'SHORT_BUTTERFLY',
  'IRON_CONDOR',
  'IRON_BUTTERFLY',
  'LONG_CALENDAR',
  'SHORT_CALENDAR',
  'LONG_BOX',
  'SHORT_BOX',
  'LONG_CONDOR',
  'SHORT_CONDOR',
  'DIAGONAL_SPREAD',
  'UNIVERSAL_SPREAD',
  'FUTURE',
  'FUTURE_SPREAD',
  'CLASS_GROUP',
] as const;
export type MarginStrategy = (typeof marginStrategies)[number];

/** Types of margin calls (D119). */
export const callTypes = [
  'REG_T',
  'MAINTENANCE',
  'MINIMUM_EQUITY',
  'DAY_TRADE',
  'INTRADAY',
  'PORTFOLIO',
  'FUTURES',
] as const;
export type CallType = (typeof callTypes)[number];

export const callStatuses = ['OPEN', 'MET', 'LIQUIDATED'] as const;
export type CallStatus = (typeof callStatuses)[number];

export const corporateActionTypes = [
  'SPLIT',
  'CASH_DIVIDEND',
  'SPECIAL_DIVIDEND',
  'STOCK_DIVIDEND',
  'SYMBOL_CHANGE',
  'SPIN_OFF',
  'MERGER',
  'DELISTING',
] as const;
export type CorporateActionType = (typeof corporateActionTypes)[number];
export const corporateActionStatuses = ['ANNOUNCED', 'EFFECTIVE'] as const;

/** Parts of the trading day. */
export const marketSessions = ['PRE', 'REGULAR', 'POST', 'CLOSED'] as const;
export type MarketSession = (typeof marketSessions)[number];

export const barTimeframes = ['1Min', '5Min', '15Min', '1Hour', '1Day'] as const;
export type BarTimeframe = (typeof barTimeframes)[number];

export const feeds = ['synthetic', 'replay', 'push', 'live'] as const;
export type FeedKind = (typeof feeds)[number];

export const clockModes = ['wall', 'manual', 'scaled'] as const;
export type ClockMode = (typeof clockModes)[number];

/** Models of early assignment (D89). */
export const earlyAssignments = ['OFF', 'DIVIDENDS', 'MODEL'] as const;
export type EarlyAssignment = (typeof earlyAssignments)[number];

/** IMPORTING, READY and FAILED are of imports; BROKEN cannot be opened. */
export const simulationStatuses = ['IMPORTING', 'READY', 'FAILED', 'BROKEN'] as const;

export const calendars = ['XNYS', 'always-open'] as const;
export type CalendarId = (typeof calendars)[number];

/** Subscription tiers, the smallest first. */
export const tiers = ['BASIC', 'PRO', 'ENTERPRISE'] as const;
export type Tier = (typeof tiers)[number];

/** Scopes of a token (D3). */
export const scopes = ['trade', 'read', 'simulate', 'admin', 'operator'] as const;
export type Scope = (typeof scopes)[number];

/** Rights of an agent's token: each level includes those before it; `control` applies in simulations of its own. */
export const agentLevels = ['read', 'preview', 'capped', 'full', 'control'] as const;
export type AgentLevel = (typeof agentLevels)[number];

/** The names of the server-sent events (D36, D37). */
export const streamEvents = [
  'order-update',
  'portfolio-update',
  'quote',
  'halt',
  'resume',
  'alert',
  'leaderboard',
  'heartbeat',
  'reset',
  'error',
] as const;
export type StreamEvent = (typeof streamEvents)[number];

/** Transitions of an `order-update`: a status that the order moved to, or an event within a status. */
export const orderTransitions = [
  'CREATED',
  'PENDING',
  'PENDING_MARKET_OPEN',
  'RESERVING',
  'ACTIVE',
  'TRIGGERED',
  'UPDATED',
  'TRAILED',
  'PARTIALLY_FILLED',
  'FILLED',
  'CANCELING',
  'CANCELED',
  'REJECTED',
  'ERROR',
] as const;
export type OrderTransition = (typeof orderTransitions)[number];

/** Goals of an advance of a manual clock that need no instant (D174). */
export const clockGoals = ['next-quote', 'next-event', 'next-open', 'next-close', 'next-bar'] as const;
export type ClockGoal = (typeof clockGoals)[number];

/** Side of its level on which a price alert fires, and its state (D281). */
export const alertConditions = ['ABOVE', 'BELOW'] as const;
export const alertStatuses = ['ACTIVE', 'FIRED', 'ENDED'] as const;

/** The types of the events that webhooks are sent (D191). */
export const webhookEvents = [
  'order.accepted',
  'order.active',
  'order.filled',
  'order.partially-filled',
  'order.canceled',
  'order.rejected',
  'order.updated',
  'margin-call.opened',
  'margin-call.met',
  'margin-call.liquidated',
  'position.expired',
  'position.assigned',
  'position.exercised',
  'corporate-action.applied',
  'transfer.booked',
  'market.halted',
  'market.resumed',
  'alert.fired',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/** Everything that `events` of a webhook may name: all types, a group, or one type. */
export const webhookPatterns = [
  '*',
  'order.*',
  'margin-call.*',
  'position.*',
  'corporate-action.*',
  'transfer.*',
  'market.*',
  'alert.*',
  ...webhookEvents,
] as const;
export type WebhookPattern = (typeof webhookPatterns)[number];

/** Progress of a comparison (D173). */
export const comparisonStatuses = ['QUEUED', 'RUNNING', 'DONE', 'FAILED', 'CANCELED'] as const;

/** Outcome of a row of a comparison: executed to its end, or not. */
export const rowStatuses = ['DONE', 'FAILED'] as const;

/** Difference of the first order with another outcome. */
export const differenceKinds = ['REJECTED', 'PRICE', 'QUANTITY', 'FEE', 'STATUS'] as const;

/** Phases of a competition (D194). */
export const competitionStatuses = ['OPEN', 'RUNNING', 'FINISHED', 'CANCELED'] as const;
export type CompetitionStatus = (typeof competitionStatuses)[number];

/** Phases of an evaluation (D210). */
export const evaluationStatuses = ['OPEN', 'RUNNING', 'DONE'] as const;
/** Phases of a cell of an evaluation, and why one has ended (D210). */
export const cellStatuses = ['OPEN', 'RUNNING', 'DONE', 'ABANDONED'] as const;
export const cellReasons = ['END', 'FINISH', 'TIME_LIMIT', 'CALL_LIMIT', 'WITHDRAWN'] as const;
/** Strategies that the server plays in an evaluation (D210). */
export const baselineNames = ['hold', 'random', 'noop'] as const;

/** Kinds of entries of a competition (D195, D196). */
export const entryStatuses = ['ACTIVE', 'ELIMINATED', 'DISQUALIFIED', 'WITHDRAWN'] as const;
export type EntryStatus = (typeof entryStatuses)[number];

/** Ranking measures of a competition (D194). */
export const scorings = ['TOTAL_RETURN', 'SHARPE', 'SORTINO', 'CALMAR'] as const;
export type Scoring = (typeof scorings)[number];

/** The rules of a competition that may refuse an order (D194, D195). */
export const competitionRules = [
  'assetClasses',
  'symbols',
  'shortSelling',
  'optionLevel',
  'minPrice',
  'maxPositionPercent',
  'maxOrdersPerMinute',
  'maxDailyLossPercent',
  'trailingDrawdownPercent',
] as const;
export type CompetitionRule = (typeof competitionRules)[number];
