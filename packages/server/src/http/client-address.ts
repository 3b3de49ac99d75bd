import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** A request of a client, as the node that forwards it has signed it. */
interface Forwarded {
  /** Address of the client. */
  readonly client: string;
  readonly tenantId: string;
}

const FORWARDED = new WeakMap<IncomingMessage, Forwarded>();

/** Another node has forwarded a request. */
export const noteClient = (request: IncomingMessage, forwarded: Forwarded): void => {
  FORWARDED.set(request, forwarded);
};

/** Signed data of the forwarding node; undefined = the request came directly. */
export const forwardedFor = (request: IncomingMessage): Forwarded | undefined => FORWARDED.get(request);

const PROXIED = new WeakMap<IncomingMessage, string>();

/** A trusted proxy has forwarded a request of the client at this address. */
export const noteProxied = (request: IncomingMessage, address: string): void => {
  PROXIED.set(request, address);
};

/** True for a request that another node has forwarded. */
export const isForwarded = (request: IncomingMessage): boolean => FORWARDED.has(request);

/** The address of the client, also behind another node or a proxy. */
export const addressOf = ({ raw, ip }: FastifyRequest): string =>
  FORWARDED.get(raw)?.client ?? PROXIED.get(raw) ?? ip;

/** Address of the client, for requests without a route. */
export const clientOf = (request: IncomingMessage): string =>
  FORWARDED.get(request)?.client ?? PROXIED.get(request) ?? request.socket.remoteAddress ?? '';

/** The network that shares the limits of an address: an IPv4 address, or the /64 of an IPv6 address, which a single client can fill. */
export function networkOf(address: string): string {
  const plain = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1] ?? address;
  if (!isIPv6(plain)) return plain;
  const [front = '', back] = (plain.split('%')[0] ?? '').split('::');
  const first = front === '' ? [] : front.split(':');
  const last = back === undefined || back === '' ? [] : back.split(':');
  const groups = [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** True for an address of this machine. */
export const isLoopbackAddress = (address: string): boolean => /^(::ffff:)?127\.|^::1$/.test(address);
