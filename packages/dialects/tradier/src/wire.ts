/** Answers as JSON or XML, in the shapes that Tradier gives both: one item is the item itself, none is the text `null`. */
import { type Head, type Reply, xmlOf } from '@sandpit/dialect-port';

/** Items under their name; the text `null` for none. */
export const items = (name: string, all: readonly unknown[]): object | 'null' =>
  all.length === 0 ? 'null' : { [name]: oneOrMany(all) };

/** Items of market data, where an empty list is null. */
export const itemsOrNull = (name: string, all: readonly unknown[]): object | null =>
  all.length === 0 ? null : { [name]: oneOrMany(all) };

/** A list of one is the item itself. */
export const oneOrMany = (all: readonly unknown[]): unknown => (all.length === 1 ? all[0] : all);

/** True when a client accepts JSON. Without a preference the answer is XML. */
export function wantsJson({ headers }: Pick<Head, 'headers'>): boolean {
  const accept = headers['accept'];
  const types = (typeof accept === 'string' ? accept : '').toLowerCase().split(',');
  return types.some((type) => /^\s*(application|text)\/(json|javascript)\s*(;|$)/.test(type));
}

/** An answer with one field at its root. */
export function answer(head: Pick<Head, 'headers'>, root: string, value: unknown, status = 200): Reply {
  if (wantsJson(head)) return { status, text: JSON.stringify({ [root]: value }) };
  const text = xmlOf(root, value);
  return { status, text, headers: { 'content-type': 'application/xml; charset=utf-8' } };
}

export const plainText = (status: number, text: string, headers: Reply['headers'] = {}): Reply => ({
  status,
  text,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
});

/** `2026-11-30T14:45:00.155Z`. */
export const iso = (at: number): string => new Date(at).toISOString();
