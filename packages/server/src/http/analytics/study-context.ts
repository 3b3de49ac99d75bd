import type { BookCache } from './book-cache.js';
import { PortfolioBook } from './portfolio-book.js';
import type { PastFeed, StudyReading } from './study.js';

/** Dependencies of a study. */
export interface StudyContext extends StudyReading {
  /** Cached books; absent = no cache. */
  readonly books: BookCache | undefined;
  readonly openFeed: () => Promise<PastFeed>;
  /** Sends a part of the response. Resolves when the reader accepts more; with false if it has disconnected. */
  readonly emit: (text: string) => Promise<boolean>;
}

/** The book of a portfolio, read up to the last record that its simulation shows. */
export async function bookOf(context: StudyContext, portfolioId: string): Promise<PortfolioBook> {
  if (context.books !== undefined) return context.books.find(context, portfolioId);
  const book = new PortfolioBook(portfolioId, context);
  await book.readOn(context);
  return book;
}
