import * as http from 'node:http';
import * as https from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import type { DeliveryAttempt } from '../store/webhooks.js';
import { AddressRefused } from './addresses.js';
import type { Addresses } from './addresses.js';
import type { Timers } from './timers.js';

/** A receiver has this long to answer. */
const ANSWER_MS = 15_000;
/** Bytes of an answer that are read, and thrown away. */
const MOST_BYTES = 65_536;
/** Idle time after which a connection is closed. */
const IDLE_MS = 20_000;
const MOST_SOCKETS = 64;

/** A request to a receiver. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Posts to one receiver. It has its own connections: to checked addresses, with the name of the receiver in TLS and `Host`, without a
 * proxy.
 */
export class Sender {
  readonly #addresses: Addresses;
  readonly #timers: Timers;
  readonly #requests = new Set<http.ClientRequest>();
  #agents: { readonly http: http.Agent; readonly https: https.Agent } | undefined;
  #isStopped = false;

  constructor(addresses: Addresses, timers: Timers) {
    this.#addresses = addresses;
    this.#timers = timers;
  }

  /** Tries once. `release` is called when the connection is free again, which may be later. Never rejects. */
  async post(post: Post, release: () => void): Promise<DeliveryAttempt> {
    const at = this.#timers.nowMs();
    const began = performance.now();
    const took = (): number => Math.round(performance.now() - began);
    try {
      const url = new URL(post.url);
      // Node connects to an address in a URL without looking it up.
      if (isLiteral(url)) await this.#addresses.of(url);
      const statusCode = await this.#request(url, post, release);
      const error = errorOfStatus(statusCode);
      return { at, statusCode, ...(error !== undefined && { error }), durationMs: took() };
    } catch (error) {
      release();
      // The real duration would reveal whether the address is in use.
      if (error instanceof AddressRefused) return { at, error: error.message, durationMs: 0 };
      return { at, error: sentenceOf(error), durationMs: took() };
    }
  }

  /** Resolves with the status, as soon as the head of the answer is there. */
  #request(
    url: URL,
    { headers, body }: Omit<Post, 'url'>,
    release: () => void,
    isAgain = false,
  ): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#isStopped) return reject(new Error(GIVEN_UP));
      const { request: begin } = url.protocol === 'https:' ? https : http;
      const request = begin(url, {
        method: 'POST',
        // If one idle connection was closed, the others probably were as well.
        agent: isAgain ? false : this.#agentFor(url),
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        lookup: this.#lookupFor(url),
      });
      this.#requests.add(request);
      let statusCode: number | undefined;
      const callOff = this.#timers.after(ANSWER_MS, () => request.destroy(new Error(TOO_LATE)));
      request.on('response', (response) => {
        statusCode = response.statusCode ?? 0;
        resolve(statusCode);
        let left = MOST_BYTES;
        response.on('data', (chunk: Buffer) => {
          left -= chunk.length;
          if (left < 0) request.destroy();
        });
        response.on('error', () => undefined);
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The receiver has closed an idle connection: this does not count as a failure.
        const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
        const isStale = request.reusedSocket && isClosed && !isAgain;
        if (statusCode === undefined && isStale)
          this.#request(url, { headers, body }, release, true).then(resolve, reject);
        else reject(error);
      });
      request.on('close', () => {
        callOff();
        this.#requests.delete(request);
        if (statusCode !== undefined) release();
        else if (request.errored === null) reject(new Error(NO_ANSWER));
      });
      request.end(body);
    });
  }

  /** Returns the addresses of a receiver for a connection: only those checked now. */
  #lookupFor(url: URL): LookupFunction {
    return (_hostname, { all }, callback) => {
      this.#addresses.of(url).then(
        (addresses) => {
          if (all === true) callback(null, [...addresses]);
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
        },
        (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
      );
    };
  }

  #agentFor({ protocol }: URL): http.Agent {
    const options = { keepAlive: true, maxSockets: MOST_SOCKETS, timeout: IDLE_MS };
    this.#agents ??= { http: new http.Agent(options), https: new https.Agent(options) };
    return protocol === 'https:' ? this.#agents.https : this.#agents.http;
  }

  /** Closes all connections; tries that are under way fail. */
  stop(): void {
    this.#isStopped = true;
    for (const request of this.#requests) request.destroy(new Error(GIVEN_UP));
    this.#agents?.http.destroy();
    this.#agents?.https.destroy();
  }
}

const TOO_LATE = 'The receiver did not answer within 15 seconds';
const NO_ANSWER = 'The receiver closed the connection without an answer';
const GIVEN_UP = 'The delivery was given up';

const isLiteral = ({ hostname }: URL): boolean => hostname.startsWith('[') || isIP(hostname) !== 0;

function errorOfStatus(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  return status >= 300 && status < 400
    ? `The receiver answered ${status}; redirects are not followed`
    : `The receiver answered ${status}`;
}

const SENTENCES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused',
  ECONNRESET: NO_ANSWER,
  EPIPE: NO_ANSWER,
  ETIMEDOUT: 'The receiver could not be reached',
  EHOSTUNREACH: 'The receiver could not be reached',
  ENETUNREACH: 'The receiver could not be reached',
  ENOTFOUND: 'The name of the receiver could not be resolved',
  EAI_AGAIN: 'The name of the receiver could not be resolved',
};

const NOT_TRUSTED =
  'The certificate of the receiver is not trusted: an authority of your own is named in NODE_EXTRA_CA_CERTS';

/** Problems of a certificate, by the codes of Node and OpenSSL. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  CERT_HAS_EXPIRED: 'The certificate of the receiver has expired',
  CERT_NOT_YET_VALID: 'The certificate of the receiver is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the receiver is for another name',
};

/** Reason why a try failed, in the words of this API. */
function sentenceOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known = SENTENCES[code ?? ''];
  if (known !== undefined) return known;
  if (code?.startsWith('HPE_') === true) return 'The receiver did not answer in HTTP';
  const untrusted = CERTIFICATES[code ?? ''];
  if (untrusted !== undefined) return `${untrusted} (${code})`;
  if (code !== undefined && /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code))
    return `The TLS connection failed: ${code}`;
  return code === undefined ? message : `The delivery failed: ${code}`;
}
