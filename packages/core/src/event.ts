import type {
  CompetitionEntry,
  CompetitionPhase,
  CompetitionResult,
  CompetitionTerms,
  EntryRemoval,
} from './competitions/competition.js';
import type { AssetClass, Instrument } from './instruments/instrument.js';
import type { OptionContract } from './instruments/option.js';
import type { CorporateAction } from './corporate-actions/corporate-action.js';
import type { ExerciseInstructed, OptionEnded } from './lifecycle/option-event.js';
import type { PositionConverted } from './lifecycle/conversion.js';
import type { FutureSettled } from './lifecycle/future-settled.js';
import type { LedgerEntry } from './ledger/ledger.js';
import type { MarginCall } from './margin/margin-account.js';
import type { AlertTerms } from './market/alert.js';
import type { Halt } from './market/halts.js';
import type { Quote } from './market/quote.js';
import type { OrdersRested } from './matching/orders-rested.js';
import type { AgentCaps } from './orders/agent-caps.js';
import type { OrderMoved, OrderPlaced } from './orders/order-event.js';
import type { ScriptedCode } from './orders/refusal.js';
import type { OutcomeRule } from './orders/outcome-rule.js';
import type { AccountType, PortfolioType } from './portfolios/account.js';
import type { SharesOf } from './instruments/shares-of.js';
import type { CloseMark, PortfolioSettings, PortfolioTerms } from './portfolios/portfolio.js';
import type { Valuation } from './portfolios/valuation.js';
import type { DayTradeRecord, DayTradeTracker } from './positions/day-trade.js';
import type { RulesInForce } from './rules.js';
import type { AssignmentDraw, PortfolioInPart } from './state.js';
import type { OrderExecuted } from './trading/trade.js';
import type { Instant } from './values/instant.js';
import type { Money } from './values/money.js';
import type { Price } from './values/price.js';
import type { Quantity } from './values/quantity.js';
import type { TradingDate } from './values/trading-date.js';

/** Account fields that the owner may change at any time. */
export interface AccountNames {
  readonly name?: string;
  readonly firstName?: string;
  readonly lastName?: string;
}

/** Fields that the owner may give when opening an account. */
export interface AccountDetails extends AccountNames {
  readonly accountType?: AccountType;
  readonly portfolioType?: PortfolioType;
}

export interface ClosePoint extends CloseMark {
  readonly portfolioId: string;
  readonly settledCash: Money;
  readonly pendingCash: Money;
  readonly reservedCash: Money;
  readonly longMarketValue: Money;
  readonly shortMarketValue: Money;
  readonly marginLoan: Money;
  /** Increase and new balance of the SMA, if the close has raised it (D107). */
  readonly sma?: { readonly amount: Money; readonly balance: Money };
}

/** A quote after a split, with the remaining sizes and the used sizes of the modeled book. Absent sizes are unlimited. */
export interface SplitMarket {
  readonly quote: Quote;
  readonly bidLeft?: Quantity;
  readonly askLeft?: Quantity;
  readonly modelledBidTaken: Quantity;
  readonly modelledAskTaken: Quantity;
}

/** The last figures of a closed portfolio, for later reads (D142). */
export interface LastFigures {
  readonly settings: PortfolioSettings;
  readonly value: Valuation;
  readonly at: Instant;
  /** Name of the portfolio; null = none. Absent in older journals: the name at its opening. */
  readonly name?: string | null;
}

/** A position at its mark. */
interface MarkedPosition {
  readonly symbol: string;
  /** Never negative; of a future its notional. Without any price it is the cost. */
  readonly value: Money;
}

/** A lot from another broker. */
export interface ImportedLot {
  readonly lotId: number;
  /** Negative = short. */
  readonly quantity: Quantity;
  /** Paid for a long lot, received for a short one; of a future its notional at entry. Never negative. */
  readonly cost: Money;
  /** Futures only: notional at the mark of the import, the base of its variation. */
  readonly marked?: Money;
  readonly openedAt: Instant;
}

export interface ImportedPosition {
  readonly symbol: string;
  readonly assetClass: AssetClass;
  /** Options only: symbol of the underlying. */
  readonly underlying?: string;
  /** At the mark of the import, negative = short; 0 for a future. */
  readonly value: Money;
  /** Oldest first. */
  readonly lots: readonly ImportedLot[];
}

/**
 * A fact of the journal. Events carry every figure that a decision settled. Applying them needs no rule, so an old
 * journal gives the same state under later rules. Each fact appears once: what follows from an earlier event, or from
 * another one of the same record, is not repeated. Orders are named by number.
 */
export type Event =
  | {
      readonly type: 'AccountOpened';
      readonly accountId: string;
      readonly details: AccountDetails & { readonly accountType: AccountType };
      /** The type that its portfolios must have; absent if each has its own (D140). */
      readonly requiredType?: AccountType;
      readonly at: Instant;
    }
  | {
      readonly type: 'AccountUpdated';
      readonly accountId: string;
      readonly names: AccountNames;
      readonly at: Instant;
    }
  | {
      readonly type: 'AccountStatusChanged';
      readonly accountId: string;
      readonly status: 'ACTIVE' | 'FROZEN';
      readonly at: Instant;
    }
  | {
      readonly type: 'AccountDeleted';
      readonly accountId: string;
      readonly at: Instant;
    }
  | {
      readonly type: 'PortfolioOpened';
      readonly terms: PortfolioTerms;
      readonly previousClose: CloseMark;
    }
  | {
      readonly type: 'PortfolioChanged';
      readonly portfolioId: string;
      readonly change: 'BROKER' | 'MARGIN';
      readonly settings: PortfolioSettings;
      readonly promotionalCashAdded: boolean;
      readonly at: Instant;
    }
  /** The simulation becomes part of a competition (D194). */
  | {
      readonly type: 'CompetitionBegun';
      readonly terms: CompetitionTerms;
      readonly phase: CompetitionPhase;
    }
  | {
      readonly type: 'CompetitionPhaseChanged';
      readonly phase: CompetitionPhase;
      /** The clock caused it. */
      readonly isByClock?: true;
    }
  /** Equity at an instant that scores depend on. */
  | { readonly type: 'CompetitionMarked'; readonly equity: Money }
  /** Equity reaches a new high. */
  | { readonly type: 'CompetitionHigh'; readonly equity: Money }
  /** In the market of a competition, or in the cell of an evaluation: an entry takes part (D231). */
  | ({ readonly type: 'EntryAdded' } & CompetitionEntry)
  /** `cell`: in the market of a competition, the simulation of the entry. `entryId`: in the cell of an evaluation. */
  | ({ readonly type: 'EntryRemoved'; readonly cell?: string; readonly entryId?: string } & EntryRemoval)
  | { readonly type: 'CompetitionSettled'; readonly result: CompetitionResult }
  | {
      readonly type: 'PortfolioRenamed';
      readonly portfolioId: string;
      /** Absent = without its own name (D257). */
      readonly name?: string;
      readonly at: Instant;
    }
  | ({ readonly type: 'PortfolioClosed'; readonly portfolioId: string } & LastFigures)
  | {
      readonly type: 'PortfolioReset';
      readonly portfolioId: string;
      readonly positionsClosed: number;
      readonly ordersCancelled: number;
      readonly oldCashBalance: Money;
      readonly newCashBalance: Money;
      readonly realizedPnl: Money;
      /** Total equity before the reset, which ends an epoch (D186). */
      readonly equityBefore: Money;
      /** The closed positions, at their marks; absent = none. */
      readonly closed?: readonly MarkedPosition[];
      readonly previousClose: CloseMark;
      readonly at: Instant;
    }
  /** The SMA has moved (D107). */
  | {
      readonly type: 'SmaChanged';
      readonly portfolioId: string;
      /** Cause of the change: a ledger entry type, `EXECUTION`, `CLOSE`, … */
      readonly event: string;
      readonly amount: Money;
      readonly balance: Money;
    }
  | { readonly type: 'CallIssued'; readonly portfolioId: string; readonly call: MarginCall }
  /** A call has reached its due time with a remaining deficit. */
  | {
      readonly type: 'CallDue';
      readonly portfolioId: string;
      readonly call: MarginCall;
      readonly deficit: Money;
    }
  /** An announcement has closed the exchange on the day on which a call was due (D209). */
  | {
      readonly type: 'CallMoved';
      readonly portfolioId: string;
      readonly call: MarginCall;
    }
  | { readonly type: 'CallClosed'; readonly portfolioId: string; readonly call: MarginCall }
  | {
      readonly type: 'MarginWarned';
      readonly portfolioId: string;
      readonly date: TradingDate;
      readonly excess: Money;
      readonly totalEquity: Money;
    }
  /** The largest shortfall by a day's trades (D110, D112). */
  | {
      readonly type: 'DayShortfallNoted';
      readonly portfolioId: string;
      readonly date: TradingDate;
      readonly amount: Money;
    }
  /** A step of a liquidation: the deficit, the positions to close, and the margin that this frees (D120). */
  | {
      readonly type: 'LiquidationDecided';
      readonly portfolioId: string;
      readonly deficit: Money;
      readonly legs: readonly { readonly symbol: string; readonly quantity: Quantity }[];
      readonly freed: Money;
    }
  /** A day's interest on loans and fees for short sales, in units of 10^-8 dollars (D118). */
  | {
      readonly type: 'InterestAccrued';
      readonly date: TradingDate;
      readonly points: readonly {
        readonly portfolioId: string;
        readonly interest: number;
        readonly borrowFees: number;
      }[];
      /** True with the last portfolio of the date. */
      readonly complete: boolean;
    }
  /** Part of the accruals has been posted to the ledger. */
  | {
      readonly type: 'AccrualsPosted';
      readonly portfolioId: string;
      readonly interest: number;
      readonly borrowFees: number;
    }
  | {
      readonly type: 'LedgerPosted';
      readonly portfolioId: string;
      readonly entries: readonly LedgerEntry[];
      /** Total equity before a deposit or withdrawal (D186); absent for other entries. */
      readonly equityBefore?: Money;
    }
  /** Cash and positions imported from another broker (D206). */
  | {
      readonly type: 'PositionsImported';
      readonly portfolioId: string;
      /** Whole cents; negative = a debit balance. */
      readonly cash: Money;
      readonly positions: readonly ImportedPosition[];
      readonly entries: readonly LedgerEntry[];
      /** Total equity before the import (D186). */
      readonly equityBefore: Money;
    }
  | OrderEvent
  | OrdersRested
  /** Symbols with orders that a full decision has left to the next one (D264); `''` = all multi-leg orders. */
  | { readonly type: 'MatchingPaused'; readonly symbols: readonly string[] }
  | {
      readonly type: 'DayTradeTracked';
      readonly portfolioId: string;
      readonly symbol: string;
      readonly tracker: DayTradeTracker;
      /** True if the tracker's current record is new or has grown. */
      readonly recorded?: true;
      /** Several series opened and closed together: their one record (D113). */
      readonly record?: DayTradeRecord;
    }
  | {
      readonly type: 'ObligationSettled';
      readonly portfolioId: string;
      readonly date: TradingDate;
      readonly cash: Money;
      /** Number of the ledger entry, if cash moves. */
      readonly entry?: number;
    }
  /** An announcement has closed the exchange on a settlement date (D209). */
  | {
      readonly type: 'ObligationMoved';
      readonly portfolioId: string;
      readonly date: TradingDate;
      readonly to: TradingDate;
    }
  /** New collateral of positions for the short options on an underlying (D81). */
  | {
      readonly type: 'OptionsSecured';
      readonly portfolioId: string;
      readonly underlying: string;
      readonly cash: Money;
      readonly shares: Quantity;
      /** Shares of other symbols, by symbol; absent = none. */
      readonly others?: readonly SharesOf[];
      /** Collateral that is required but not available. */
      readonly lacking?: Money;
    }
  | OptionEnded
  | ExerciseInstructed
  | FutureSettled
  /** The mark of a close by which options that trade on after it are exercised (D69). */
  | {
      readonly type: 'ExercisePriceTaken';
      readonly symbol: string;
      readonly date: TradingDate;
      readonly price: Price;
    }
  /** Progress of an evening's early assignments (D89). */
  | {
      readonly type: 'AssignmentsDrawn';
      readonly date: TradingDate;
      /** Absent = all of them are done. */
      readonly standsAt?: AssignmentDraw;
    }
  | { readonly type: 'InstrumentsListed'; readonly instruments: readonly Instrument[] }
  /** Quotes pushed through the API: they cannot be fetched again, so the journal keeps them. */
  | {
      readonly type: 'QuotesPushed';
      readonly quotes: readonly Quote[];
      readonly listed: readonly Instrument[];
    }
  | {
      readonly type: 'ActionsAnnounced';
      readonly actions: readonly { readonly actionId: string; readonly action: CorporateAction }[];
      readonly byKind?: true;
    }
  /** A split has replaced the series on its symbol (D89): from here on they have their new symbols. */
  | {
      readonly type: 'SeriesAdjusted';
      readonly actionId: string;
      readonly underlying: string;
      readonly series: readonly { readonly from: string; readonly to: string }[];
      /** New series that are not listed with these terms yet. */
      readonly listed: readonly OptionContract[];
      /** Their latest quotes, in new contracts. */
      readonly markets: readonly SplitMarket[];
    }
  /** A portfolio's contracts become contracts of another series. */
  | {
      readonly type: 'OptionAdjusted';
      readonly portfolioId: string;
      readonly symbol: string;
      readonly to: string;
      /** New position, negative when short. */
      readonly quantity: Quantity;
      /** The strike of the new series. */
      readonly price: Price;
      /** New contracts per old contract. */
      readonly contracts: number;
      /** Symbol of the new underlying; absent = as before. */
      readonly underlying?: string;
    }
  | { readonly type: 'ActionWithdrawn'; readonly actionId: string }
  /**
   * An action that gives or ends shares takes effect (D208): the market first, then portfolio by portfolio. From here on the ended symbol no
   * longer trades.
   */
  | {
      readonly type: 'ActionBegun';
      readonly actionId: string;
      readonly symbol: string;
      /** The mark before it, if there was one. */
      readonly mark?: Price;
      /** The mark of the shares that it gives. */
      readonly newMark?: Price;
      /** Marks in force until the next quotes, derived from those before it. */
      readonly quotes: readonly Quote[];
      /** Previous closes in the terms of after the action. */
      readonly closes: readonly (readonly [string, Price])[];
      /** Shares that are not listed yet. */
      readonly listed: readonly Instrument[];
      /** Present if the action ends the symbol: its successor; null = none. */
      readonly successor?: string | null;
    }
  /** A portfolio's shares change, end, or give shares of another symbol, by a corporate action (D208). */
  | PositionConverted
  /** A split takes effect: the market first, then portfolio by portfolio. */
  | {
      readonly type: 'SplitBegun';
      readonly actionId: string;
      readonly symbol: string;
      /** The mark before it, if there was one: the price for fractions of shares. */
      readonly mark?: Price;
      /** The previous close in new shares. */
      readonly close?: Price;
      /** The latest quote in new shares, with the remaining sizes. */
      readonly market?: SplitMarket;
    }
  /** A corporate action continues in the next record: portfolios up to this number are done. */
  | {
      readonly type: 'ActionContinued';
      readonly actionId: string;
      readonly through: number;
      /** A portfolio after these of which everything but its orders is done, and its orders up to this number. */
      readonly within?: PortfolioInPart;
    }
  | {
      readonly type: 'ActionDone';
      readonly actionId: string;
      readonly action: CorporateAction;
      /** Contents of `SplitBegun`, in journals older than that event. */
      readonly market?: SplitMarket;
    }
  | {
      readonly type: 'PositionSplit';
      readonly portfolioId: string;
      readonly symbol: string;
      readonly ratio: { readonly new: number; readonly old: number };
      readonly settled: Quantity;
      readonly pending: Quantity;
      readonly obligations: readonly { readonly date: TradingDate; readonly quantity: Quantity }[];
      readonly lots: readonly { readonly lotId: number; readonly quantity: Quantity; readonly cost: Money }[];
      /** Fraction of a share paid out in cash; negative for a short position. */
      readonly fraction: Quantity;
      /** Absent = a split. */
      readonly action?: 'STOCK_DIVIDEND';
    }
  | {
      readonly type: 'DividendAccrued';
      readonly portfolioId: string;
      readonly symbol: string;
      /** Negative = short: owed by the portfolio. */
      readonly quantity: Quantity;
      readonly amount: Money;
      readonly payDate: TradingDate;
      /** Absent = an ordinary cash dividend. */
      readonly action?: 'SPECIAL_DIVIDEND';
    }
  | {
      readonly type: 'SessionMarked';
      readonly date: TradingDate;
      readonly points: readonly ClosePoint[];
      /** True with the last portfolio of the date. */
      readonly complete: boolean;
    }
  /** An opening order of an agent uses part of its daily cap. */
  | {
      readonly type: 'AgentSpent';
      readonly agentId: string;
      readonly date: TradingDate;
      readonly amount: Money;
    }
  /** An agent's request exceeded its caps and is not recorded as an order: the complete command of the record. No effect on the state. */
  | {
      readonly type: 'AgentRefused';
      readonly agentId: string;
      readonly cap: keyof AgentCaps;
      readonly asked?: Money;
      readonly left?: Money;
    }
  /** A new rule scripts orders of clients (D175). */
  | { readonly type: 'OutcomeSet'; readonly rule: OutcomeRule }
  | { readonly type: 'OutcomesDeleted'; readonly outcomes: readonly number[] }
  /** A rule has matched an order: it scripts it, or skips it. */
  | { readonly type: 'OutcomeMet'; readonly outcome: number; readonly isPassedOver?: true }
  /** A price alert is set, or changed and armed again (D281). */
  | { readonly type: 'AlertSet'; readonly alert: number; readonly terms: AlertTerms }
  /** A split or a change of the symbol has restated an active alert. */
  | { readonly type: 'AlertRestated'; readonly alert: number; readonly terms: AlertTerms }
  /** The price has reached the level of an active alert, which is not active from here on. */
  | {
      readonly type: 'AlertFired';
      readonly alert: number;
      /** As they were: webhooks may read the event after the alert was changed or deleted. */
      readonly terms: AlertTerms;
      readonly createdAt: Instant;
      readonly price: Price;
    }
  /** Active alerts whose symbols are quoted no more. */
  | { readonly type: 'AlertsEnded'; readonly alerts: readonly number[] }
  | { readonly type: 'AlertsDeleted'; readonly alerts: readonly number[] }
  /** A script has refused an order that is not recorded: the complete command of the record. No effect on the state. */
  | {
      readonly type: 'OrderRefused';
      readonly portfolioId: string;
      readonly refusedAs: ScriptedCode | 'SCRIPTED_ERROR';
    }
  /** The official closes of a session, by symbol: the base of the next session's price limits (D179). */
  | {
      readonly type: 'ClosesNoted';
      readonly date: TradingDate;
      readonly closes: readonly (readonly [string, Price])[];
    }
  /** A last price at or below 90 % of the previous close: short sales are restricted until then (D179a). */
  | {
      readonly type: 'ShortSalesRestricted';
      readonly symbol: string;
      readonly until: Instant;
      readonly last: Price;
      readonly close: Price;
    }
  /** A quote has moved the price band of a symbol (D179). */
  | {
      readonly type: 'BandMoved';
      readonly symbol: string;
      /** The session. */
      readonly date: TradingDate;
      /** A counted price, and its trade. */
      readonly price?: Price;
      readonly trade?: string;
      /** The price is the first of a trade: from here on midpoints of quotes do not count. */
      readonly isFirstTrade?: true;
      readonly reference?: Price;
      /** A limit state begins or ends. */
      readonly isLimited?: boolean;
      /** This is the first quote after a halt, which no band limits. */
      readonly isExempt?: true;
    }
  /** Trading stops: no order fills or triggers in the halted symbols from here on (D178). */
  | {
      readonly type: 'TradingHalted';
      readonly halt: Halt;
      /** The feed announced the halt: other simulations on the feed receive it there. */
      readonly isTold?: true;
    }
  /** The halt of a symbol has ended. */
  | {
      readonly type: 'TradingResumed';
      readonly symbol: string;
      /** Batches of quotes pushed by now; -1 = quotes of this very instant come after the halt. */
      readonly pushes: number;
      readonly isTold?: true;
    }
  /** Settings, brokers or instruments have changed: all later decisions use these rules. */
  | { readonly type: 'RulesChanged'; readonly rules: RulesInForce }
  | { readonly type: 'ClockMoved'; readonly now: Instant; readonly since?: Instant }
  /** Ids from here on have a tag: records that had been acknowledged are lost (D226). */
  | { readonly type: 'IdsTagged'; readonly tag: string }
  /** All later records belong to a fork. It follows its own market only. */
  | { readonly type: 'ForkBegun'; readonly now: Instant; readonly seed?: number };

/** Changes of one order. `orders/progress.ts` derives the order after each of them. */
export type OrderEvent = OrderPlaced | OrderMoved | OrderExecuted;

export const isOrderEvent = (event: Event): event is OrderEvent =>
  event.type === 'OrderAccepted' ||
  event.type === 'OrderMoved' ||
  event.type === 'OrderExecuted' ||
  event.type === 'OrderRejected';

/** True for the event that an order begins with. */
export const isOrderPlaced = (event: Event): event is OrderPlaced =>
  event.type === 'OrderAccepted' || event.type === 'OrderRejected';

/** The number of the order of an event. */
export const orderNumberOf = (event: OrderEvent): number =>
  isOrderPlaced(event) ? event.number : event.order;
