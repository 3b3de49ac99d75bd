/** Connections of clients: their number, and the addresses reported by proxies (D232). */
import type { IncomingMessage, Server } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Socket } from 'node:net';
import { isLoopbackAddress, networkOf, noteProxied } from './client-address.js';

const MOST_OF_ADDRESS = 4000;

export interface ConnectionSettings {
  /** Open connections in all. */
  readonly maxConnections: number;
  /** Addresses and CIDR ranges of proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
}

/** Limits the connections of a server. Install it after all other listeners of its requests. */
export function guardConnections(
  server: Server,
  { maxConnections, trustedProxies }: ConnectionSettings,
): void {
  server.maxConnections = maxConnections;
  const proxies = new Proxies(trustedProxies);
  const counts = new Map<string, number>();
  const known = new WeakSet<Socket>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket;
    // A connection that offered another protocol comes twice.
    if (known.has(socket) || address === undefined || isLoopbackAddress(address) || proxies.has(address))
      return;
    known.add(socket);
    const network = networkOf(address);
    const count = counts.get(network) ?? 0;
    if (count >= MOST_OF_ADDRESS) return void socket.destroy();
    counts.set(network, count + 1);
    socket.once('close', () => {
      const left = (counts.get(network) ?? 0) - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    });
  });
  if (trustedProxies.length === 0) return;
  const note = (request: IncomingMessage): void => {
    const address = proxies.clientOf(request);
    if (address !== undefined) noteProxied(request, address);
  };
  server.prependListener('request', note);
  server.prependListener('upgrade', note);
}

/** True for an address, or a range such as `10.0.0.0/8`. */
export function isRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  if (isIP(address) === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (isIPv6(address) ? 128 : 32));
}

export class Proxies {
  readonly #list = new BlockList();

  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = '', bits] = range.split('/');
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      if (bits === undefined) this.#list.addAddress(address, family);
      else this.#list.addSubnet(address, Number(bits), family);
    }
  }

  has(address: string): boolean {
    return this.#list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  }

  /**
   * The client of a request that came through a proxy: the last address in `X-Forwarded-For` that is none of a proxy. Undefined = the request
   * came directly, or the header has no such address.
   */
  clientOf({
    socket,
    headers,
  }: Pick<IncomingMessage, 'headers'> & { socket: Pick<Socket, 'remoteAddress'> }): string | undefined {
    if (socket.remoteAddress === undefined || !this.has(socket.remoteAddress)) return undefined;
    const told = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').map(bareAddress).reverse();
    const client = told.find((address) => isIP(address) === 0 || !this.has(address));
    // Text that is no address was not written by a proxy.
    return client === undefined || isIP(client) === 0 ? undefined : client;
  }
}

/** Without brackets and port, which some proxies add. */
function bareAddress(text: string): string {
  const entry = text.trim();
  return /^\[([^\]]+)\](:\d+)?$/.exec(entry)?.[1] ?? /^(\d+(\.\d+){3}):\d+$/.exec(entry)?.[1] ?? entry;
}
