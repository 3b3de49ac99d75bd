/** Refusals in Schwab's words: `message` and `errors` on trader paths, a list of errors on market data. */
import {
  DialectRefusal,
  doorReply,
  type CallRefusal,
  type Head,
  type Refused,
  type Reply,
  retryAfter,
  uuidOf,
  wordsFor,
} from '@sandpit/dialect-port';
import { json } from './wire.js';

export class SchwabRefusal extends DialectRefusal {
  readonly reply: Reply;

  constructor(reply: Reply) {
    super(reply.text);
    this.reply = reply;
  }
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Payload Too Large',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** An error of market data, and of a token on any path. */
const listed = (status: number, detail: string, headers: Reply['headers'] = {}): Reply => {
  const id = uuidOf(`schwab error ${status} ${detail}`);
  return json(status, { errors: [{ id, status, title: TITLES[status] ?? 'Error', detail }] }, headers);
};

/** An error of accounts and orders. */
const serviceError = (status: number, message: string, headers: Reply['headers'] = {}): Reply =>
  json(status, { message, errors: [message] }, headers);

const isMarketData = ({ url }: Head): boolean => url.startsWith('/marketdata/');

const refusalFor = (head: Head, status: number, text: string, headers: Reply['headers'] = {}): Reply =>
  (isMarketData(head) ? listed : serviceError)(status, text, headers);

/** A request that is invalid in itself. */
export const invalid = (head: Head, name: string, reason: string): SchwabRefusal =>
  new SchwabRefusal(refusalFor(head, 400, `${name} ${reason}`));

export const refused = (head: Head, status: number, message: string): SchwabRefusal =>
  new SchwabRefusal(refusalFor(head, status, message));

/** Names of fields here, by those of `/v1`. */
const NAMES: Readonly<Record<string, string>> = {
  limitPrice: 'price',
  timeInForce: 'duration',
  positionIntent: 'instruction',
  legs: 'orderLegCollection',
  trailingAmount: 'stopPriceOffset',
  trailingPercent: 'stopPriceOffset',
  goodTillDate: 'cancelTime',
  bracketConfig: 'childOrderStrategies',
  ocoConfig: 'childOrderStrategies',
  notional: 'quantity',
};

const renamed = (message: string): string =>
  message.replace(/^[\w.]+/, (path) => {
    const name = path.split('.').at(-1) ?? '';
    return NAMES[name] ?? name;
  });

const TOKEN = 'The access token is missing, invalid or expired';

/** A refusal of `/v1` that no handler translated. */
export function translated(refusal: Refused, head: Head): Reply {
  const say = (status: number, text: string, headers: Reply['headers'] = {}): Reply =>
    refusalFor(head, status, text, headers);
  return wordsFor<Reply>(
    {
      UNKNOWN_SYMBOL: () => say(400, 'Symbol not found'),
      UNKNOWN_DELIVERABLE: () => say(400, 'Symbol not found'),
      RATE_LIMITED: ({ details }) =>
        say(429, 'Too many requests', retryAfter(Number(details['retryAfter'] ?? 1))),
      INSUFFICIENT_SCOPE: () => say(403, 'The access token does not allow this'),
      ORDER_NOT_UPDATABLE: () => say(400, 'The order is in a final state'),
    },
    refusal,
    ({ status, messages, details }) => {
      if (status === 401) return listed(401, TOKEN);
      if (status === 429 || status === 503) return say(status, TITLES[status] ?? '', retryAfter(1));
      if (status === 400 && details.code === undefined)
        return isMarketData(head)
          ? listed(400, messages.map(renamed).join('; '))
          : json(400, { message: 'A validation problem occurred', errors: messages.map(renamed) });
      return say(status, messages.join(' '));
    },
  );
}

/** A refusal of the server. */
export const refusedByDoor = (refusal: CallRefusal, head: Head): Reply =>
  doorReply(refusal, TEXTS, (...given) => refusalFor(head, ...given)) ?? listed(401, TOKEN);

const TEXTS = {
  NOT_FOUND: 'No such resource',
  MALFORMED: 'The body cannot be read',
  TOO_LARGE: 'The body is too large',
  RATE_LIMITED: 'Too many requests',
  UNAVAILABLE: 'Service unavailable',
  INTERNAL: 'Internal server error',
};
