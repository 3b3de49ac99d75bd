/** Requests of Tradier's clients: their accounts and their fields, in the query, in a form, or in both. */
import { type Book, type DialectCall, FormFields, type Reply, type STREAMED } from '@sandpit/dialect-port';
import { invalid, unauthorizedAccount } from './refusals.js';
import { answer } from './wire.js';

/** Fields of query and form; a field of the form comes before one of the query. */
const fieldsOf = ({ query, body }: DialectCall, known: readonly string[]): FormFields =>
  new FormFields([query, (body ?? {}) as Readonly<Record<string, unknown>>], known, invalid);

export type Fields = FormFields;

/** A request, with the fields that its route knows. */
export interface TradierCall extends DialectCall {
  readonly fields: Fields;
}

export type TradierHandler = (call: TradierCall) => Promise<Reply | typeof STREAMED>;

/** A route with the names of its fields. `[]` marks a list. */
export const reading =
  (known: readonly string[], handler: TradierHandler) =>
  (call: DialectCall): ReturnType<TradierHandler> =>
    handler({ ...call, fields: fieldsOf(call, known) });

/** A route that answers a value under a name. */
export const answering = (
  known: readonly string[],
  root: string,
  handler: (call: TradierCall) => Promise<unknown>,
) => reading(known, async (call) => answer(call.head, root, await handler(call)));

/** `VA` and the number of the portfolio in its simulation. */
export const accountNumberOf = (number: number): string => `VA${String(number).padStart(8, '0')}`;

export const accountOf = (book: Book): string => accountNumberOf(book.portfolio()?.terms.number ?? 0);

/** The portfolio that a path names. */
export function bookOf(call: Pick<DialectCall, 'desk' | 'book' | 'params'>): Book {
  const account = call.params['account'] ?? '';
  const number = /^VA(\d{8,12})$/i.exec(account)?.[1];
  const portfolio = call.desk
    .portfolios()
    .find(({ terms }) => number !== undefined && accountNumberOf(terms.number) === account.toUpperCase());
  const book = portfolio && call.desk.book(portfolio.terms.portfolioId);
  const isOther = call.book !== undefined && call.book.portfolioId !== book?.portfolioId;
  if (book === undefined || isOther) throw unauthorizedAccount(account);
  return book;
}

/** The symbol of `/v1` for one that a client sends: class shares have a slash here. */
export const symbolIn = (text: string): string => text.toUpperCase().replaceAll('/', '.');
