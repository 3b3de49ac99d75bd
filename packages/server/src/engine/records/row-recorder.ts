import { duplicateClientOrderId, isOrderPlaced, isTerminal, PORTFOLIO_CLOSED } from '@sandpit/core';
import type {
  Brokerage,
  Command,
  Event,
  Instant,
  OrderSnapshot,
  Outcome,
  Portfolio,
  Rejection,
  State,
} from '@sandpit/core';
import { forkRowsOf, RowCollector } from '../../store/history/collect-rows.js';
import type { ForkRows, HistoryRows } from '../../store/history/history-rows.js';
import type { ClosedPortfolioRow, History, RowSource } from '../../store/history.js';
import { StoreUnavailable } from '../../store/journal.js';
import type { ValueOrPromise } from '../../store/journal.js';
import { boundedCache } from '../values/bounded-cache.js';

/** Maximum number of items that left the brokerage and are not in the tables. Commands that may add to them wait, too. */
const MOST_WAITING = 200_000;

/** Results of an asynchronous history: each is used immediately after its arrival. */
const ANSWERS_KEPT = 10_000;

/** An item that left the brokerage with a record. */
interface UnwrittenItem {
  readonly seq: number;
  /** An order by its number, a client order id, a portfolio that was closed, one that was opened. */
  readonly what:
    | number
    | { readonly clientOrderId: string }
    | { readonly portfolioId: string }
    | { readonly opened: string };
}

/** The portfolio that a command names: it may close it. */
export function portfolioNamedBy(command: object, { portfolios }: State): Portfolio | undefined {
  return 'portfolioId' in command && typeof command.portfolioId === 'string'
    ? portfolios.get(command.portfolioId)
    : undefined;
}

/**
 * Makes the rows of a simulation's decisions, and knows what has left the brokerage with decisions whose rows are not written yet. The
 * brokerage knows all open items, history all past ones, and this those in between: the three together are complete, unless rows are being
 * made again.
 */
export class RowRecorder implements RowSource {
  readonly simulationId: string;
  readonly #brokerage: Brokerage;
  readonly #history: History;
  readonly #rows: RowCollector;
  /** Orders that are over, as they ended. */
  readonly #orders = new Map<number, OrderSnapshot>();
  /** With the numbers of their orders. */
  readonly #clientOrderIds = new Map<string, number>();
  /** Closed portfolios. */
  readonly #closures = new Set<string>();
  /** Portfolios that history does not have yet. */
  readonly #opened = new Set<string>();
  /**
   * Answers of a remote history, by client order id or portfolio; null = no row. A change that is noted later replaces the answer.
   */
  readonly #answers = boundedCache<{ readonly found: number | true | null }>(ANSWERS_KEPT);
  /** Oldest first, from `#first` on. */
  #left: UnwrittenItem[] = [];
  #first = 0;
  #closing: Portfolio | undefined;

  /** `seq`: the last record; nothing is recorded before `open`. */
  constructor(simulationId: string, brokerage: Brokerage, history: History, seq: number) {
    this.simulationId = simulationId;
    this.#brokerage = brokerage;
    this.#history = history;
    this.#rows = new RowCollector(brokerage.state, seq);
  }

  /** This node decides. `isForkBeginning`: a fork has no records of its own yet. */
  open(isForkBeginning: boolean): void {
    this.#history.open(this, isForkBeginning);
  }

  // ---- Rows

  get seq(): number {
    return this.#rows.seq;
  }

  get records(): number {
    return this.#rows.records;
  }

  take(): HistoryRows | undefined {
    return this.#rows.take();
  }

  drop(): void {
    this.#rows.drop();
  }

  /** This node decides from here on; the records up to this one were another node's. */
  lead(seq: number): void {
    this.#rows.skip(seq);
    this.#history.open(this);
  }

  forkRows(): ForkRows {
    return forkRowsOf(this.#brokerage.state);
  }

  /** Call before a command is decided. */
  begin(command: Command, at: Instant): void {
    this.#rows.begin(at);
    this.#closing = portfolioNamedBy(command, this.#brokerage.state);
  }

  /** Collects the rows of a record of this command, and notes the items that it ends. */
  note(
    seq: number,
    at: Instant,
    command: Command,
    { events, orders }: Pick<Outcome, 'events' | 'orders'>,
  ): void {
    this.#rows.add({ seq, at, events, orders }, this.#closing);
    this.#history.note(this);
    const first: Event | undefined = events[0];
    if (first !== undefined && isOrderPlaced(first) && first.request.clientOrderId !== undefined) {
      const clientOrderId = keyOf(first.request.portfolioId, first.request.clientOrderId);
      this.#clientOrderIds.set(clientOrderId, first.number);
      if (!this.#history.answersAtOnce) this.#answers.set(clientOrderId, { found: first.number });
      this.#left.push({ seq, what: { clientOrderId } });
    }
    if (command.type === 'OpenPortfolio')
      for (const event of events) {
        if (event.type !== 'PortfolioOpened') continue;
        const opened = event.terms.portfolioId;
        this.#opened.add(opened);
        this.#left.push({ seq, what: { opened } });
      }
    // The last event: accrued amounts are paid out before it.
    const last: Event | undefined = events.at(-1);
    if (last?.type === 'PortfolioClosed') {
      const { portfolioId } = last;
      this.#closures.add(portfolioId);
      if (!this.#history.answersAtOnce) this.#answers.set(portfolioId, { found: true });
      this.#left.push({ seq, what: { portfolioId } });
    }
    for (const order of orders) {
      if (order === undefined || !isTerminal(order.progress.status)) continue;
      const { number } = order.terms;
      if (!this.#orders.has(number)) this.#left.push({ seq, what: number });
      this.#orders.set(number, order);
    }
  }

  written(upTo: number): void {
    for (let left = this.#left[this.#first]; left !== undefined; left = this.#left[this.#first]) {
      if (left.seq > upTo) break;
      const { what } = left;
      if (typeof what === 'number') this.#orders.delete(what);
      else if ('clientOrderId' in what) this.#clientOrderIds.delete(what.clientOrderId);
      else if ('opened' in what) this.#opened.delete(what.opened);
      else this.#closures.delete(what.portfolioId);
      this.#first += 1;
    }
    // Moved up when it is half empty, so that it costs little each time.
    if (this.#first < 1000 || this.#first * 2 < this.#left.length) return;
    this.#left = this.#left.slice(this.#first);
    this.#first = 0;
  }

  // ---- Questions

  /** An order that is over, and not in the tables yet. */
  order(number: number): OrderSnapshot | undefined {
    return this.#orders.get(number);
  }

  /** True when history is complete for every item that is neither open nor unwritten. */
  isCertain(): boolean {
    return this.#history.isComplete(this.simulationId);
  }

  /** Resolves when `isCertain`. Rejects with `StoreUnavailable` after a time limit. */
  async certain(): Promise<void> {
    while (!this.isCertain()) await this.#history.completed(this.simulationId);
  }

  /** True when a command can be decided and noted now. */
  isReadyFor(command: Command): boolean {
    return (
      this.#left.length - this.#first < MOST_WAITING &&
      (!this.#asksHistory(command) || (this.isCertain() && this.#isAnswered(command)))
    );
  }

  /** Resolves when it can. Rejects with `StoreUnavailable` after a time limit. */
  async readyFor(command: Command): Promise<void> {
    if (this.#left.length - this.#first >= MOST_WAITING) await this.#history.flush(this.simulationId);
    if (!this.#asksHistory(command)) return;
    await this.certain();
    for (const { key, ask } of this.#questionsOf(command)) await this.#answer(key, ask);
  }

  /** Reason why a command about a closed order or portfolio is refused, if it is. Throws `StoreUnavailable` while that is uncertain. */
  refusal(command: Command): Rejection | undefined {
    if (!this.#asksHistory(command)) return undefined;
    if (!this.isCertain()) throw new StoreUnavailable('the history is not there yet');
    return this.#closedBefore(command) ?? this.#usedBefore(command);
  }

  /** Queries of history for a command, made before its decision, which cannot wait. */
  #questionsOf(command: Command): readonly Question[] {
    const questions: Question[] = [];
    const portfolioId = portfolioOf(command);
    if (portfolioId !== undefined && !this.#brokerage.state.portfolios.has(portfolioId))
      questions.push({
        key: portfolioId,
        ask: () => {
          const closed = this.#history.closedPortfolio(this.simulationId, portfolioId);
          return closed instanceof Promise ? closed.then(isClosed) : isClosed(closed);
        },
      });
    if (command.type === 'SubmitOrder' && command.order.clientOrderId !== undefined) {
      const { portfolioId: of, clientOrderId } = command.order;
      questions.push({
        key: keyOf(of, clientOrderId),
        ask: () => this.#history.orderByClientOrderId(this.simulationId, of, clientOrderId),
      });
    }
    return questions;
  }

  #isAnswered(command: Command): boolean {
    return (
      this.#history.answersAtOnce || this.#questionsOf(command).every(({ key }) => this.#answers.has(key))
    );
  }

  async #answer(key: string, ask: Question['ask']): Promise<void> {
    if (this.#history.answersAtOnce || this.#answers.has(key)) return;
    const found = await ask();
    // Changes noted in the meantime are newer.
    if (!this.#answers.has(key)) this.#answers.set(key, { found: found ?? null });
  }

  #found(key: string, ask: Question['ask']): number | true | undefined {
    if (!this.#history.answersAtOnce) {
      const answer = this.#answers.get(key);
      if (answer === undefined) throw new StoreUnavailable('the history is not there yet');
      return answer.found ?? undefined;
    }
    const found = ask();
    if (found instanceof Promise) throw new Error('A history that answers at once has answered by a promise');
    return found;
  }

  #asksHistory(command: Command): boolean {
    if (command.type === 'SubmitOrder' && command.order.clientOrderId !== undefined) return true;
    const portfolioId = portfolioOf(command);
    return portfolioId !== undefined && !this.#brokerage.state.portfolios.has(portfolioId);
  }

  /** The refusal of a change to a closed portfolio (D142). */
  #closedBefore(command: Command): Rejection | undefined {
    const portfolioId = portfolioOf(command);
    if (portfolioId === undefined || this.#brokerage.state.portfolios.has(portfolioId)) return undefined;
    const isClosed = this.#closures.has(portfolioId) || this.#past(command, portfolioId) !== undefined;
    return isClosed ? PORTFOLIO_CLOSED : undefined;
  }

  /** The refusal of a client order id that another order of the portfolio has used (D24). */
  #usedBefore(command: Command): Rejection | undefined {
    if (command.type !== 'SubmitOrder' || command.order.clientOrderId === undefined) return undefined;
    const { portfolioId, clientOrderId } = command.order;
    if (!this.#brokerage.state.portfolios.has(portfolioId)) return undefined;
    const key = keyOf(portfolioId, clientOrderId);
    const isNew = this.#opened.has(portfolioId);
    const order = this.#clientOrderIds.get(key) ?? (isNew ? undefined : this.#past(command, key));
    return typeof order === 'number' ? duplicateClientOrderId(order) : undefined;
  }

  /** Answer of history to a question of a command. */
  #past(command: Command, key: string): number | true | undefined {
    const question = this.#questionsOf(command).find((one) => one.key === key);
    return question === undefined ? undefined : this.#found(key, question.ask);
  }
}

/** A question that a decision has: if a portfolio is closed, or the number of the order with a client order id. */
interface Question {
  readonly key: string;
  readonly ask: () => ValueOrPromise<number | true | undefined>;
}

const isClosed = (row: ClosedPortfolioRow | undefined): true | undefined =>
  row === undefined ? undefined : true;

const keyOf = (portfolioId: string, clientOrderId: string): string => `${portfolioId}/${clientOrderId}`;

/** The portfolio that a tenant's command is about. */
function portfolioOf(command: Command): string | undefined {
  if (!('by' in command)) return undefined;
  const named = command.type === 'SubmitOrder' ? command.order : command;
  return 'portfolioId' in named ? named.portfolioId : undefined;
}
