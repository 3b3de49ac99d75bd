import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';

const FORWARDED = new WeakMap<IncomingMessage, string>();

/** Another node has forwarded a request of the client at this address. */
export const noteClient = (request: IncomingMessage, address: string): void => {
  FORWARDED.set(request, address);
};

/** True for a request that another node has forwarded. */
export const isForwarded = (request: IncomingMessage): boolean => FORWARDED.has(request);

/** The address of the client, also behind another node. */
export const addressOf = ({ raw, ip }: FastifyRequest): string => FORWARDED.get(raw) ?? ip;

/** True for an address of this machine. */
export const isLoopbackAddress = (address: string): boolean => /^(::ffff:)?127\.|^::1$/.test(address);
