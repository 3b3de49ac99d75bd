import type { Ids, OrderEstimate, Rejection, Valuation } from '@sandpit/core';
import { Money } from '@sandpit/core';
import type { ErrorCode, OrderPreview, PreviewRejection } from '@sandpit/protocol';
import { centsNumber, moneyNumber, priceNumber } from './numbers.js';
import { answerTo } from './rejections.js';

/** Preview of an order, as the API returns it (D42, D122). Money received is negative. */
export function orderPreview(ids: Ids, symbol: string, estimate: OrderEstimate): OrderPreview {
  const { rejections, price, cost, charges, reserves, before, after, dayTrade, settlementDate } = estimate;
  const both = (of: (value: Valuation) => Money) => ({
    before: centsNumber(of(before)),
    after: centsNumber(of(after)),
  });
  return {
    accepted: rejections.length === 0,
    rejections: rejections.map((rejection) => previewRejection(ids, symbol, rejection)),
    ...(price !== undefined && { estimatedPrice: priceNumber(price) }),
    ...(cost !== undefined && { estimatedCost: moneyNumber(cost) }),
    commission: moneyNumber(charges.commission),
    fees: charges.fees.map(({ name, amount }) => ({ name, amount: moneyNumber(amount) })),
    reserves: moneyNumber(reserves),
    cash: both(({ settledCash, pendingCash, marginLoan }) =>
      Money.subtract(Money.add(settledCash, pendingCash), marginLoan),
    ),
    buyingPower: both(({ overnightBuyingPower }) => overnightBuyingPower),
    initialMargin: both(({ initialRequirement }) => initialRequirement),
    maintenanceMargin: both(({ houseRequirement }) => houseRequirement),
    dayTrade,
    ...(settlementDate !== undefined && { settlementDate }),
  };
}

/** A refusal in the format of its own response; one without a code is INVALID. */
function previewRejection(ids: Ids, symbol: string, rejection: Rejection): PreviewRejection {
  const { message, error } = JSON.parse(answerTo(rejection, { ids, symbol }).text) as {
    readonly message: string | readonly string[];
    readonly error: string | { readonly code: ErrorCode };
  };
  const text = typeof message === 'string' ? message : message.join('; ');
  return typeof error === 'string' ? { code: 'INVALID', message: text } : { ...error, message: text };
}
