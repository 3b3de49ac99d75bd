/** Heads of requests as dialects see them. */
import type { Dialect, Head } from '@sandpit/dialect-port';

interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Head['headers'];
}

/** Head of a request behind the prefix of a dialect. */
export const headOf = (
  { prefix }: Pick<Dialect, 'prefix'>,
  { method = 'GET', url = '/', headers }: RequestHead,
): Head => ({ method, url: url.slice(prefix.length), headers });
