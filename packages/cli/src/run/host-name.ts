/** Names of hosts as proxies receive them. */
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

export interface Authority {
  /** Lower-case, without a trailing dot and without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The host of a name in any case, with a trailing dot or not; undefined if it is no host. */
export function hostOf(name: string): string | undefined {
  const bare = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
  if (isIP(bare) !== 0) return bare.toLowerCase();
  const host = domainToASCII(bare.replace(/\.$/, ''));
  return host === '' || host.endsWith('.') || host.includes('..') || !/^[a-z0-9._-]+$/.test(host)
    ? undefined
    : host;
}

/** `HOST:PORT` of a CONNECT request; undefined if it is malformed. */
export function authorityOf(text: string): Authority | undefined {
  const [, name = '', digits = ''] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(text) ?? [];
  const host = hostOf(name);
  const port = Number(digits);
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** True for this machine's own addresses. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  host === '::1' ||
  host === '::' ||
  host === '0.0.0.0' ||
  /^127\.\d+\.\d+\.\d+$/.test(host) ||
  /^::ffff:(?:127\.|7f)/.test(host);
