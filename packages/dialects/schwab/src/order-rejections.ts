/** Reasons of orders that the brokerage refused, in sentences. */
import type { OrderSnapshot } from '@sandpit/core';

const REASONS: Readonly<Record<string, string>> = {
  INSUFFICIENT_FUNDS: 'You do not have enough available cash/buying power for this order.',
  INSUFFICIENT_POSITION: 'This order may result in an oversold/overbought position in your account.',
  POSITION_CONFLICT: 'This order may result in an oversold/overbought position in your account.',
  NOT_SHORTABLE: 'This security is not available for short sales.',
  OPTION_LEVEL: 'Your account is not approved for this option strategy.',
  ACCOUNT_FROZEN: 'Your account is restricted from trading.',
  MARGIN_CALL_ACTIVE: 'Your account is in a margin call: only closing orders are accepted.',
  DAY_TRADE_RESTRICTED: 'Your account is restricted by the pattern day trader rule.',
  MARKET_CLOSED: 'The market is closed for this order.',
  AUCTION_CLOSED: 'The cutoff for this order has passed.',
  TRADING_HALTED: 'Trading in this security is halted.',
};

export const reasonText = (code: string): string => REASONS[code] ?? `The order was refused: ${code}.`;

/** Why an order was refused; undefined for one that was not. */
export function rejectionText({ progress }: OrderSnapshot): string | undefined {
  const code = progress.rejection?.code ?? progress.rejectReason?.code;
  return code === undefined ? undefined : reasonText(code);
}
