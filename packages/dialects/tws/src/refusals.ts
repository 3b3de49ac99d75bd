/** Refusals in the vendor's words: a code and a text. */
import { DialectRefused, type Refused, wordsFor } from '@sandpit/dialect-port';
import { CODE } from './tables.js';

/** A refusal of a request or an order. */
export class TwsRefusal extends Error {
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
  }
}

export const invalid = (text: string): TwsRefusal =>
  new TwsRefusal(CODE.INVALID, `Error validating request: ${text}`);

export const noContract = (text = ''): TwsRefusal =>
  new TwsRefusal(
    CODE.NO_CONTRACT,
    `No security definition has been found for the request${text === '' ? '' : `: ${text}`}`,
  );

export const rejected = (reason: string): TwsRefusal =>
  new TwsRefusal(CODE.REJECTED, `Order rejected - reason:${reason}`);

/** Reasons of refused orders, by the codes of `/v1`. */
const REASONS: Readonly<Record<string, string>> = {
  INSUFFICIENT_FUNDS:
    'YOUR ORDER IS NOT ACCEPTED. IN ORDER TO OBTAIN THE DESIRED POSITION YOUR EQUITY WITH LOAN VALUE MUST EXCEED THE INITIAL MARGIN REQUIREMENT',
  INSUFFICIENT_POSITION: 'The position is smaller than the order; an order may not cross from long to short',
  OPTION_LEVEL: 'No trading permissions for this option strategy',
  ACCOUNT_FROZEN: 'The account is restricted',
  MARGIN_CALL_ACTIVE: 'The account has a margin call: only closing orders are accepted',
  DAY_TRADE_RESTRICTED: 'Account does not have enough equity for another day trade',
  NOT_SHORTABLE: 'The contract is not available for short sale',
  POSITION_CONFLICT: 'The order conflicts with a position of the other side',
  MARKET_CLOSED: 'The market is closed for this order',
  AUCTION_CLOSED: 'The auction accepts no orders now',
  TRADING_HALTED: 'Trading in the contract is halted',
  INSTRUMENT_NOT_TRADABLE: 'The contract is not available for trading',
  FEATURE_NOT_AVAILABLE: 'No trading permissions',
  STALE_MARKET_DATA: 'No market data for the contract',
};

export const reasonText = (code: string, message?: string): string => REASONS[code] ?? message ?? code;

/** A refusal by `/v1`, of an order or of another request. */
export function refusalOf(refused: Refused): TwsRefusal {
  return wordsFor<TwsRefusal>(
    {
      DUPLICATE_CLIENT_ORDER_ID: () => new TwsRefusal(CODE.DUPLICATE_ORDER, 'Duplicate order id'),
      UNKNOWN_SYMBOL: () => noContract(),
      UNKNOWN_DELIVERABLE: () => noContract(),
      MARKET_DATA_LIMIT: ({ message }) => new TwsRefusal(CODE.NOT_SUBSCRIBED, message),
    },
    refused,
    ({ status, messages, details: { code } }) => {
      if (code !== undefined && Object.hasOwn(REASONS, code)) return rejected(reasonText(code));
      if (status === 403) return rejected(messages.join(' '));
      const text = messages.join('; ');
      if (/(?:limit|stop|trailing)\w* must be a multiple of|must be in steps of/i.test(text))
        return new TwsRefusal(
          CODE.PRICE,
          'The price does not conform to the minimum price variation for this contract.',
        );
      return status === 400 ? invalid(text) : rejected(text);
    },
  );
}

/** The refusal behind an error; undefined for an internal one. */
export const refusalBehind = (error: unknown): TwsRefusal | undefined => {
  if (error instanceof TwsRefusal) return error;
  if (error instanceof DialectRefused)
    return new TwsRefusal(
      CODE.CONNECTION_LOST,
      'Connectivity between the server and its store has been lost.',
    );
  return undefined;
};
