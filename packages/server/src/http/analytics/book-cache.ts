/** Cache of books read recently: the next question about a portfolio reads only newer records. */
import { PortfolioBook } from './portfolio-book.js';
import type { StudyReading } from './study.js';

/** Maximum number of rows in all cached books: some 200 bytes each. */
const MOST_ROWS = 1_000_000;

export class BookCache {
  /** Least recently used first. */
  readonly #books = new Map<string, PortfolioBook>();

  /** The book of a portfolio, read up to the last record that its simulation shows. */
  async find(reading: StudyReading, portfolioId: string): Promise<PortfolioBook> {
    const { source, simulation } = reading;
    const name = await source.nameOf(simulation.id);
    const key = `${name ?? ''} ${portfolioId}`;
    const book =
      this.#books.get(key) ??
      PortfolioBook.stored(portfolioId, reading) ??
      new PortfolioBook(portfolioId, reading);
    this.#books.delete(key);
    this.#books.set(key, book);
    try {
      await book.readOn(reading);
    } catch (error) {
      this.#books.delete(key);
      throw error;
    }
    if (name === undefined) this.#books.delete(key);
    this.#shrink();
    return book;
  }

  /** Evicts the least recently used; also a single one that is too large. */
  #shrink(): void {
    let rows = 0;
    for (const [key, book] of [...this.#books].reverse()) {
      rows += book.size;
      if (rows > MOST_ROWS) this.#books.delete(key);
    }
  }
}
