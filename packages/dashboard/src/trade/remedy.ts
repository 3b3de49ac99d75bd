/** Refusals in plain words, with changes that would make the order acceptable. */
import type { CreateOrderBody } from '@sandpit/protocol';
import { money, moment, quantity } from '../format.ts';

/** The code and the figures of a refusal, of a preview or of an order. */
export interface Rejection {
  readonly code: string;
  readonly message: string;
  readonly [detail: string]: unknown;
}

type Sized = Pick<CreateOrderBody, 'quantity'>;

/** One sentence with the remedy for a refusal; empty if its own message contains it. */
export function remedyOf(rejection: Rejection, order: Sized): string {
  const figure = (name: string): number | undefined => {
    const value = rejection[name];
    return typeof value === 'number' ? value : undefined;
  };
  const text = (name: string): string | undefined => {
    const value = rejection[name];
    return typeof value === 'string' ? value : undefined;
  };
  switch (rejection.code) {
    case 'INSUFFICIENT_FUNDS':
      return fundsRemedy(figure, order);
    case 'INSUFFICIENT_POSITION': {
      const held = figure('availableQuantity') ?? 0;
      return held > 0
        ? `Available to close: ${quantity(held)}. Enter ${quantity(held)} or less, or cancel the order that reserves the rest.`
        : 'No quantity is available to close: choose Open instead, or cancel the order that reserves the position.';
    }
    case 'POSITION_CONFLICT':
      return 'Close the opposite position first: choose Close as the effect of this order.';
    case 'MARKET_CLOSED':
      return `Place it after ${text('nextOpen') === undefined ? 'the open' : moment(text('nextOpen') ?? '')}, or as a limit order in extended hours.`;
    case 'OPTION_LEVEL':
      return `Requires option level ${figure('requiredLevel') ?? '?'}; the portfolio has ${figure('currentLevel') ?? '?'}. A spread with a long option that covers the short one requires less.`;
    case 'MARGIN_CALL_ACTIVE':
      return figure('callAmount') === undefined
        ? 'Meet the margin call first; until then only orders that reduce risk are accepted.'
        : `Deposit ${money(figure('callAmount'))} or close positions; until then only orders that reduce risk are accepted.`;
    case 'DAY_TRADE_RESTRICTED':
      return text('restrictedUntil') === undefined
        ? 'Only closing orders are accepted.'
        : `Only closing orders are accepted until ${text('restrictedUntil') ?? ''}.`;
    case 'NOT_SHORTABLE':
      return 'Short sales need a margin portfolio and shares that can be borrowed.';
    default:
      return '';
  }
}

function fundsRemedy(figure: (name: string) => number | undefined, order: Sized): string {
  const isPower = figure('requiredBuyingPower') !== undefined;
  const required = figure(isPower ? 'requiredBuyingPower' : 'requiredAmount');
  const available = figure(isPower ? 'availableBuyingPower' : 'availableCash');
  if (required === undefined || available === undefined) return '';
  const name = isPower ? 'buying power' : 'cash';
  const fewer = affordable(order, required, available);
  const need = `Requires ${money(required)} of ${name}; available: ${money(Math.max(0, available))}.`;
  const deposit = money(required - available);
  return fewer === undefined || fewer <= 0
    ? `${need} Deposit ${deposit}.`
    : `${need} Reduce to ${quantity(fewer)} or deposit ${deposit}.`;
}

/** The largest whole quantity that the available amount pays for, at the same cost per unit; undefined for a notional order. */
export function affordable(order: Sized, required: number, available: number): number | undefined {
  if (order.quantity === undefined || required <= 0) return undefined;
  return Math.max(0, Math.floor((order.quantity * available) / required));
}
