/** X.509 certificates for tests of TLS, made when they are needed: nothing is stored that could expire. */
import { generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A key with its certificate, PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const DAY_MS = 86_400_000;

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const BASIC_CONSTRAINTS = '2.5.29.19';
const SUBJECT_ALT_NAME = '2.5.29.17';

let serial = 0;

/** A certificate authority of a test, which no client trusts by default. */
export class TestAuthority {
  readonly #key: KeyObject;
  readonly #name: string;
  /** Certificate of the server, PEM. */
  readonly cert: string;

  constructor(name: string) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#key = privateKey;
    this.#name = name;
    const isAuthority = sequence(objectId(BASIC_CONSTRAINTS), boolean(true), octets(sequence(boolean(true))));
    this.cert = this.#certify(name, publicKey, isAuthority, 1);
  }

  /** A certificate for a DNS name, with its key. Negative `days`: expired. */
  issue(host: string, days = 1): Certificate {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const DNS_NAME = 0x82;
    const names = sequence(objectId(SUBJECT_ALT_NAME), octets(sequence(der(DNS_NAME, Buffer.from(host)))));
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    return { key, cert: this.#certify(host, publicKey, names, days) };
  }

  #certify(name: string, key: KeyObject, extension: Buffer, days: number): string {
    const algorithm = sequence(objectId(ECDSA_WITH_SHA256));
    const VERSION = 0xa0;
    const EXTENSIONS = 0xa3;
    const V3 = 2;
    const now = Date.now();
    const body = sequence(
      der(VERSION, integer(V3)),
      integer((serial += 1)),
      algorithm,
      named(this.#name),
      sequence(time(now - 2 * DAY_MS), time(now + days * DAY_MS)),
      named(name),
      key.export({ type: 'spki', format: 'der' }),
      der(EXTENSIONS, sequence(extension)),
    );
    const signature = sign('sha256', body, this.#key);
    const certificate = sequence(body, algorithm, bits(signature));
    const lines = (certificate.toString('base64').match(/.{1,64}/g) ?? []).join('\n');
    return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  }
}

/** A value in DER: tag, length, contents. */
function der(tag: number, contents: Buffer): Buffer {
  const { length } = contents;
  const LONG = 0x80;
  if (length < LONG) return Buffer.concat([Buffer.from([tag, length]), contents]);
  const hex = length.toString(16);
  const size = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  return Buffer.concat([Buffer.from([tag, LONG + size.length]), size, contents]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
const boolean = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]));
const octets = (contents: Buffer): Buffer => der(0x04, contents);
const bits = (contents: Buffer): Buffer => der(0x03, Buffer.concat([Buffer.from([0]), contents]));
const text = (value: string): Buffer => der(0x0c, Buffer.from(value));
const named = (name: string): Buffer => sequence(der(0x31, sequence(objectId(COMMON_NAME), text(name))));

/** `YYMMDDHHMMSSZ`. */
const time = (at: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replace(/\D/g, '')}Z`));

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(0x06, Buffer.from(bytes));
}
