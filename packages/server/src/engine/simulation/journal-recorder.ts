import { symbolsTraded } from '@sandpit/core';
import type { Brokerage, Command, Instant, Outcome, Quote, Rejection } from '@sandpit/core';
import type { StoreUnavailable, StoredAnswer } from '../../store/journal.js';
import type { Recorder } from './command-executor.js';
import { recordText } from '../records/record-text.js';
import type { Records } from '../records/records.js';
import type { RowRecorder } from '../records/row-recorder.js';

/** Writes the decisions of a simulation into its journal. */
export class JournalRecorder implements Recorder {
  readonly #brokerage: Brokerage;
  readonly #records: Records;
  readonly #rows: RowRecorder;
  /** Last record of the market's journal that was applied according to the records. */
  #marketSeq: number;
  /** False while the records refer to an earlier market only. */
  #isOfThisMarket: boolean;

  /** `isOfThisMarket`: false if the records so far refer to another market. */
  constructor(brokerage: Brokerage, records: Records, rows: RowRecorder, isOfThisMarket: boolean) {
    this.#brokerage = brokerage;
    this.#records = records;
    this.#rows = rows;
    this.#marketSeq = brokerage.state.marketSeq;
    this.#isOfThisMarket = isOfThisMarket;
  }

  /** Position in the market's journal by the records; the simulation may have followed it further. */
  get marketSeq(): number {
    return this.#marketSeq;
  }

  isAccepting(): boolean {
    return this.#records.isAccepting();
  }

  isInReserve(): boolean {
    return this.#records.isInReserve();
  }

  unavailable(): StoreUnavailable {
    return this.#records.unavailable();
  }

  refusal(command: Command): Rejection | undefined {
    return this.#rows.refusal(command);
  }

  begin(command: Command, at: Instant): void {
    this.#rows.begin(command, at);
  }

  record(command: Command, at: Instant, outcome: Outcome, answer: StoredAnswer | undefined): void {
    const { events, orders, quotes } = outcome;
    if (events.length === 0) {
      if (answer !== undefined) this.#records.saveAnswer(answer);
      return;
    }
    const { marketSeq } = this.#brokerage.state;
    const isFarther = marketSeq !== this.#marketSeq || !this.#isOfThisMarket;
    this.#marketSeq = marketSeq;
    this.#isOfThisMarket = true;
    const payload = recordText(
      command,
      marketSeq === 0 ? quotes : [...quotes, ...this.#quotesOfNewInterest(outcome)],
      events,
      isFarther ? marketSeq : undefined,
    );
    const seq = this.#records.append({ at, events, orders }, payload, answer);
    this.#rows.note(seq, at, command, outcome);
  }

  /**
   * Quotes that an order begins to depend on. Quotes pushed from now on are journaled. This one was pushed before any order or position
   * used its symbol, and catching up after a crash may need it.
   */
  #quotesOfNewInterest({ events, orders }: Pick<Outcome, 'events' | 'orders'>): readonly Quote[] {
    const terms = events[0]?.type === 'OrderAccepted' ? orders[0]?.terms : undefined;
    if (terms === undefined) return [];
    const { underlying } = terms;
    return this.#brokerage.quotesToRecord([
      ...symbolsTraded(terms),
      ...(underlying === undefined ? [] : [underlying]),
    ]);
  }
}
