/** Alternatives to a refused call, for agents. */
import type { Refused } from '../dialects/operations.js';

type Details = Refused['details'];

const dollars = (value: unknown): string => (typeof value === 'number' ? value.toFixed(2) : String(value));

/** One sentence; `asked` contains the tool's arguments. */
export function wouldPass(
  { status, messages, details }: Pick<Refused, 'status' | 'messages' | 'details'>,
  asked: Readonly<Record<string, unknown>>,
): string {
  const { code = '' } = details;
  switch (code) {
    case 'INSUFFICIENT_FUNDS':
      return ofFunds(details, asked);
    case 'INSUFFICIENT_POSITION':
      return 'An order for at most the quantity that is held and not reserved by open orders; list_positions shows both. Canceling an open closing order frees its quantity.';
    case 'MARKET_CLOSED':
      return `The same order from ${String(details['nextOpen'])}. For shares also a LIMIT order with session EXTENDED during the extended session.`;
    case 'AUCTION_CLOSED':
      return `The same order from ${String(details['opensAt'])} on, or with time in force DAY.`;
    case 'TRADING_HALTED':
      return 'The same order with time in force DAY or GTC at a broker that queues, or after the halt.';
    case 'LEVEL_TOO_LOW':
      return ofLevel(details['requiredLevel']);
    case 'CAP_EXCEEDED':
      return ofCap(details);
    case 'RATE_LIMITED':
    case 'SERVICE_UNAVAILABLE':
      return `The same call after ${String(details['retryAfter'])} seconds.`;
    case 'INSUFFICIENT_SCOPE':
      return `The same call with a token that has the scope ${String(details['requiredScope'])}.`;
    case 'FEATURE_NOT_AVAILABLE':
      return details['requiredTier'] === undefined
        ? 'The same call in a simulation of your own: create_simulation.'
        : `The same call of a tenant with tier ${details['requiredTier'] as string}.`;
    case 'ORDER_NOT_UPDATABLE':
      return 'No change is possible: the order is closed. Place a new order instead.';
    case 'PORTFOLIO_NOT_EMPTY':
      return 'The same call after the `reasons` are resolved: close positions, cancel orders, wait for `settlesOn`, or transfer in the amount owed.';
    case 'DUPLICATE_CLIENT_ORDER_ID':
      return 'The same order with a new clientOrderId, or without one.';
    case 'UNKNOWN_SYMBOL':
      return 'A symbol that find_instruments lists; option contracts are in get_option_chain.';
    case 'POSITION_CONFLICT':
      return 'Close the opposite position first, or use the positionIntent that closes it.';
  }
  if (status === 404) return 'An id from list_accounts, list_orders or find_instruments.';
  if (status === 400) return `The same call where: ${messages.join('; ')}.`;
  return 'See the message. The rule pages (resources) explain how the brokerage decides.';
}

const ofLevel = (level: unknown): string =>
  typeof level === 'string'
    ? `The same call with a token of level ${level}. The person who runs this agent can issue one with: sandpit token --level ${level} …`
    : 'No agent can do this. It needs a token without a level.';

function ofFunds(details: Details, asked: Readonly<Record<string, unknown>>): string {
  const { availableCash, requiredAmount, availableBuyingPower, requiredBuyingPower } = details;
  const available = Number(availableBuyingPower ?? availableCash);
  const required = Number(requiredBuyingPower ?? requiredAmount);
  const { quantity } = asked;
  const fits =
    typeof quantity === 'number' && required > 0
      ? Math.floor((quantity * Math.max(available, 0)) / required)
      : 0;
  const less = fits > 0 ? ` About ${fits} instead of ${String(quantity)} would fit.` : '';
  return `An order that requires at most ${dollars(available)}; this one requires ${dollars(required)}.${less} Canceling open orders frees the amounts they reserve.`;
}

function ofCap({ cap, left, allowed, retryAfter, symbols }: Details): string {
  switch (cap) {
    case 'symbols':
      return `An order in one of ${(symbols as readonly string[] | undefined)?.join(', ') ?? 'the allowed symbols'}.`;
    case 'maxOrdersPerMinute':
      return `The same order after ${String(retryAfter)} seconds.`;
    case 'maxDailyLoss':
      return 'Orders that close positions. Opening orders are accepted again after the next close.';
    case 'maxNotional':
      return `An opening order of at most ${dollars(left)} today, or any order that closes a position.`;
    default:
      return allowed === undefined
        ? 'A LIMIT order, so that its amount is known.'
        : `An opening order of at most ${dollars(allowed)}, or any order that closes a position.`;
  }
}
