import type { Decision } from '../../decision.js';
import type { OrderRequest } from '../../orders/order-request.js';
import { netTickProblems } from '../../orders/shape.js';
import { intentProblems, structureProblems, unitsOf } from '../../orders/structure.js';
import type { Leg, Strategy } from '../../orders/structure.js';
import type { Rejection } from '../../rejection.js';
import { Quantity } from '../../values/quantity.js';
import { goodTillProblems } from './order-hours.js';

/** Refusal with all problems of an order's legs (D75–D77). Their contracts must be listed. */
export function structureProblem(d: Decision, request: OrderRequest): Rejection | undefined {
  const { legs, strategy, symbol, quantity, positionIntent, limitPrice } = request;
  if (legs === undefined || strategy === undefined) return undefined;
  const counts = legs.map((leg) => leg.quantity / Quantity.of(1));
  const named: Leg[] = [];
  for (const [index, { optionSymbol, positionIntent: intent }] of legs.entries()) {
    const contract = d.instrument(optionSymbol);
    if (contract?.assetClass === 'OPTION')
      named.push({ contract, positionIntent: intent, quantity: counts[index] ?? 0 });
  }
  const messages = structureProblems(strategy as Strategy, named);
  const [first] = named;
  const isOfOne = named.every(({ contract }) => contract.underlying === first?.contract.underlying);
  if (isOfOne && first?.contract.underlying !== symbol)
    messages.push('symbol must be the underlying of the legs');
  const isAgain = ({ contract: { symbol: one } }: Leg, index: number): boolean =>
    named.findIndex(({ contract }) => contract.symbol === one) < index;
  if (named.some(isAgain)) messages.push('legs must be distinct contracts');
  messages.push(...intentProblems({ strategy: strategy as Strategy, positionIntent, limitPrice, legs }));
  const units = unitsOf(counts, quantity / Quantity.of(1));
  if (units === undefined) messages.push('quantity must agree with the legs');
  if (messages.length === 0) return undefined;
  messages.push(...netTickProblems(request));
  if (request.timeInForce === 'GTD') {
    const hours = d.hours(d.tradedBy(request));
    messages.push(...goodTillProblems(d, hours, request.session ?? 'REGULAR', request.goodTillDate));
  }
  return { code: 'INVALID', messages };
}
