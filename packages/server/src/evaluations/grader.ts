/**
 * Grading of tasks from a journal alone (D211). The records are applied one by one; assertions are judged after each of them, at session
 * closes, which are records, and at the last instant of their time.
 */
import { canonicalSymbol } from '@sandpit/core';
import type { Brokerage, Calendar, Instant, OutcomeMatch, Quantity } from '@sandpit/core';
import type { Payload } from '../engine/records/record-text.js';
import type { AmountBounds, Assertion, Condition, OrderMatch, Task, WhichPositions } from './assertion.js';
import { CellFigures } from './cell-figures.js';
import type { TaskFailure, TaskResult } from './definition.js';

/** Mapping between a recording and a simulation that shows it. */
export interface Correspondence {
  /** Symbol in the simulation. */
  symbolOf(recorded: string): string;
  /** Instant in the simulation, and back. */
  shownAt(recorded: Instant): Instant;
  recordedAt(shown: Instant): Instant;
}

/** A simulation that shows everything as recorded. */
const UNMASKED: Correspondence = {
  symbolOf: (symbol) => symbol,
  shownAt: (at) => at,
  recordedAt: (at) => at,
};

export interface GradingTerms {
  /** Start and end of the market, by the recording. */
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  readonly calendar: Calendar;
  readonly correspondence?: Correspondence;
  /** Instants of `from` and `until`. */
  readonly instantsOf: (assertion: Pick<Assertion, 'from' | 'until'>) => {
    readonly from?: Instant;
    readonly until?: Instant;
  };
  /** True once the cell is prepared and the entrant may act; absent = once it takes part in an evaluation. */
  readonly isPrepared?: (brokerage: Brokerage) => boolean;
}

type Expectation = Readonly<Record<string, number | boolean>>;
type Figure = number | boolean;

/** A judgment of a condition. */
interface Judgment {
  readonly holds: boolean;
  readonly got: Figure | readonly Figure[];
  /** 0 if it holds; else the distance of the figure from the bounds. */
  readonly distance: number;
}

/** A condition that can be judged. */
interface Judge {
  readonly expected: Expectation | readonly Expectation[];
  judge(figures: CellFigures): Judgment;
  /** `cash was 5` */
  describe(got: Judgment['got']): string;
  /** `at least 10` */
  readonly wanted: string;
}

interface Look extends Judgment {
  readonly at: Instant;
  readonly sequence: number;
}

const QUANTITY_UNITS = 1_000_000;

/** An assertion over its time. */
class WatchedAssertion {
  readonly when: Assertion['when'];
  readonly judge: Judge;
  readonly #from: Instant;
  readonly #until: Instant;
  /** First judgment that broke `always`, the nearest one for `ever`, the last one for `end`. */
  #decisive: Look | undefined;
  #hasBegun = false;
  #isOver = false;

  constructor(assertion: Assertion, judge: Judge, from: Instant, until: Instant) {
    this.when = assertion.when;
    this.judge = judge;
    this.#from = from;
    this.#until = until;
  }

  /** The cell is prepared: the first instant of a time that begins with the market. */
  begin(figures: CellFigures, at: Instant, sequence: number): void {
    if (this.#hasBegun || this.#from > at) return;
    this.#hasBegun = true;
    if (this.when === 'always') this.#look(figures, at, sequence);
  }

  /** A record at `next` follows: judges the instants between this one and the last record. */
  passTo(next: Instant, figures: CellFigures, sequence: number): void {
    if (this.#isOver) return;
    if (this.#from < next) this.begin(figures, this.#from, sequence);
    if (this.#until < next) this.close(figures, sequence);
  }

  record(figures: CellFigures, at: Instant, sequence: number): void {
    if (this.#isOver || at < this.#from || at > this.#until) return;
    this.#hasBegun = true;
    if (this.when !== 'end') this.#look(figures, at, sequence);
  }

  /** The last instant. */
  close(figures: CellFigures, sequence: number): void {
    if (this.#isOver) return;
    this.begin(figures, this.#from, sequence);
    this.#look(figures, this.#until, sequence);
    this.#isOver = true;
  }

  #look(figures: CellFigures, at: Instant, sequence: number): void {
    if (this.#isDecided()) return;
    const judgment = this.judge.judge(figures);
    const isDecisive =
      this.when === 'end' ||
      (this.when === 'always'
        ? !judgment.holds
        : judgment.holds || this.#decisive === undefined || judgment.distance < this.#decisive.distance);
    if (isDecisive) this.#decisive = { ...judgment, at, sequence };
  }

  #isDecided(): boolean {
    if (this.#decisive === undefined) return false;
    return this.when === 'always' || (this.when === 'ever' && this.#decisive.holds);
  }

  /** The judgment that failed it. */
  get failure(): Look | undefined {
    return this.#decisive?.holds === true ? undefined : this.#decisive;
  }
}

/** Grades the tasks of one cell. Every record of its journal passes through, in order. */
export class Grader {
  readonly #brokerage: Brokerage;
  readonly #terms: GradingTerms;
  readonly #figures: CellFigures;
  readonly #tasks: readonly { readonly name: string; readonly assertions: readonly WatchedAssertion[] }[];
  readonly #all: readonly WatchedAssertion[];
  #sequence = 0;
  #isPrepared = false;
  /** By portfolio: its equity when the cell was prepared, dollars. */
  readonly #startEquity = new Map<string, number>();

  /** `brokerage`: at the beginning of the journal; the caller applies the records to it. */
  constructor(brokerage: Brokerage, tasks: readonly Task[], terms: GradingTerms) {
    this.#brokerage = brokerage;
    this.#terms = terms;
    this.#figures = new CellFigures(brokerage);
    this.#tasks = tasks.map(({ name, assert }) => ({
      name,
      assertions: assert.map((assertion) => this.#watched(assertion)),
    }));
    this.#all = this.#tasks.flatMap(({ assertions }) => assertions);
  }

  #watched(assertion: Assertion): WatchedAssertion {
    const { startsAt, endsAt, correspondence = UNMASKED, instantsOf } = this.#terms;
    const { from = startsAt, until = endsAt } = instantsOf(assertion);
    const shownFrom = correspondence.shownAt(from);
    const names = new Names(this.#terms);
    const judge =
      assertion.anyOf === undefined
        ? judgeOf(assertion, assertion.portfolio, shownFrom, names)
        : anyOf(assertion.anyOf.map((one) => judgeOf(one, assertion.portfolio, shownFrom, names)));
    return new WatchedAssertion(assertion, judge, shownFrom, correspondence.shownAt(until));
  }

  /** Before a record is applied. */
  before(at: Instant): void {
    if (this.#isPrepared) for (const one of this.#all) one.passTo(at, this.#figures, this.#sequence);
  }

  /** After a record was applied. */
  after(at: Instant, sequence: number, payload: Payload): void {
    // A move of the clock by itself changes nothing, and a restart in its middle leaves its record out.
    if (payload.events.some(({ type }) => type !== 'ClockMoved')) this.#sequence = sequence;
    this.#figures.note(at, payload, !this.#isPrepared);
    if (this.#isPrepared) {
      for (const one of this.#all) one.record(this.#figures, at, this.#sequence);
    } else if (this.#terms.isPrepared?.(this.#brokerage) ?? this.#brokerage.state.competition !== undefined) {
      this.#isPrepared = true;
      for (const id of this.#brokerage.state.portfolios.keys()) this.#startEquity.set(id, this.equityOf(id));
      const { startsAt, correspondence = UNMASKED } = this.#terms;
      for (const one of this.#all) one.begin(this.#figures, correspondence.shownAt(startsAt), sequence);
    }
  }

  /** Equity of a portfolio when the cell was prepared, dollars. */
  startEquityOf(portfolioId: string): number | undefined {
    return this.#startEquity.get(portfolioId);
  }

  /** Equity of a portfolio after the last record, dollars. */
  equityOf(portfolioId: string): number {
    return this.#figures.equity(this.#brokerage.state.portfolios.get(portfolioId)?.terms.number);
  }

  /** The results, after the last record. */
  results(): TaskResult[] {
    for (const one of this.#all) one.close(this.#figures, this.#sequence);
    return this.#tasks.map(({ name, assertions }) => {
      const index = assertions.findIndex(({ failure }) => failure !== undefined);
      const failed = assertions[index];
      const failure = failed?.failure;
      return failed === undefined || failure === undefined
        ? { name, passed: true }
        : { name, passed: false, why: this.#why(index, failed, failure) };
    });
  }

  #why(assertion: number, { when, judge }: WatchedAssertion, { at, sequence, got }: Look): TaskFailure {
    const { correspondence = UNMASKED } = this.#terms;
    const shown = new Date(correspondence.recordedAt(at)).toISOString();
    return {
      assertion,
      when,
      at: shown,
      ...(sequence > 0 && { sequence }),
      expected: judge.expected,
      got,
      text: `${TIMES[when](shown)} ${judge.describe(got)}; expected ${judge.wanted}.`,
    };
  }
}

const TIMES: Readonly<Record<Assertion['when'], (at: string) => string>> = {
  end: (at) => `At ${at}`,
  always: (at) => `At ${at}`,
  ever: (at) => `At no time, and at ${at} most nearly:`,
};

/** Translates symbols of a recording. */
class Names {
  readonly #terms: GradingTerms;

  constructor(terms: GradingTerms) {
    this.#terms = terms;
  }

  symbol(recorded: string): string {
    const { correspondence = UNMASKED, calendar, startsAt } = this.#terms;
    return correspondence.symbolOf(canonicalSymbol(recorded, calendar.dateOf(startsAt)));
  }

  which<Which extends WhichPositions>(which: Which): Which {
    const { symbol, underlying } = which;
    return {
      ...which,
      ...(symbol !== undefined && { symbol: this.symbol(symbol) }),
      ...(underlying !== undefined && { underlying: this.symbol(underlying) }),
    };
  }

  match({ symbol, quantity, ...match }: OrderMatch): OutcomeMatch {
    return {
      ...match,
      ...(symbol !== undefined && { symbol: this.symbol(symbol) }),
      ...(quantity !== undefined && { quantity: Math.round(quantity * QUANTITY_UNITS) as Quantity }),
    };
  }
}

function judgeOf(condition: Condition, portfolio: number | undefined, from: Instant, names: Names): Judge {
  const { position, noPosition, order, cash, equity, realizedPnl, marginCall } = condition;
  const of = portfolio === undefined ? '' : ` of portfolio ${portfolio}`;
  if (position !== undefined) {
    const { quantity, min, max, ...which } = position;
    const shown = names.which(which);
    return bounded(
      `the position${inWords(position)}${of}`,
      { ...(quantity !== undefined && { quantity }), ...boundsOf({ min, max }) },
      (figures) => figures.quantity(portfolio, shown),
    );
  }
  if (noPosition !== undefined) {
    const shown = names.which(noPosition);
    return bounded(`the number of positions${inWords(noPosition)}${of}`, { count: 0 }, (figures) =>
      figures.positionCount(portfolio, shown),
    );
  }
  if (order !== undefined) {
    const { match, count, min, max } = order;
    const wanted = names.match(match);
    return bounded(
      `the number of matching orders${of}`,
      { ...(count !== undefined && { count }), ...boundsOf({ min, max }) },
      (figures) => figures.orderCount(portfolio, wanted, from),
    );
  }
  if (cash !== undefined) return bounded(`cash${of}`, boundsOf(cash), (figures) => figures.cash(portfolio));
  if (equity !== undefined)
    return bounded(`equity${of}`, boundsOf(equity), (figures) => figures.equity(portfolio));
  if (realizedPnl !== undefined)
    return bounded(`realized profit${of}`, boundsOf(realizedPnl), (figures) =>
      figures.realizedPnl(portfolio),
    );
  if (marginCall !== undefined) return ofCalls(marginCall, portfolio, of);
  throw new Error('An assertion has no condition');
}

const boundsOf = ({ min, max }: { min?: number | undefined; max?: number | undefined }): Expectation => ({
  ...(min !== undefined && { min }),
  ...(max !== undefined && { max }),
});

const inWords = ({ symbol, underlying }: WhichPositions): string => {
  if (symbol !== undefined) return ` in ${symbol}`;
  return underlying === undefined ? '' : ` in options and futures on ${underlying}`;
};

/** A figure with an exact value or bounds. */
function bounded(subject: string, expected: Expectation, figureOf: (figures: CellFigures) => number): Judge {
  const { quantity, count } = expected as { readonly quantity?: number; readonly count?: number };
  const { min, max } = expected as AmountBounds;
  const exact = quantity ?? count;
  const low = exact ?? min ?? -Infinity;
  const high = exact ?? max ?? Infinity;
  return {
    expected,
    wanted: boundsInWords(exact, min, max),
    judge(figures) {
      const got = figureOf(figures);
      const distance = Math.max(low - got, got - high, 0);
      return { holds: distance === 0, got, distance };
    },
    describe: (got) => `${subject} was ${String(got)}`,
  };
}

function boundsInWords(exact: number | undefined, min: number | undefined, max: number | undefined): string {
  if (exact !== undefined) return `exactly ${exact}`;
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  return min === undefined ? `at most ${String(max)}` : `at least ${min}`;
}

function ofCalls(
  { open, met }: NonNullable<Condition['marginCall']>,
  portfolio: number | undefined,
  of: string,
): Judge {
  const judgment = (holds: boolean, got: boolean): Judgment => ({ holds, got, distance: holds ? 0 : 1 });
  if (met !== undefined)
    return {
      expected: { met },
      wanted: 'at least one call, and all of them met',
      judge: (figures) => {
        const isMet = figures.areCallsMet(portfolio);
        return judgment(isMet, isMet);
      },
      describe: () => `the margin calls${of} were not all met, or none was issued`,
    };
  return {
    expected: { open: open === true },
    wanted: open === true ? 'an open margin call' : 'none',
    judge: (figures) => {
      const isOpen = figures.isCallOpen(portfolio);
      return judgment(isOpen === open, isOpen);
    },
    describe: (got) => `${got === true ? 'a margin call' : 'no margin call'}${of} was open`,
  };
}

/** Holds where one of several conditions does. The distance is the least of theirs, whatever their units. */
function anyOf(judges: readonly Judge[]): Judge {
  return {
    expected: judges.flatMap(({ expected }) => expected),
    wanted: `any of: ${judges.map(({ wanted }) => wanted).join('; ')}`,
    judge(figures) {
      const judgments = judges.map((judge) => judge.judge(figures));
      return {
        holds: judgments.some(({ holds }) => holds),
        got: judgments.flatMap(({ got }) => got),
        distance: Math.min(...judgments.map(({ distance }) => distance)),
      };
    },
    describe: (got) =>
      judges.map((judge, index) => judge.describe((got as readonly Figure[])[index] ?? false)).join(', '),
  };
}
