/** A module that Node children load first: Node's own clients read no proxy settings. */
import type * as Module from 'node:module';
import type * as Net from 'node:net';
import type * as Stream from 'node:stream';
import type * as Tls from 'node:tls';

export interface PreloadSettings {
  /** Where the served hosts answer TLS. */
  readonly tlsPort: number;
  readonly served: readonly string[];
  /** Domains of brokers. */
  readonly brokers: readonly string[];
  readonly allowNetwork: boolean;
  /** Port of the proxy, which records refused hosts. */
  readonly port: number;
}

/** The text of the module. */
export const preloadText = (settings: PreloadSettings): string =>
  `(${redirect.toString()})(${JSON.stringify(settings)}, require);\n`;

/**
 * Redirects TLS connections. Its text runs in another process: it uses nothing from outside. A connection over its own socket, such as a
 * proxy's, stays as it is.
 */
function redirect(settings: PreloadSettings, load: (name: string) => unknown): void {
  const tls = load('node:tls') as { connect: typeof Tls.connect };
  const net = load('node:net') as typeof Net;
  const stream = load('node:stream') as typeof Stream;
  const { syncBuiltinESMExports } = load('node:module') as typeof Module;
  const original = tls.connect as (...given: unknown[]) => Tls.TLSSocket;
  const served = new Set(settings.served);
  const isBroker = (host: string): boolean =>
    settings.brokers.some((domain) => host === domain || host.endsWith('.' + domain));
  const isLocal = (host: string): boolean => /^(?:localhost|127\..*|::1|.*\.localhost)$/.test(host);
  const hostOf = (name: unknown): string =>
    String(name)
      .toLowerCase()
      .replace(/^\[|\]$/g, '')
      .replace(/\.$/, '');

  const connect = function (this: unknown, ...given: unknown[]): Tls.TLSSocket {
    const callback = given.find((one) => typeof one === 'function');
    const found = given.find((one) => typeof one === 'object' && one !== null) as
      (Tls.ConnectionOptions & { readonly path?: string | null }) | undefined;
    const [first] = given;
    const isByPort = typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first));
    const name = found?.host ?? (isByPort && typeof given[1] === 'string' ? given[1] : 'localhost');
    const host = hostOf(name);
    const isPath = found?.path != null || (typeof first === 'string' && !isByPort);
    const named = hostOf(found?.servername ?? '');
    const asked = served.has(host) || isBroker(host) || named === '' ? host : named;
    if (found?.socket != null || isPath) return original.apply(this, given);
    if (isLocal(host) && !served.has(named) && !isBroker(named)) return original.apply(this, given);
    if (served.has(asked)) {
      const options = {
        ...found,
        host: '127.0.0.1',
        port: settings.tlsPort,
        servername: asked,
        lookup: undefined,
      };
      return original.call(this, options, ...(callback === undefined ? [] : [callback]));
    }
    if (!isBroker(asked) && settings.allowNetwork) return original.apply(this, given);
    const why = isBroker(asked)
      ? `${asked} is a broker's host that Sandpit does not serve`
      : `sandpit run lets nothing out to ${asked} (--allow-network does)`;
    const silence = new stream.Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    const refused = original.call(this, { socket: silence, servername: 'localhost' });
    // The proxy counts and prints it, before the program can end for it.
    const note = net.connect(settings.port, '127.0.0.1', () =>
      note.write(`CONNECT ${asked}:443 HTTP/1.1\r\nHost: ${asked}:443\r\n\r\n`),
    );
    note.on('error', () => undefined).resume();
    note.once('close', () => refused.destroy(new Error(why)));
    return refused;
  };
  tls.connect = connect;
  syncBuiltinESMExports();
}
