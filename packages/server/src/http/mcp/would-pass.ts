/** What an agent could do instead of what was refused. */
import type { Refused } from '../dialects/operations.js';

type Details = Refused['details'];

const dollars = (value: unknown): string => (typeof value === 'number' ? value.toFixed(2) : String(value));

/** One sentence; `asked` is what the tool was called with. */
export function wouldPass(
  { status, messages, details }: Pick<Refused, 'status' | 'messages' | 'details'>,
  asked: Readonly<Record<string, unknown>>,
): string {
  const { code = '' } = details;
  switch (code) {
    case 'INSUFFICIENT_FUNDS':
      return ofFunds(details, asked);
    case 'INSUFFICIENT_POSITION':
      return 'An order for no more than is held and not set aside for other orders: list the positions, or cancel an order that closes them.';
    case 'MARKET_CLOSED':
      return `The same order from ${String(details['nextOpen'])}; of shares also a LIMIT order with session EXTENDED while the extended session is open.`;
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
      return `The same call of a tenant with tier ${String(details['requiredTier'])}.`;
    case 'ORDER_NOT_UPDATABLE':
      return 'Nothing: the order is over. A new order would be another one.';
    case 'DUPLICATE_CLIENT_ORDER_ID':
      return 'The same order with another clientOrderId, or none.';
    case 'UNKNOWN_SYMBOL':
      return 'A symbol that find_instruments lists; option contracts are in get_option_chain.';
    case 'POSITION_CONFLICT':
      return 'Close what is held on the other side first, or use the matching positionIntent.';
  }
  if (status === 404) return 'An id that one of the list_… tools gives.';
  if (status === 400) return `The same call where: ${messages.join('; ')}.`;
  return 'See the message; the rule pages (resources) say how the brokerage decides.';
}

const ofLevel = (level: unknown): string =>
  typeof level === 'string'
    ? `The same call with a token of level ${level} (sandpit token --level ${level} …), where whoever runs this agent gives it one.`
    : 'Nothing an agent can do: a person with a token of their own has to.';

function ofFunds(details: Details, asked: Readonly<Record<string, unknown>>): string {
  const { availableCash, requiredAmount, availableBuyingPower, requiredBuyingPower } = details;
  const available = Number(availableBuyingPower ?? availableCash);
  const required = Number(requiredBuyingPower ?? requiredAmount);
  const { quantity } = asked;
  const fits =
    typeof quantity === 'number' && required > 0
      ? Math.floor((quantity * Math.max(available, 0)) / required)
      : 0;
  const less = fits > 0 ? ` About ${fits} instead of ${String(quantity)} would.` : '';
  return `An order that takes at most ${dollars(available)}; this one takes ${dollars(required)}.${less} Cancelling open orders frees what they set aside.`;
}

function ofCap({ cap, left, allowed, retryAfter, symbols }: Details): string {
  switch (cap) {
    case 'symbols':
      return `An order in one of ${(symbols as readonly string[] | undefined)?.join(', ') ?? 'the allowed symbols'}.`;
    case 'maxOrdersPerMinute':
      return `The same order after ${String(retryAfter)} seconds.`;
    case 'maxDailyLoss':
      return 'Orders that close positions; opening ones again after the next close.';
    case 'maxNotional':
      return `An opening order of at most ${dollars(left)} today, or any that closes a position.`;
    default:
      return allowed === undefined
        ? 'A LIMIT order: its price says what it comes to.'
        : `An opening order of at most ${dollars(allowed)}, or any that closes a position.`;
  }
}
