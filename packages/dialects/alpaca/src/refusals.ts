/** Errors in Alpaca's format: an HTTP status, a code of eight digits and a sentence that clients match on. */
import { DialectRefusal, type CallRefusal, type Refused, type Reply } from '@sandpit/dialect-port';
import { decimal } from './decimals.js';

type AlpacaFigures = Readonly<Record<string, string | number | readonly string[]>>;

/** Refusal of a request. */
export class AlpacaRefusal extends DialectRefusal {
  readonly status: number;
  readonly code: number;
  readonly figures: AlpacaFigures;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    status: number,
    code: number,
    message: string,
    figures: AlpacaFigures = {},
    headers?: Readonly<Record<string, string>>,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.figures = figures;
    this.headers = headers;
  }

  /** The body of the answer. */
  get body(): object {
    return { code: this.code, message: this.message, ...this.figures };
  }

  get reply(): Reply {
    return { status: this.status, text: JSON.stringify(this.body), headers: this.headers };
  }
}

/** The response of an injected fault, with the status of `/v1`, in Alpaca's format. */
function faultOf({ status, text, headers }: Reply): AlpacaRefusal {
  const { message } = JSON.parse(text) as { readonly message: string };
  return new AlpacaRefusal(status, status * 100_000 + 10_000, message.toLowerCase(), {}, headers);
}

export const unauthorized = (): AlpacaRefusal => new AlpacaRefusal(401, 40110000, 'unauthorized.');
export const forbidden = (message: string, figures?: AlpacaFigures): AlpacaRefusal =>
  new AlpacaRefusal(403, 40310000, message, figures);
export const notFound = (message: string): AlpacaRefusal => new AlpacaRefusal(404, 40410000, message);
/** A request that is invalid in itself. */
export const invalid = (message: string): AlpacaRefusal => new AlpacaRefusal(422, 40010001, message);
/** A request that is not possible in the current state. */
export const unprocessable = (message: string): AlpacaRefusal => new AlpacaRefusal(422, 42210000, message);
const unavailable = (retryAfter = 1): AlpacaRefusal =>
  new AlpacaRefusal(503, 50310000, 'service unavailable', {}, { 'retry-after': String(retryAfter) });
const tooMany = (retryAfter: number): AlpacaRefusal =>
  new AlpacaRefusal(429, 42910000, 'too many requests.', {}, { 'retry-after': String(retryAfter) });

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** A refusal of `/v1` in Alpaca's words. `symbol` is its subject. */
export function translated({ status, messages, message, details }: Refused, symbol = ''): AlpacaRefusal {
  const sentence = messages.join('; ');
  switch (details.code) {
    case 'INSUFFICIENT_FUNDS':
      return forbidden('insufficient buying power', {
        buying_power: decimal(number(details['availableBuyingPower'] ?? details['availableCash'])),
        cost_basis: decimal(number(details['requiredBuyingPower'] ?? details['requiredAmount'])),
      });
    case 'INSUFFICIENT_POSITION': {
      const requested = decimal(number(details['requiredQuantity']));
      const available = decimal(number(details['availableQuantity']));
      return forbidden(
        `insufficient qty available for order (requested: ${requested}, available: ${available})`,
        { available, symbol },
      );
    }
    case 'INSTRUMENT_NOT_TRADABLE':
      if (/ whole shares only$/.test(sentence)) return unprocessable(`asset "${symbol}" is not fractionable`);
      return unprocessable(`asset "${symbol}" not found`);
    case 'UNKNOWN_SYMBOL':
    case 'UNKNOWN_DELIVERABLE':
      return unprocessable(`asset "${symbol}" not found`);
    case 'NOT_SHORTABLE':
      return unprocessable(`asset "${symbol}" cannot be sold short`);
    case 'OPTION_LEVEL':
      return forbidden('account not eligible to trade uncovered option contracts');
    case 'DUPLICATE_CLIENT_ORDER_ID':
      return invalid('client_order_id must be unique');
    case 'RATE_LIMITED':
      return tooMany(number(details['retryAfter']));
    case 'SERVICE_UNAVAILABLE':
    case 'STALE_MARKET_DATA':
      return unavailable();
    default:
      return byStatus(status, details.code !== undefined, message, sentence);
  }
}

function byStatus(status: number, isCoded: boolean, message: string, sentence: string): AlpacaRefusal {
  switch (status) {
    case 400:
      return isCoded ? unprocessable(sentence) : invalid(sentence);
    case 401:
      return unauthorized();
    case 403:
      return forbidden(sentence);
    case 404:
      return notFound(message.toLowerCase());
    case 429:
      return tooMany(1);
    case 503:
      return unavailable();
    default:
      return unprocessable(sentence);
  }
}

/** A refusal of the server. */
export function refusalByDoor(refusal: CallRefusal): AlpacaRefusal {
  switch (refusal.kind) {
    case 'UNAUTHORIZED':
      return unauthorized();
    case 'CLOSED':
      return forbidden('account is closed');
    case 'NOT_FOUND':
      return notFound('endpoint not found');
    case 'MALFORMED':
      return new AlpacaRefusal(400, 40010000, 'request body format is invalid');
    case 'TOO_LARGE':
      return new AlpacaRefusal(413, 41310000, 'request body is too large');
    case 'RATE_LIMITED':
      return tooMany(refusal.retryAfter);
    case 'UNAVAILABLE':
      return unavailable(refusal.retryAfter);
    case 'MARKET_DATA_LIMIT':
      return new AlpacaRefusal(503, 50310000, refusal.message);
    case 'FAULT':
      return faultOf(refusal.answer);
    case 'INTERNAL':
      return new AlpacaRefusal(500, 50010000, 'internal server error occurred');
  }
}
