/** Alternatives to a refused call, for agents. */
import type { Refused } from '@sandpit/dialect-port';

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
      return 'Reduce the quantity to at most what the portfolio holds and open orders do not reserve (see list_positions), or cancel an open closing order.';
    case 'MARKET_CLOSED':
      return `Place the order again at ${String(details['nextOpen'])} or later. Shares also trade in the extended session with a LIMIT order and session EXTENDED.`;
    case 'AUCTION_CLOSED':
      return `Place the order again at ${String(details['opensAt'])} or later, or use time in force DAY.`;
    case 'TRADING_HALTED':
      return 'Place the order again after the halt. With time in force DAY or GTC it waits for the end of the halt at brokers that queue orders.';
    case 'LEVEL_TOO_LOW':
      return ofLevel(details['requiredLevel']);
    case 'CAP_EXCEEDED':
      return ofCap(details);
    case 'RATE_LIMITED':
    case 'SERVICE_UNAVAILABLE':
      return `Repeat the call after ${String(details['retryAfter'])} seconds.`;
    case 'INSUFFICIENT_SCOPE':
      return `Use a token with the scope ${String(details['requiredScope'])}.`;
    case 'FEATURE_NOT_AVAILABLE':
      return details['requiredTier'] === undefined
        ? 'Create a simulation with create_simulation and repeat the call there.'
        : `Use a token of a tenant with tier ${details['requiredTier'] as string}.`;
    case 'ORDER_NOT_UPDATABLE':
      return 'The order is closed. Place a new order.';
    case 'PORTFOLIO_NOT_EMPTY':
      return 'Resolve the `reasons` first: close positions, cancel orders, wait for `settlesOn`, or transfer in the amount owed.';
    case 'DUPLICATE_CLIENT_ORDER_ID':
      return 'Use a new clientOrderId, or none.';
    case 'UNKNOWN_SYMBOL':
      return 'Use a symbol from find_instruments, or a contract from get_option_chain.';
    case 'UNKNOWN_DELIVERABLE':
      return 'Use an ordinary contract from get_option_chain, or list this contract with its `deliverable` first.';
    case 'POSITION_CONFLICT':
      return 'Close the opposite position first, or use the positionIntent that closes it.';
  }
  if (status === 404) return 'Use an id from list_accounts, list_orders or find_instruments.';
  if (status === 400) return `Correct the input: ${messages.join('; ')}.`;
  return 'Read the message. The rule pages (resources) explain the decision.';
}

const ofLevel = (level: unknown): string =>
  typeof level === 'string'
    ? `Use a token of level ${level}. The person who runs this agent can issue one with: sandpit token --level ${level} …`
    : 'Use a token without a level. No agent level allows this call.';

function ofFunds(details: Details, asked: Readonly<Record<string, unknown>>): string {
  const { availableCash, requiredAmount, availableBuyingPower, requiredBuyingPower } = details;
  const available = Number(availableBuyingPower ?? availableCash);
  const required = Number(requiredBuyingPower ?? requiredAmount);
  const { quantity } = asked;
  const fits =
    typeof quantity === 'number' && required > 0
      ? Math.floor((quantity * Math.max(available, 0)) / required)
      : 0;
  const less = fits > 0 ? ` Reduce the quantity from ${String(quantity)} to about ${fits}.` : '';
  return `The order requires $${dollars(required)} and $${dollars(available)} is available.${less} Canceling open orders releases what they reserve.`;
}

function ofCap({ cap, left, allowed, retryAfter, symbols }: Details): string {
  switch (cap) {
    case 'symbols':
      return `Trade one of ${(symbols as readonly string[] | undefined)?.join(', ') ?? 'the allowed symbols'}.`;
    case 'maxOrdersPerMinute':
      return `Place the order again after ${String(retryAfter)} seconds.`;
    case 'maxDailyLoss':
      return 'Close positions only. Opening orders are accepted again after the next close.';
    case 'maxNotional':
      return `Open at most $${dollars(left)} more today, or close a position.`;
    default:
      return allowed === undefined
        ? 'Use a LIMIT order, so that its amount is known.'
        : `Open at most $${dollars(allowed)} in one order, or close a position.`;
  }
}
