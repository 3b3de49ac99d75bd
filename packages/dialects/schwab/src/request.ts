/** Requests of Schwab's clients: their accounts, and the fields of their queries. */
import {
  type Book,
  booksOf,
  type DialectCall,
  digestOf,
  FormFields,
  type Head,
  type Reply,
  type STREAMED,
} from '@sandpit/dialect-port';
import { invalid, refused } from './refusals.js';
import { json } from './wire.js';

type Fields = FormFields;

/** A request with the fields of its query, which its route knows. */
export interface SchwabCall extends DialectCall {
  readonly fields: Fields;
}

type Handler = (call: SchwabCall) => Promise<Reply | typeof STREAMED>;

/** A route with the names of its query. */
export const reading =
  (known: readonly string[], handler: Handler) =>
  (call: DialectCall): ReturnType<Handler> => {
    const bad = (name: string, reason: string) => invalid(call.head, name, reason);
    return handler({ ...call, fields: new FormFields([joinedLists(call.query)], known, bad) });
  };

const LISTS = ['symbols', 'fields', 'markets', 'types'];

/** Lists that clients send as one name with several values become one value with commas. */
const joinedLists = (query: DialectCall['query']): DialectCall['query'] =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      LISTS.includes(name) && Array.isArray(value) ? value.join(',') : value,
    ]),
  );

/** A route that answers a value. */
export const answering = (known: readonly string[], handler: (call: SchwabCall) => Promise<unknown>) =>
  reading(known, async (call) => json(200, await handler(call)));

/** A field that is one of some words, in capitals or not. */
export function wordIn<const Words extends readonly string[]>(
  { fields, head }: Pick<SchwabCall, 'fields' | 'head'>,
  name: string,
  words: Words,
): Words[number] | undefined {
  const text = fields.text(name);
  const word = words.find((one) => one.toLowerCase() === text?.toLowerCase());
  if (text !== undefined && word === undefined)
    throw invalid(head, name, `must be one of ${words.join(', ')}`);
  return word;
}

/** A time with a zone (`2026-11-30T14:45:00.000Z`, `+0000`), or a date; ms. */
export function timeIn(head: Head, name: string, text: string, isEnd = false): number {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T${isEnd ? '23:59:59.999' : '00:00:00.000'}Z` : text;
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)$/.test(day);
  const at = isTime ? Date.parse(day.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')) : NaN;
  if (Number.isNaN(at)) throw invalid(head, name, 'must be a time such as 2026-11-30T14:45:00.000Z');
  return at;
}

const FIRST_ACCOUNT = 10_000_000;

/** Eight digits: the number of the portfolio in its simulation, after 10,000,000. */
export const accountNumberOf = (number: number): string => String(FIRST_ACCOUNT + number);

export const accountOf = (book: Book): string => accountNumberOf(book.portfolio()?.terms.number ?? 0);

/** Text that represents an account in paths. */
export const hashOf = (portfolioId: string): string =>
  digestOf(`schwab account ${portfolioId}`, 'hex').toUpperCase();

/** The portfolio of the hash in a path. The plain number of an account is refused, as Schwab refuses it. */
export function bookOf(call: Pick<DialectCall, 'desk' | 'book' | 'params' | 'head'>): Book {
  const given = call.params['hash'] ?? '';
  const found = booksOf(call).find(({ portfolioId }) => hashOf(portfolioId) === given.toUpperCase());
  if (found !== undefined) return found;
  throw /^\d{1,12}$/.test(given)
    ? refused(call.head, 400, 'Invalid account number: use the hashValue of /accounts/accountNumbers')
    : refused(call.head, 404, 'No such account');
}
