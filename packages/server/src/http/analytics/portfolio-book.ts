/** The history of a portfolio read so far, with its round trips; later requests continue from there. */
import { RoundTripBook, Texts } from '@sandpit/analytics';
import type { Event } from '@sandpit/core';
import { Slice } from '../../engine/scheduling/slice.js';
import type { ListItem, ListName } from '../../store/history.js';
import { contractsIn, KnownContracts, namedAt } from './known-contracts.js';
import { PortfolioRecorder, type PortfolioRecord } from './portfolio-record.js';
import { bookBytes, bookOfBytes, type StoredBook } from './stored-book.js';
import type { StudyReading } from './study.js';

const ITEMS_AT_ONCE = 2_000;
/** Activities that are stored rather than read again: they take a tenth of a second. */
const STORED_FROM = 10_000;
/** Items between two checks of the time. */
const ITEMS_BETWEEN = 32;

export class PortfolioBook {
  readonly #portfolioId: string;
  readonly #recorder: PortfolioRecorder;
  readonly #contracts: KnownContracts;
  readonly #texts: Texts;
  readonly #trips: RoundTripBook;
  /** The current request provides it. */
  #reading: StudyReading;
  #activities: number;
  #closes: number;
  #applied: number;
  /** Activities that the stored form contains. */
  #stored: number;
  #failure: Error | undefined;
  #last: Promise<void> = Promise.resolve();

  /** `stored`: a book to continue. */
  constructor(portfolioId: string, reading: StudyReading, stored?: StoredBook) {
    this.#portfolioId = portfolioId;
    this.#reading = reading;
    const { calendar, ids } = reading;
    this.#contracts = new KnownContracts({
      instruments: (wanted) => this.#reading.ask.instruments(wanted),
      quotesNow: (symbols) => this.#reading.ask.quotesNow(symbols),
    });
    this.#texts = new Texts(stored?.texts);
    this.#recorder = new PortfolioRecorder(
      {
        calendar,
        instrument: (symbol) => this.#contracts.get(symbol),
        orderId: (order) => ids.idOf('ORDER', order),
      },
      this.#texts,
      stored?.recorder,
    );
    this.#trips = new RoundTripBook(this.#texts, stored?.trips);
    this.#activities = stored?.activities ?? 0;
    this.#closes = stored?.closes ?? 0;
    this.#applied = this.record.events.length;
    this.#stored = this.#activities;
  }

  /** The book as it was stored, where it was and still fits the journal. */
  static stored(portfolioId: string, reading: StudyReading): PortfolioBook | undefined {
    const bytes = reading.source.books?.load(reading.simulation.id, portfolioId);
    const stored = bytes && bookOfBytes(bytes);
    return stored && new PortfolioBook(portfolioId, reading, stored);
  }

  get record(): PortfolioRecord {
    return this.#recorder.result();
  }

  get trips(): RoundTripBook {
    return this.#trips;
  }

  /** Approximate number of its rows. */
  get size(): number {
    const { events, posted, closes } = this.record;
    return events.length + posted.length + closes.length;
  }

  /** Reads up to the last record of a request's response. Requests are processed sequentially. */
  readOn(reading: StudyReading): Promise<void> {
    const done = this.#last.then(async () => {
      if (this.#failure !== undefined) throw this.#failure;
      this.#reading = reading;
      try {
        await this.#read();
        this.#store();
      } catch (error) {
        // The book may contain a partial update.
        this.#failure = error instanceof Error ? error : new Error(String(error));
        throw error;
      }
    });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #read(): Promise<void> {
    const slice = new Slice();
    const closes = new ListReader(this.#reading, 'equity', this.#portfolioId, this.#closes);
    const activities = new ListReader(this.#reading, 'activities', this.#portfolioId, this.#activities);
    let close = await closes.next();
    for (let page = await activities.page(); page.length > 0; page = await activities.page()) {
      await this.#contracts.learn(page.flatMap(({ data, at }) => namedAt(contractsIn(data as Event), at)));
      for (const [index, item] of page.entries()) {
        while (close !== undefined && close.seq < item.seq) {
          this.#recorder.close(close);
          this.#closes += 1;
          close = await closes.next();
        }
        this.#recorder.add(item);
        this.#activities += 1;
        if (index % ITEMS_BETWEEN > 0) continue;
        this.#settle();
        await slice.breathe();
      }
    }
    for (; close !== undefined; close = await closes.next()) {
      this.#recorder.close(close);
      this.#closes += 1;
    }
    this.#settle();
  }

  /** Stores it where it has grown by so much that reading it again would show. */
  #store(): void {
    const { source, simulation, storedFrom = STORED_FROM } = this.#reading;
    const growth = this.#activities - this.#stored;
    if (source.books === undefined || growth < Math.max(storedFrom, this.#stored / 20)) return;
    this.#stored = this.#activities;
    const parts = bookBytes({
      activities: this.#activities,
      closes: this.#closes,
      recorder: this.#recorder.stored(),
      trips: this.#trips.stored(),
      // Encoding the orders may have added some.
      texts: this.#texts.all,
    });
    source.books.save(simulation.id, this.#portfolioId, simulation.upTo, parts);
  }

  /** Computes the round trips of the new events. */
  #settle(): void {
    const { events } = this.record;
    for (; this.#applied < events.length; this.#applied += 1) this.#trips.apply(events.at(this.#applied));
  }
}

/** A list from a position, oldest first, up to a record. */
class ListReader {
  readonly #reading: StudyReading;
  readonly #list: ListName;
  readonly #owner: string;
  #place: number;
  #page: readonly ListItem[] = [];
  #index = 0;

  constructor(reading: StudyReading, list: ListName, owner: string, place: number) {
    this.#reading = reading;
    this.#list = list;
    this.#owner = owner;
    this.#place = place;
  }

  async next(): Promise<ListItem | undefined> {
    if (this.#index >= this.#page.length) {
      this.#page = await this.page();
      this.#index = 0;
    }
    const item = this.#page[this.#index];
    this.#index += 1;
    return item;
  }

  /** Empty at the end. */
  async page(): Promise<readonly ListItem[]> {
    const { source, simulation } = this.#reading;
    const before = this.#place + ITEMS_AT_ONCE;
    const { items, total } = await source.history.list({
      simulationId: simulation.id,
      list: this.#list,
      owner: this.#owner,
      offset: 0,
      limit: ITEMS_AT_ONCE,
      before,
    });
    const count = Math.max(0, Math.min(before, total) - this.#place);
    const page = items.slice(0, count).toReversed();
    const told = page.findIndex(({ seq }) => seq > simulation.upTo);
    const found = told === -1 ? page : page.slice(0, told);
    this.#place += found.length;
    return found;
  }
}
