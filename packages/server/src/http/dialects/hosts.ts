/** Requests to the hosts of dialects, which need no prefix. */
import type { IncomingMessage, Server } from 'node:http';
import type { Dialect } from '@sandpit/dialect-port';

/** The URL of a request behind the prefix of the dialect whose host it names. */
export function withPrefix(
  dialects: readonly Dialect[],
  { url = '/', headers }: { readonly url?: string | undefined; readonly headers: IncomingMessage['headers'] },
): string {
  const host = (headers.host ?? '').toLowerCase().replace(/\.?(?::\d*)?$/, '');
  const dialect = dialects.find(({ hosts }) => hosts.includes(host));
  if (dialect === undefined) return url;
  const { prefix } = dialect;
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  const isInside = path.startsWith(prefix) && /^[/?]|^$/.test(path.slice(prefix.length));
  return isInside ? url : prefix + (path.startsWith('/') ? path : `/${path}`);
}

/** Adds the prefixes before anything else reads the URL: a gateway, or the paths of sockets. */
export function addPrefixes(server: Server, dialects: readonly Dialect[]): void {
  const add = (request: IncomingMessage): void => {
    request.url = withPrefix(dialects, request);
  };
  server.prependListener('request', add);
  server.prependListener('upgrade', add);
}
