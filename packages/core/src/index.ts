export { Money } from './values/money.js';
export { Price } from './values/price.js';
export { Quantity } from './values/quantity.js';
export { Instant } from './values/instant.js';
export { TradingDate } from './values/trading-date.js';
export { hash32, seedOf, uniform } from './values/seeded.js';
export type { Calendar, TradingDay } from './calendar/calendar.js';
export { calendarById, isCalendar, movedCalendar, plainCalendar } from './calendar/calendars.js';
export { SessionMap } from './calendar/xnys.js';
export { marketHours } from './calendar/hours.js';
export type { HoursId, MarketHours, SessionKind, TradingSession } from './calendar/market-hours.js';
export { plainEquity } from './instruments/equity.js';
export type { Equity } from './instruments/equity.js';
export type { FutureContract } from './instruments/future.js';
export type { IndexUnderlying } from './instruments/index-underlying.js';
export { pricePer, tradableOf, valueOf } from './instruments/instrument.js';
export type { AssetClass, Instrument, Tradable } from './instruments/instrument.js';
export { futureContract } from './instruments/future-contract.js';
export { marginOf } from './instruments/future-margins.js';
export { futureMarginOf } from './margin/futures.js';
export { futureSpecification } from './instruments/future-specifications.js';
export { parseFutureSymbol } from './instruments/future-symbols.js';
export { KnownInstruments } from './instruments/known-instruments.js';
export type { Instruments, Listing } from './instruments/listing.js';
export { hasSameOthers, lastTradeDateOf } from './instruments/option.js';
export type { OptionContract, OptionSeries } from './instruments/option.js';
export { optionContract, tickClassOf } from './instruments/option-roots.js';
export type { ClassOf } from './instruments/option-roots.js';
export { formatOsi, isLongAsOsi, parseOsi, rootOfOsi, seriesNameOf } from './instruments/osi.js';
export type { OsiSymbol } from './instruments/osi.js';
export { usualVolatilityOf } from './instruments/option-series.js';
export { tickFor } from './instruments/tick-size.js';
export {
  canonicalSymbol,
  instrumentNamed,
  namesAdjusted,
  optionOnListed,
  unknownDeliverable,
} from './instruments/symbols.js';
export { pushProblem } from './commands/market/update-market.js';
export { dailySettlementAt, hoursOf, tradingEndsAt } from './instruments/trading-hours.js';
export { WHOLE_MARKET } from './instruments/halted-by.js';
export { haltOf } from './market/halts.js';
export type { Halt } from './market/halts.js';
export type { Bar, Quote, UsualDay } from './market/quote.js';
export type { Alert, AlertCondition, AlertTerms } from './market/alert.js';
export { agesFrom, isUsable, markOf } from './market/quote.js';
export { announcementOf } from './commands/market/market-setup.js';
export type {
  AnnouncedRatio,
  CashDividend,
  CorporateAction,
  ShareRatio,
  Split,
} from './corporate-actions/corporate-action.js';
export {
  excludes,
  ACTION_MEMORY_DAYS,
  actionIdOf,
  effectiveAt,
  hasSameTerms,
  isDividend,
  isUpcoming,
  newSymbolOf,
  splitOf,
  turnOf,
  wholeRatio,
} from './corporate-actions/corporate-action.js';
export type { PositionConverted } from './lifecycle/conversion.js';
export { conditionsAt } from './options/model/conditions.js';
export type { Conditions, DividendAhead } from './options/model/conditions.js';
export { exp, log } from './options/model/exponential.js';
export {
  HIGHEST_VOLATILITY,
  impliedVolatility,
  LOWEST_VOLATILITY,
} from './options/model/implied-volatility.js';
export { optionMarkOf } from './options/model/mark.js';
export { greeksOf, markOfOption, modelPriceOf, optionFiguresOf } from './options/option-figures.js';
export type { ContractGreeks, OptionFigures } from './options/option-figures.js';
export type { OptionMarket } from './options/option-market.js';
export { seriesConditionsOf, underlyingPriceOf } from './options/underlying.js';
export type { OptionTerms, OptionType } from './options/model/option-terms.js';
export {
  conditionsOf,
  optionPrice,
  optionTermsOf,
  optionValue,
  settlesAt,
} from './options/model/valuation.js';
export type { Greeks, UnderlyingNow } from './options/model/valuation.js';
export type {
  BracketConfig,
  BracketPart,
  CancelReason,
  GoodTill,
  LatencyProfile,
  OcoConfig,
  Order,
  OrderLeg,
  OrderProgress,
  OrderSession,
  OrderStatus,
  OrderTerms,
  OrderType,
  PositionIntent,
  Side,
  TimeInForce,
} from './orders/order.js';
export { isOpening, isStop, leaderOf, legRatios, sideOf, symbolsTraded } from './orders/order.js';
export { isTerminal } from './orders/status.js';
export type { OrderRequest } from './orders/order-request.js';
export { isCustom, netLimitOf, unitsOf } from './orders/structure.js';
export { shapeOfLegs } from './margin/reg-t/shape-of-legs.js';
export type {
  OrderAccepted,
  OrderMoved,
  OrderPlaced,
  OrderRejected,
  OrderTransition,
  ProgressChanges,
} from './orders/order-event.js';
export type { CompetitionRule, OrderRejection } from './orders/order-rejection.js';
export { copyOf, startOf, termsOf } from './orders/progress.js';
export { commissionDue } from './fees/commission.js';
export { cashOfExecution, commissionOf, feesOf, tradedBy } from './orders/execution.js';
export type { Execution, FillRule } from './orders/execution.js';
export type { InsufficientFunds, Refusal, ScriptedCode, ScriptedRefusal } from './orders/refusal.js';
export { refusalText, SCRIPTED_CODES } from './orders/refusal.js';
export type { OutcomeMatch, OutcomeRule } from './orders/outcome-rule.js';
export { matchesOrder } from './orders/outcome-rule.js';
export type { Delay, Script, ScriptPiece } from './orders/script.js';
export type { Tier } from './orders/tier.js';
export { tradeEntries } from './trading/entries.js';
export { orderAfter, placedOrder, tradeDateOf } from './trading/follow-order.js';
export type { OrderSnapshot } from './trading/follow-order.js';
export type { BookedExecution, OrderExecuted } from './trading/trade.js';
export { Ids, NAMES_PER_ORDER } from './values/ids.js';
export type { IdKind } from './values/ids.js';
export type {
  BrokerConfiguration,
  CommissionSchedule,
  DayTradeRegime,
  MarginInterestTier,
} from './brokers/broker.js';
export type { Lot, LotClosing } from './positions/position.js';
export { Position } from './positions/position.js';
export type { DayTradeRecord } from './positions/day-trade.js';
export type {
  Balances,
  LedgerAccount,
  EntrySubject,
  LedgerEntry,
  LedgerEntryType,
  Posting,
} from './ledger/ledger.js';
export { settlementEntries } from './settlement/obligation.js';
export type { Account, AccountType, PortfolioType } from './portfolios/account.js';
export type {
  CashView,
  CloseMark,
  Portfolio,
  PortfolioSettings,
  PortfolioTerms,
} from './portfolios/portfolio.js';
export { reservedShares } from './portfolios/portfolio.js';
export { withOthersInCash } from './instruments/exercise-value.js';
export { flagLacking } from './margin/lacking.js';
export { markOrCost, openVariationOf } from './portfolios/book-sums.js';
export { requirementOfPortfolio, valuationOf, worthOf } from './portfolios/valuation.js';
export type { ValuationSource } from './portfolios/book-sums.js';
export type { Valuation, Worth } from './portfolios/valuation.js';
export { newSnapshot, snapshotAfter, snapshotAfterExecution, snapshotOf } from './portfolio-snapshot.js';
export type { EvolvedOrder } from './evolve.js';
export type { PortfolioSnapshot, SnapshotPosition } from './portfolio-snapshot.js';
export type { CallType, MarginCall } from './margin/margin-account.js';
export type { MarginEngine, MarginType } from './margin/margin-type.js';
export type {
  Amounts,
  ClassesElsewhere,
  ClassRequirement,
  Holding,
  MarginBook,
  MarginGroup,
  Requirement,
  Underlying,
} from './margin/book.js';
export type { HouseRates } from './margin/house-rates.js';
export { bookOfClass, requirementOfHypothetical } from './margin/hypothetical-book.js';
export type { HypotheticalBook } from './margin/hypothetical-book.js';
export { requirementOf } from './margin/requirement.js';
export type { RegTBook, RegTRequirement } from './margin/reg-t/least-requirement.js';
export type { BookRefusal, OptionLeg, RegTLeg, StockLeg } from './margin/reg-t/legs.js';
export type { GroupName, Strategy } from './margin/group-names.js';
export type { RegTGroup } from './margin/reg-t/listing.js';
export { dayTradeRegimeOf } from './margin/day-trade-regime.js';
export { isOver } from './competitions/competition.js';
export type {
  Competition,
  CompetitionCurve,
  CompetitionEntry,
  CompetitionPhase,
  CompetitionPoint,
  CompetitionRank,
  CompetitionRefusal,
  CompetitionResult,
  CompetitionRules,
  CompetitionTerms,
  EntryRemoval,
} from './competitions/competition.js';
export type { FillModel } from './matching/fill-model.js';
export type { CloseObstacle, Rejection } from './rejection.js';
export { rejectionText } from './rejection.js';
export type { Command, OrderChanges, Requester } from './command.js';
export { isOrderEvent, isOrderPlaced, orderNumberOf } from './event.js';
export type { AccountDetails, AccountNames, ClosePoint, Event, LastFigures, OrderEvent } from './event.js';
export { duplicateClientOrderId } from './commands/orders/plan-order.js';
export { UPDATES_FROZEN } from './commands/orders/replace-order.js';
export type { Acknowledged } from './commands/orders/submit-order.js';
export type { CappedAgent } from './orders/agent-caps.js';
export { amountDue } from './commands/margin/meet-calls.js';
export type { LotToImport } from './positions/lot-to-import.js';
export { marginEligibility, PROMOTIONAL_CASH } from './commands/margin/upgrade-margin.js';
export type { OrderEstimate } from './commands/orders/preview-order.js';
export type { MarginEligibility, MarginUpgrade } from './commands/margin/upgrade-margin.js';
export { PORTFOLIO_CLOSED } from './commands/portfolios/portfolios.js';
export type { ResetSummary } from './commands/portfolios/portfolios.js';
export type { Exercised } from './commands/options/exercise-option.js';
export type { OptionEventType, OptionEnded } from './lifecycle/option-event.js';
export type { EarlyAssignment, Rules, RulesInForce } from './rules.js';
export { Brokerage } from './brokerage.js';
export type { HouseNumbers } from './decision.js';
export type { Outcome, Results } from './brokerage.js';
export type { AnnouncedAction, State } from './state.js';
export { brokenInvariants } from './invariants.js';
export { awaitsQuotes, hasInterestIn, isIdle } from './interest.js';
export { hashingState, stateHash } from './state-hash.js';
export { finish } from './pieces.js';
export { savedParts, saveState, savingState, stateToSave } from './saved-state.js';
export type { PassingState, SavedState } from './saved-state.js';
