import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { OptionContract } from './option.js';

/** In-the-money amount from which a contract is exercised unless its holder instructs otherwise (D85). */
const LEAST_IN_THE_MONEY = Price.of('0.01');

/**
 * Value of a contract's deliverable at a price of the underlying: its shares, including a fractional one, and its cash; for cash settlement
 * a multiple of the price. Shares of other symbols count as the cash that they are worth (`withOthersInCash`).
 */
function deliveryValue(contract: OptionContract, price: Price): Money {
  const { deliverable, inLieu = Quantity.zero, multiplier, settlement, cash = Money.zero } = contract;
  return settlement === 'CASH'
    ? Money.ofContracts(price, Quantity.of(1), multiplier)
    : Money.add(cash, Money.of(price, Quantity.ofUnits(Quantity.of(deliverable) + inLieu)));
}

/**
 * A contract to be valued: shares of other symbols that it delivers are part of its cash, at their marks (D208). One without a mark counts
 * nothing.
 */
export function withOthersInCash<Contract extends Pick<OptionContract, 'cash' | 'others' | 'othersInCash'>>(
  contract: Contract,
  mark: (symbol: string) => Price | undefined,
): Contract {
  const { others } = contract;
  if (others === undefined) return contract;
  let cash: number = contract.cash ?? 0;
  for (const { symbol, shares } of others) {
    const price = mark(symbol);
    if (price !== undefined) cash += Money.of(price, Quantity.of(shares));
  }
  const { others: _, ...rest } = contract;
  return { ...rest, cash: Money.ofUnits(cash), othersInCash: others } as Contract;
}

/** Amount paid for the deliverable of one contract. */
export const strikeValue = ({ strike, multiplier }: OptionContract): Money =>
  Money.ofContracts(strike, Quantity.of(1), multiplier);

/** Amount of a cash dividend on the deliverable of one contract. */
export const dividendValue = (
  { deliverable, inLieu = Quantity.zero }: OptionContract,
  amountPerShare: Price,
): Money => Money.of(amountPerShare, Quantity.ofUnits(Quantity.of(deliverable) + inLieu));

/** Value of shares, or of a fraction of one, that a contract delivers; rounded half up to the unit of money. */
export const sharesValue = (price: Price, shares: Quantity): Money => Money.of(price, shares);

/** Cash in lieu of the fractional share of an adjusted contract. */
export const inLieuValue = ({ inLieu = Quantity.zero }: OptionContract, price: Price): Money =>
  Money.of(price, inLieu);

/** Value of one contract's whole shares at a price, without cash in lieu. */
export const deliverableValue = ({ deliverable }: OptionContract, price: Price): Money =>
  Money.of(price, Quantity.of(deliverable));

/** Gain from exercising one contract at a price of the underlying; negative out of the money. */
export function exerciseValue(contract: OptionContract, price: Price): number {
  const gain = deliveryValue(contract, price) - strikeValue(contract);
  return contract.optionType === 'CALL' ? gain : -gain;
}

/** True when a contract is in the money by at least a cent a share (D85). */
export const isInTheMoney = (contract: OptionContract, price: Price): boolean =>
  exerciseValue(contract, price) >=
  Money.ofContracts(LEAST_IN_THE_MONEY, Quantity.of(1), contract.multiplier);

/** Intrinsic value of contracts at a price of the underlying, whole cents, never negative. */
export const intrinsicValue = (contract: OptionContract, count: number, price: Price): Money =>
  Money.toCents(Money.ofUnits(Math.max(0, exerciseValue(contract, price)) * count));
