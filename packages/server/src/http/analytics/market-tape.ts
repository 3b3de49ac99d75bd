/** Returns market quotes at past instants, in one forward pass. */
import { Instant, type Event, type Quote } from '@sandpit/core';
import { payloadOf } from '../../engine/records/record-text.js';
import { Slice } from '../../engine/scheduling/slice.js';
import type { JournalRecord, JournalRecords } from '../../store/journal.js';
import type { PastSource } from '../../store/past.js';
import type { QuoteQuestion } from './order-meter.js';
import type { PastFeed, StudiedSimulation } from './study.js';

const DAY_MS = 86_400_000;
/** Idle time after which the next query starts reading again. */
const LONGEST_GAP_MS = 4 * DAY_MS;
/** Maximum age of a quote before the instant of a question. */
const LOOK_BACK_MS = 4 * DAY_MS;

/** Answered queries that are not released yet. */
const MOST_ANSWERED = 1_000;

export class MarketTape {
  readonly #simulation: StudiedSimulation;
  readonly #source: PastSource;
  readonly #feed: PastFeed;
  readonly #slice = new Slice();
  readonly #symbols = new Set<string>();
  /** In order of time, from `#answered` on. */
  #questions: QuoteQuestion[] = [];
  #answered = 0;
  readonly #quotes = new Map<string, Quote>();
  readonly #firsts = new Map<string, QuoteQuestion[]>();
  #reading: AsyncIterator<Quote> | undefined;
  #ahead: Quote | undefined;
  #at = -Infinity;
  /** True when the current reading omits requested symbols. */
  #isStale = false;

  constructor(simulation: StudiedSimulation, source: PastSource, feed: PastFeed) {
    this.#simulation = simulation;
    this.#source = source;
    this.#feed = feed;
  }

  ask(question: QuoteQuestion): void {
    if (!this.#symbols.has(question.symbol)) {
      this.#symbols.add(question.symbol);
      this.#isStale = true;
    }
    let index = this.#questions.length;
    while (index > this.#answered && (this.#questions[index - 1]?.at ?? 0) > question.at) index -= 1;
    if (index === this.#questions.length) this.#questions.push(question);
    else this.#questions.splice(index, 0, question);
  }

  /** Answers the queries up to this instant; instants never decrease. */
  async moveTo(at: number): Promise<void> {
    for (;;) {
      const question = this.#questions[this.#answered];
      if (question === undefined || question.at > at) break;
      this.#passOne();
      if (question.isFirst) {
        await this.#readTo(question.at - 1);
        const waiting = this.#firsts.get(question.symbol) ?? [];
        waiting.push(question);
        this.#firsts.set(question.symbol, waiting);
        continue;
      }
      await this.#readTo(question.at);
      const quote = this.#quotes.get(question.symbol);
      question.settle(quote);
    }
    if (this.#firsts.size > 0) await this.#readTo(at);
  }

  #passOne(): void {
    this.#answered += 1;
    if (this.#answered < MOST_ANSWERED) return;
    this.#questions = this.#questions.slice(this.#answered);
    this.#answered = 0;
  }

  /** Ends the reading. Questions about what lies ahead stay without an answer. */
  async close(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    this.#ahead = undefined;
    await reading?.return?.();
  }

  async #readTo(at: number): Promise<void> {
    if (at <= this.#at && this.#reading !== undefined && !this.#isStale) return;
    if (this.#isStale || (at - this.#at > LONGEST_GAP_MS && this.#firsts.size === 0)) await this.close();
    this.#isStale = false;
    this.#reading ??= this.#begin(at);
    for (;;) {
      this.#ahead ??= await this.#next();
      const quote = this.#ahead;
      if (quote === undefined || quote.at > at) break;
      this.#take(quote);
      this.#ahead = undefined;
      await this.#slice.breathe();
    }
    this.#at = Math.max(this.#at, at);
  }

  #take(quote: Quote): void {
    this.#quotes.set(quote.symbol, quote);
    const waiting = this.#firsts.get(quote.symbol);
    if (waiting === undefined) return;
    const left = waiting.filter((question) => {
      if (quote.at < question.at) return true;
      question.settle(quote);
      return false;
    });
    if (left.length === 0) this.#firsts.delete(quote.symbol);
    else this.#firsts.set(quote.symbol, left);
  }

  async #next(): Promise<Quote | undefined> {
    const next = await this.#reading?.next();
    return next?.done === false ? next.value : undefined;
  }

  #begin(at: number): AsyncIterator<Quote> {
    const { marketId, now } = this.#simulation;
    const from = at - LOOK_BACK_MS;
    const symbols = new Set(this.#symbols);
    const quotes =
      this.#feed.pastQuotes?.(Instant.ofMs(from), Instant.ofMs(now), symbols) ??
      pushedQuotes(this.#source.journal, marketId, from, symbols);
    return quotes[Symbol.asyncIterator]();
  }
}

/** Quotes in the journal of a market from an instant on. */
async function* pushedQuotes(
  journal: PastSource['journal'],
  marketId: string,
  from: number,
  symbols: ReadonlySet<string>,
): AsyncGenerator<Quote, void, undefined> {
  const slice = new Slice();
  for await (const record of journal.read(marketId, await lastSeqBefore(journal, marketId, from))) {
    if (record.payload.includes('"QuotesPushed"') || record.payload.includes('"quotes":[')) {
      // The journal of a fork of `main` has a quote of a symbol without orders only where a decision read it.
      const { quotes = [], command, events } = payloadOf(record);
      const met = command.type === 'UpdateMarket' && !command.pushed ? command.quotes : [];
      for (const quote of [...quotes, ...met, ...events.flatMap(quotesOf)])
        if (symbols.has(quote.symbol)) yield quote;
    }
    await slice.breathe();
  }
}

const quotesOf = (event: Event): readonly Quote[] => (event.type === 'QuotesPushed' ? event.quotes : []);

/** The last record of a journal before an instant; 0 = none. */
export async function lastSeqBefore(
  journal: PastSource['journal'],
  simulationId: string,
  at: number,
): Promise<number> {
  let low = 0;
  let high = await journal.lastSeq(simulationId);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const record = await firstOf(journal.read(simulationId, middle - 1));
    if (record !== undefined && record.at < at) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function firstOf(records: JournalRecords): Promise<JournalRecord | undefined> {
  for await (const record of records) return record;
  return undefined;
}
