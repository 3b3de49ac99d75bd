import type { CorporateAction } from './corporate-actions/corporate-action.js';
import type {
  CompetitionEntry,
  CompetitionPhase,
  CompetitionResult,
  CompetitionTerms,
} from './competitions/competition.js';
import type { AccountDetails, AccountNames } from './event.js';
import type { Instrument } from './instruments/instrument.js';
import type { MarginEngine, MarginType } from './margin/margin-type.js';
import type { AlertCondition, AlertTerms } from './market/alert.js';
import type { Quote } from './market/quote.js';
import type { FillModel } from './matching/fill-model.js';
import type { CappedAgent } from './orders/agent-caps.js';
import type { GoodTill, TimeInForce } from './orders/order.js';
import type { OrderRequest } from './orders/order-request.js';
import type { OutcomeMatch } from './orders/outcome-rule.js';
import type { Script } from './orders/script.js';
import type { Tier } from './orders/tier.js';
import type { AccountType, PortfolioType } from './portfolios/account.js';
import type { LotToImport } from './positions/lot-to-import.js';
import type { RulesInForce } from './rules.js';
import type { Instant } from './values/instant.js';
import type { Money } from './values/money.js';
import type { Price } from './values/price.js';
import type { Quantity } from './values/quantity.js';

/** The client that sent a command. */
export interface Requester {
  readonly tier: Tier;
}

export interface OrderChanges {
  readonly limitPrice?: Price;
  readonly stopPrice?: Price;
  readonly quantity?: Quantity;
  readonly timeInForce?: TimeInForce;
  readonly goodTillDate?: GoodTill;
}

/** Contracts of a request. */
interface OptionHeld {
  readonly by: Requester;
  readonly portfolioId: string;
  /** The contract. */
  readonly symbol: string;
  /** Whole contracts; absent = all. */
  readonly quantity?: Quantity;
}

/** All commands of the brokerage. */
export type Command =
  | {
      readonly type: 'OpenAccount';
      readonly by: Requester;
      readonly accountId: string;
      readonly details: AccountDetails;
      /** Most accounts that a PRO tenant may have. */
      readonly proAccounts: number;
    }
  | {
      readonly type: 'UpdateAccount';
      readonly by: Requester;
      readonly accountId: string;
      readonly names: AccountNames;
    }
  | {
      readonly type: 'SetAccountStatus';
      readonly by: Requester;
      readonly accountId: string;
      readonly status: 'ACTIVE' | 'FROZEN';
    }
  | { readonly type: 'DeleteAccount'; readonly by: Requester; readonly accountId: string }
  | {
      readonly type: 'OpenPortfolio';
      readonly by: Requester;
      readonly accountId: string;
      readonly portfolioType: PortfolioType;
      readonly accountType: AccountType;
      readonly brokerId: string;
      readonly marginType?: MarginType;
      readonly portfolioMarginEngineType?: MarginEngine;
      readonly name?: string;
      readonly fillModel: FillModel;
      readonly initialCash: Money;
      readonly proAccounts: number;
    }
  | {
      readonly type: 'RenamePortfolio';
      readonly by: Requester;
      readonly portfolioId: string;
      /** Absent = without its own name. */
      readonly name?: string;
    }
  | { readonly type: 'ClosePortfolio'; readonly by: Requester; readonly portfolioId: string }
  | {
      readonly type: 'SwitchBroker';
      readonly by: Requester;
      readonly portfolioId: string;
      readonly brokerId: string;
    }
  | {
      readonly type: 'UpgradeMargin';
      readonly by: Requester;
      readonly portfolioId: string;
      readonly marginType: MarginType;
      readonly portfolioMarginEngineType?: MarginEngine;
      readonly addPromotionalCash: boolean;
    }
  | { readonly type: 'ResetPortfolio'; readonly by: Requester; readonly portfolioId: string }
  | {
      readonly type: 'TransferCash';
      readonly by: Requester;
      readonly portfolioId: string;
      /** Whole cents; negative = out. */
      readonly amount: Money;
      readonly reason?: string;
    }
  | {
      readonly type: 'ImportPositions';
      readonly by: Requester;
      readonly portfolioId: string;
      /** Whole cents, added to the balance; negative = a debit balance. */
      readonly cash: Money;
      readonly lots: readonly LotToImport[];
    }
  | ({ readonly type: 'ExerciseOption' } & OptionHeld)
  | ({ readonly type: 'DoNotExercise' } & OptionHeld)
  | {
      readonly type: 'SubmitOrder';
      readonly by: Requester;
      readonly order: OrderRequest;
      /** Order number, given by comparisons; absent = the next number. Exits get the following numbers. */
      readonly number?: number;
      /** Records the order as REJECTED if the brokerage refuses it (D276). */
      readonly recordRefusal?: true;
      /** Caps of the agent that sent the command (decision 0055); here and below. */
      readonly agent?: CappedAgent;
    }
  | {
      readonly type: 'ReplaceOrder';
      readonly by: Requester;
      readonly orderId: string;
      readonly changes: OrderChanges;
      readonly agent?: CappedAgent;
    }
  | {
      readonly type: 'CancelOrder';
      readonly by: Requester;
      readonly orderId: string;
      readonly agent?: CappedAgent;
    }
  | {
      readonly type: 'CancelAccountOrders';
      readonly by: Requester;
      readonly accountId: string;
      readonly agent?: CappedAgent;
    }
  /** Sets a rule by which orders are scripted (D175). */
  | {
      readonly type: 'SetOutcome';
      readonly by: Requester;
      readonly match: OutcomeMatch;
      readonly skip: number;
      readonly times: number;
      readonly script: Script;
    }
  | {
      readonly type: 'DeleteOutcomes';
      readonly by: Requester;
      /** Absent = all. */
      readonly outcomeId?: string;
    }
  /** Sets a price alert (D281). */
  | { readonly type: 'SetAlert'; readonly by: Requester; readonly terms: AlertTerms }
  /** Changes an alert and arms it again. Absent = as before. */
  | {
      readonly type: 'UpdateAlert';
      readonly by: Requester;
      readonly alertId: string;
      readonly condition?: AlertCondition;
      readonly price?: Price;
      readonly note?: string;
    }
  | { readonly type: 'DeleteAlert'; readonly by: Requester; readonly alertId: string }
  | { readonly type: 'ListInstruments'; readonly instruments: readonly Instrument[] }
  | {
      readonly type: 'AnnounceActions';
      readonly actions: readonly CorporateAction[];
      /**
       * True: actions of one instant take effect in the order of their types (D208). Absent in journals of earlier versions: in the order in
       * which they were announced.
       */
      readonly byKind?: true;
    }
  | { readonly type: 'WithdrawAction'; readonly actionId: string }
  | {
      readonly type: 'HaltTrading';
      /** `*` = the whole stock market. */
      readonly symbol: string;
      readonly reason: string;
      /** Absent along with `forMs` = the usual length of halts for this reason. */
      readonly until?: Instant;
      readonly forMs?: number;
      /** The halt is in force in the followed market, which has checked it: `until` is its end, for any reason. */
      readonly isFollowed?: boolean;
      /** The feed announced the halt: other simulations on the feed receive it there. */
      readonly isTold?: boolean;
    }
  | { readonly type: 'LiftHalt'; readonly symbol: string; readonly isTold?: boolean }
  /** Adds the simulation to a competition: as its market, or as an entry (D194). */
  | {
      readonly type: 'BeginCompetition';
      readonly terms: CompetitionTerms;
      readonly phase: CompetitionPhase;
    }
  | { readonly type: 'SetCompetitionPhase'; readonly phase: CompetitionPhase }
  /** Records the result of a finished competition, in its market. The first one counts. In the cell of an evaluation it is also the end. */
  | {
      readonly type: 'SettleCompetition';
      readonly result: CompetitionResult;
      /** Number of entries that the result is of; it is refused if there are others. */
      readonly entries?: number;
    }
  /** Judges the losses of an entry when due (`Brokerage.nextJudgment`). */
  | { readonly type: 'JudgeEntry' }
  /** Adds an entry to a competition, in its market; or to an evaluation, in its cell. */
  | ({ readonly type: 'AddEntry' } & Omit<CompetitionEntry, 'number'>)
  | {
      readonly type: 'RemoveEntry';
      /** In the market of a competition: the simulation of the entry, which follows. */
      readonly cell?: string;
      /** In the cell of an evaluation. */
      readonly entryId?: string;
      readonly status: 'DISQUALIFIED' | 'WITHDRAWN';
      readonly reason?: string;
    }
  /** `pushed`: the quotes were pushed through the API and are kept in the journal. */
  | {
      readonly type: 'UpdateMarket';
      readonly quotes: readonly Quote[];
      readonly pushed: boolean;
      /** Quotes with prices from inside a recorded bar match only orders that were at work by this time. */
      readonly since?: Instant;
    }
  /** Runs the timers due at the command's instant, a bounded slice at a time (see `Brokerage.nextDue`). */
  | { readonly type: 'AdvanceClock' }
  /** Checks a portfolio's margin: calls, warnings and their consequences. `Brokerage.toLookAt` lists the portfolios due. */
  | { readonly type: 'LookAtMargin'; readonly portfolioId: string }
  /** Records the rules of all later decisions. */
  | { readonly type: 'ChangeRules'; readonly rules: RulesInForce }
  /** Saves the time of a manual clock, and the time from which it was moved there. */
  | { readonly type: 'MoveClock'; readonly now: Instant; readonly since?: Instant }
  /** Mixes a tag into all ids from here on: records that had been acknowledged are lost (D226). */
  | { readonly type: 'TagIds'; readonly tag: string }
  /** Begins a fork: with its clock at `now`, and a new seed for draws if given (D172). */
  | { readonly type: 'BeginFork'; readonly now: Instant; readonly seed?: number };
