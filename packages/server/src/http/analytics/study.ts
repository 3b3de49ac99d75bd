/** Studies: analytics that read a whole journal, in a thread of their own if the store can be read there. */
import type {
  BenchmarkClose,
  ExecutionQuality,
  LotMethod,
  Performance,
  TaxSplit,
  Term,
  TotalsByTerm,
  YearEnd,
} from '@sandpit/analytics';
import type { Calendar, CorporateAction, Ids, Instrument, Quote } from '@sandpit/core';
import type {
  ExecutionQualityQuery,
  RealizedGain as ShownGain,
  RoundTrip as ShownTrip,
  TaxLot as ShownLot,
} from '@sandpit/protocol';
import type { SimulationConfig } from '../../engine/configuration/simulation-config.js';
import type { Feed } from '../../feeds/feed.js';
import type { ListName } from '../../store/history.js';
import type { PastSource } from '../../store/past.js';
import type { ListWindow } from '../translate/pages.js';
import type { Close, Epoch, Flow } from './portfolio-record.js';

/** A simulation as a thread has to know it. Can be sent to one. */
export interface StudiedSimulation {
  readonly id: string;
  /** Simulation whose journal has pushed quotes and corporate actions. */
  readonly marketId: string;
  readonly calendar: Calendar['id'];
  readonly idSecret: string;
  readonly now: number;
  /** The last record that the answer includes. */
  readonly upTo: number;
  readonly feed: Feed['kind'];
  /** Settings that open the feed again, if it can be opened twice. */
  readonly opening?: FeedOpening;
}

export interface FeedOpening {
  readonly config: SimulationConfig;
  readonly riskFreeRate: number;
  readonly recordings?: string;
}

/** The methods of a feed for the past. */
export type PastFeed = Pick<Feed, 'kind' | 'quoteAt' | 'pastQuotes'>;

/** Outline of a portfolio, valued on the main thread. */
export interface Outline {
  readonly epochs: readonly Epoch[];
  readonly flows: readonly Flow[];
  readonly closedAt?: number;
  /** The last close of each year but the present one, of the present epoch. */
  readonly yearEnds: readonly Pick<Close, 'at' | 'date' | 'section1256'>[];
}

/** A period with its valuations in addition to those at session closes. Instants in ms. */
export interface PeriodInput {
  readonly portfolioId: string;
  readonly epoch: number;
  readonly from: number;
  readonly to: number;
  /** True when it contains everything at its opening; otherwise it begins after everything at `from` (D240). */
  readonly isFromOpening: boolean;
  readonly start: Valued;
  readonly flows: readonly Flow[];
  readonly end: Valued;
  readonly periodsPerYear: number;
  readonly riskFreeRate?: number;
  readonly benchmark?: { readonly symbol: string; readonly closes: readonly BenchmarkClose[] };
  readonly endDate: string;
  readonly partialMonths: readonly string[];
}

/** A valuation that is not a session close. Dollars. */
export interface Valued {
  readonly at: number;
  readonly equity: number;
}

interface ReportWords {
  readonly title: string;
  readonly about: readonly string[];
  readonly madeAt: string;
}

export interface TripFilter {
  readonly portfolioId: string;
  /** By `closedAt`. */
  readonly from: number;
  readonly to: number;
  readonly epoch?: number;
}

/** Question and answer of each study, by name. All of them can be sent between threads. */
interface Studies {
  outline: { question: { readonly portfolioId: string }; answer: Outline };
  performance: { question: PeriodInput; answer: Performance };
  report: { question: PeriodInput & ReportWords; answer: string };
  /** A page, newest first. */
  trades: {
    question: TripFilter & { readonly window: ListWindow };
    answer: { readonly data: readonly ShownTrip[]; readonly total: number; readonly left: number };
  };
  /** A page of the sales of a year. */
  gains: { question: GainsQuestion; answer: GainsPage };
  /** A page of the open lots. */
  lots: { question: TaxQuestion & { readonly window: ListWindow }; answer: LotsPage };
  quality: {
    question: {
      readonly portfolioId: string;
      readonly from: number;
      readonly to: number;
      readonly groupBy?: NonNullable<ExecutionQualityQuery['groupBy']>;
      readonly withSlippages: boolean;
    };
    answer: {
      readonly quality: ExecutionQuality;
      readonly groups?: readonly (ExecutionQuality & { readonly key: string })[];
      /** Slippages of the latest filled orders, oldest first. */
      readonly slippages?: readonly number[];
    };
  };
  orderQuality: {
    question: { readonly number: number; readonly acceptedIn: number };
    answer: ExecutionQuality;
  };
  actions: {
    question: { readonly symbol: string; readonly from: number; readonly to: number };
    answer: readonly CorporateAction[];
  };
  /** Lines of CSV without the headings; they are emitted, newest first. */
  rows: { question: RowsQuestion; answer: undefined };
}

export type RowsQuestion =
  | {
      readonly operation: 'listLedgerEntries' | 'listActivities' | 'listSma' | 'getEquityCurve';
      readonly list: ListName;
      readonly owner: string;
      readonly tag?: string;
      readonly from?: number;
      readonly to?: number;
    }
  | ({ readonly operation: 'listTrades' } & TripFilter)
  | ({ readonly operation: 'listTaxLots' } & TaxQuestion)
  | ({ readonly operation: 'listRealizedGains'; readonly form: TaxForm } & TaxQuestion & TaxYear);

/** Tax books of a portfolio's present epoch. */
export interface TaxQuestion {
  readonly portfolioId: string;
  readonly method: LotMethod;
  readonly yearEnds: readonly YearEnd[];
  readonly splits: readonly TaxSplit[];
  /** An IRA or Roth IRA: nothing is adjusted and no income is reported. */
  readonly isRetirement: boolean;
}

/** Form 8949, or Form 6781 for Section 1256 contracts. */
export type TaxForm = '8949' | '6781';

/** Sales of a tax year in New York. */
export interface TaxYear {
  readonly year: number;
  /** Only sales of this term. */
  readonly term?: Term;
}

/** A page of open lots. */
export interface LotsPage {
  readonly data: readonly ShownLot[];
  readonly total: number;
  /** Lots behind the page. */
  readonly left: number;
  /** Place of the last lot of the page, counted from 1; 0 = the page is empty. */
  readonly lastNumber: number;
}

export interface GainsQuestion extends TaxQuestion, TaxYear {
  readonly window: ListWindow;
}

/** A page of sales, newest first. */
export interface GainsPage {
  readonly data: readonly ShownGain[];
  readonly total: number;
  /** Sales behind the page. */
  readonly left: number;
  /** Number of the last sale of the page, counted from 1 in order of sale; 0 = the page is empty. */
  readonly lastNumber: number;
  /** Totals of all sales of the year and term; absent for retirement accounts. */
  readonly totals?: TotalsByTerm;
  readonly income?: TaxIncome;
}

/** Income and interest of a year, dollars. */
export interface TaxIncome {
  readonly dividends: number;
  readonly paymentsInLieu: number;
  readonly marginInterest: number;
  readonly borrowFees: number;
}

export type StudyName = keyof Studies;
export type QuestionOf<Name extends StudyName> = Studies[Name]['question'];
export type AnswerOf<Name extends StudyName> = Studies[Name]['answer'];

/** Questions of a study to the main thread. */
export interface StudyQuestions {
  /** Instruments by symbol, if listed by an instant. */
  instruments(
    wanted: readonly (readonly [symbol: string, at: number])[],
  ): Promise<readonly (Instrument | undefined)[]>;
  quotesNow(symbols: readonly string[]): Promise<readonly (Quote | undefined)[]>;
}

/** Requirements for reading the past. */
export interface StudyReading {
  readonly simulation: StudiedSimulation;
  readonly source: PastSource;
  readonly calendar: Calendar;
  readonly ids: Ids;
  readonly ask: StudyQuestions;
  /** For tests: activities from which on a book is stored. */
  readonly storedFrom?: number;
}
