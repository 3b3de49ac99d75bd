import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

const FORWARDED = new WeakMap<IncomingMessage, string>();

/** Another node has forwarded a request of the client at this address. */
export const noteClient = (request: IncomingMessage, address: string): void => {
  FORWARDED.set(request, address);
};

const PROXIED = new WeakMap<IncomingMessage, string>();

/** A trusted proxy has forwarded a request of the client at this address. */
export const noteProxied = (request: IncomingMessage, address: string): void => {
  PROXIED.set(request, address);
};

/** True for a request that another node has forwarded. */
export const isForwarded = (request: IncomingMessage): boolean => FORWARDED.has(request);

/** The address of the client, also behind another node or a proxy. */
export const addressOf = ({ raw, ip }: FastifyRequest): string =>
  FORWARDED.get(raw) ?? PROXIED.get(raw) ?? ip;

/** The same, of a request that no route has. */
export const clientOf = (request: IncomingMessage): string =>
  FORWARDED.get(request) ?? PROXIED.get(request) ?? request.socket.remoteAddress ?? '';

/** True for an address of this machine. */
export const isLoopbackAddress = (address: string): boolean => /^(::ffff:)?127\.|^::1$/.test(address);
