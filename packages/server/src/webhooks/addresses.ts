import { lookup as lookUpByMachine } from 'node:dns/promises';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** The server does not connect to this address. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';

  constructor() {
    super('The server sends no events to this address');
  }
}

/** IPv4 that is not global unicast, by the special-purpose registry of IANA (RFC 6890 and later). */
const NOT_PUBLIC = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  NOT_PUBLIC.addSubnet(network, bits, 'ipv4');

/** Networks in 2000::/3, the only global unicast range of IPv6, that are not public. */
const NOT_PUBLIC_6 = new BlockList();
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
] as const)
  NOT_PUBLIC_6.addSubnet(network, bits, 'ipv6');

/** The eight groups of an IPv6 address; undefined for other text. */
function groupsOf(address: string): readonly number[] | undefined {
  if (isIP(address) !== 6 || address.includes('%')) return undefined;
  // The parser of URLs writes embedded IPv4 as groups.
  const { hostname } = new URL(`http://[${address}]`);
  const [head = '', tail] = hostname.slice(1, -1).split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => parseInt(group, 16));
  const front = parse(head);
  if (tail === undefined) return front;
  const back = parse(tail);
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
}

const ipv4Of = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');

/** True when an IP address is global unicast (D193). Addresses that contain an IPv4 address are judged by it. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !NOT_PUBLIC.check(address, 'ipv4');
  const groups = groupsOf(address);
  if (groups === undefined) return false;
  const [a, b, c, d, e, f, g, h] = groups;
  const isMapped = [a, b, c, d, e].every((group) => group === 0) && f === 0xffff;
  const isNat64 = a === 0x64 && b === 0xff9b && [c, d, e, f].every((group) => group === 0);
  if (isMapped || isNat64) return isPublicAddress(ipv4Of(g, h));
  if (a === 0x2002) return isPublicAddress(ipv4Of(b, c));
  return a !== undefined && (a & 0xe000) === 0x2000 && !NOT_PUBLIC_6.check(address, 'ipv6');
}

/** An address in the form used for connections. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Resolves a name to addresses; rejects if there are none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Time limit of a query to a name server, ms. */
const NAME_SERVER_MS = 2000;

/** Queries name servers on a socket: the operating system's resolver would block one of a few threads while a name server is silent. */
async function askNameServers(hostname: string): Promise<readonly ResolvedAddress[]> {
  const resolver = new Resolver({ timeout: NAME_SERVER_MS, tries: 1 });
  const asked = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const [four, six] = asked.map((one) => (one.status === 'fulfilled' ? one.value : []));
  const found = [
    ...(four ?? []).map((address) => ({ address, family: 4 as const })),
    ...(six ?? []).map((address) => ({ address, family: 6 as const })),
  ];
  if (found.length === 0) throw new Error('The name of the receiver could not be resolved');
  return found;
}

/** Knows the hosts file and the search domains of the machine, which private networks use. */
async function askMachine(hostname: string): Promise<readonly ResolvedAddress[]> {
  const found = await lookUpByMachine(hostname, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

export interface AddressRules {
  /** Everything is allowed. */
  readonly allowPrivate: boolean;
  /** Ports on which this server listens; undefined = it does not yet. */
  readonly ownPorts: () => readonly (number | undefined)[];
  /** URLs of the nodes of a cluster, this one among them; absent = there is none. */
  readonly nodeUrls?: () => readonly string[];
  /** For tests: another way to resolve names. */
  readonly resolve?: Resolve;
}

/** Decides which addresses webhooks may be sent to (D193). */
export class Addresses {
  readonly #rules: AddressRules;
  readonly #resolve: Resolve;

  constructor(rules: AddressRules) {
    this.#rules = rules;
    this.#resolve = rules.resolve ?? (rules.allowPrivate ? askMachine : askNameServers);
  }

  /**
   * The addresses of the host of a URL, each of them allowed. Rejects with `AddressRefused` if one is not, with another error if the name
   * cannot be resolved.
   */
  async of(url: URL): Promise<readonly ResolvedAddress[]> {
    const hostname = hostOf(url);
    const family = isIP(hostname);
    if (family === 0 && !this.#rules.allowPrivate)
      if (/(^|\.)localhost$/.test(hostname) || this.#isNode(hostname, portOf(url)))
        throw new AddressRefused();
    const found =
      family === 0
        ? await this.#resolve(hostname)
        : [{ address: hostname, family: family === 6 ? (6 as const) : (4 as const) }];
    if (!found.every(({ address }) => this.#isAllowed(address, portOf(url)))) throw new AddressRefused();
    return found;
  }

  /** Rejects with `AddressRefused` when a URL names an address that is not allowed. A name that cannot be resolved now may be later. */
  async check(url: URL): Promise<void> {
    try {
      await this.of(url);
    } catch (error) {
      if (error instanceof AddressRefused) throw error;
    }
  }

  #isAllowed(address: string, port: number): boolean {
    if (this.#rules.allowPrivate) return true;
    if (!isPublicAddress(address) || this.#isNode(address, port)) return false;
    return !this.#rules.ownPorts().includes(port) || !isOwnAddress(address);
  }

  #isNode(host: string, port: number): boolean {
    const urls = this.#rules.nodeUrls?.().map((text) => new URL(text)) ?? [];
    // The client port of other nodes is unknown; nodes of a cluster usually share it.
    return urls.some(
      (url) => hostOf(url) === host && (portOf(url) === port || this.#rules.ownPorts().includes(port)),
    );
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);

const isOwnAddress = (address: string): boolean =>
  Object.values(networkInterfaces()).some((all) => all?.some((one) => one.address === address) === true);

/** Problem in the form of a receiver's URL; undefined when it is valid. */
export function webhookUrlProblem(given: string): string | undefined {
  if (!URL.canParse(given)) return 'must be an absolute URL';
  const { protocol, username, password, port } = new URL(given);
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be an http(s) URL';
  if (username !== '' || password !== '') return 'must not contain user information';
  const isAllowed = port === '' || port === '80' || port === '443' || Number(port) >= 1024;
  return isAllowed ? undefined : 'must have port 80, 443 or 1024 and up';
}
