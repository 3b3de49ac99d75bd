/** Alpaca: its trading API, its market data API and their streams, with a key pair for each portfolio. */
import type { Credential, Dialect, Head } from '@sandpit/dialect-port';
import { DataStream } from './data-stream.js';
import { refusalByDoor, translated } from './refusals.js';
import { alpacaRoutes, alpacaStreams } from './routes.js';
import { TradeUpdates } from './trade-updates.js';

/** `APCA-API-KEY-ID` and `APCA-API-SECRET-KEY`, or both as `Basic`. */
function credentialOf({ headers }: Head): Credential | undefined {
  const { 'apca-api-key-id': id, 'apca-api-secret-key': key, authorization } = headers;
  if (typeof id === 'string' && typeof key === 'string') return { kind: 'KEY_PAIR', keyId: id, secret: key };
  const basic = /^Basic ([A-Za-z0-9+/=]{1,512})$/i.exec(String(authorization ?? ''))?.[1];
  if (basic === undefined) return undefined;
  const [keyId = '', ...rest] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return { kind: 'KEY_PAIR', keyId, secret: rest.join(':') };
}

const dialect: Dialect = {
  name: 'alpaca',
  prefix: '/alpaca',
  hosts: [
    'api.alpaca.markets',
    'paper-api.alpaca.markets',
    'data.alpaca.markets',
    'data.sandbox.alpaca.markets',
    'stream.data.alpaca.markets',
    'stream.data.sandbox.alpaca.markets',
  ],
  routes: [...alpacaRoutes, ...alpacaStreams],
  // Many clients send none, or another type.
  bodies: ['json'],
  sockets: [
    { path: /^\/stream$/, visit: (visit) => new TradeUpdates(visit) },
    {
      path: /^\/(v2\/(test|iex|sip|delayed_sip)|v1beta1\/(indicative|opra|news))$/,
      greets: true,
      visit: (visit) => new DataStream(visit),
    },
  ],
  credentialOf,
  limitHeaders: ({ limit, remaining, resetSeconds, nowMs }) => [
    'x-ratelimit-limit',
    String(limit),
    'x-ratelimit-remaining',
    String(remaining),
    // A Unix timestamp here, whereas /v1 returns the seconds left.
    'x-ratelimit-reset',
    String(Math.floor(nowMs / 1000) + resetSeconds),
  ],
  refuse: (refusal) => refusalByDoor(refusal).reply,
  translate: (refused) => translated(refused).reply,
};

export default dialect;
