import type { Calendar } from '../../calendar/calendar.js';
import { isShares } from '../../instruments/instrument.js';
import type { OptionSeries } from '../../instruments/option.js';
import { settlesAt } from '../../options/model/valuation.js';
import type { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import type { Quantity } from '../../values/quantity.js';
import type { Amounts, BookMarket, Holding, MarginGroup, MarginTerms } from '../book.js';
import { factorOf, stockRates } from './contracts.js';
import { stockFormula } from './explain.js';
import type { RegTLeg } from './legs.js';
import { leastAmountsOf, leastRequirementOf } from './least-requirement.js';
import { regTParametersOn } from './parameters.js';
import { regTStock } from './stock.js';

/** What the holdings of one underlying take under Reg T; stock alone takes no search. `series`: of the whole book. */
export function regTAmounts(
  holdings: readonly Holding[],
  terms: MarginTerms,
  market: BookMarket,
  series: number,
): Amounts {
  const alone = stockAlone(holdings, terms);
  return alone ?? withOpening(leastAmountsOf({ ...legsBook(holdings, terms, market), series }));
}

/** The same line by line, in the order of names. */
export function regTGroups(
  holdings: readonly Holding[],
  terms: MarginTerms,
  market: BookMarket,
  series: number,
): MarginGroup[] {
  const amounts = stockAlone(holdings, terms);
  const [first] = holdings;
  if (amounts !== undefined && first !== undefined && isShares(first.instrument)) {
    const { instrument, quantity, mark } = first;
    return [
      {
        strategy: quantity < 0 ? 'SHORT_STOCK' : 'LONG_STOCK',
        underlying: instrument.symbol,
        legs: [{ symbol: instrument.symbol, quantity }],
        amounts,
        rule: ruleOfStock(instrument.leverageFactor, quantity, mark, terms),
      },
    ];
  }
  return leastRequirementOf({ ...legsBook(holdings, terms, market), series }).groups.map(
    ({ strategy, underlying, legs, amounts: own, rule, isApproximate }) => ({
      strategy,
      underlying,
      legs,
      amounts: withOpening(own),
      rule: isApproximate ? `approximate: ${rule}` : rule,
    }),
  );
}

const withOpening = ({ fed, house, initial, counted }: Omit<Amounts, 'opening'>): Amounts => ({
  fed,
  house,
  opening: house,
  initial,
  counted,
});

function stockAlone([first, second]: readonly Holding[], { house }: MarginTerms): Amounts | undefined {
  if (first === undefined || second !== undefined || !isShares(first.instrument)) return undefined;
  return regTStock(first.instrument, first.quantity, first.mark, house);
}

function ruleOfStock(leverage: number, quantity: Quantity, mark: Price, terms: MarginTerms): string {
  const asOf = terms.calendar.dateOf(terms.asOf);
  const regT = { parameters: regTParametersOn(asOf), house: terms.house, asOf };
  const { long, short } = stockRates(regT, factorOf(leverage));
  return stockFormula(quantity < 0, Price.format(mark), long, short, regT);
}

function legsBook(holdings: readonly Holding[], terms: MarginTerms, market: BookMarket) {
  const { shortBoxCostBps } = terms.house;
  return {
    legs: holdings.map((holding) => regTLegOf(holding, terms, market)),
    house: terms.house,
    ...(shortBoxCostBps !== undefined && { shortBoxCostBps }),
    asOf: terms.asOf,
    date: terms.calendar.dateOf(terms.asOf),
  };
}

/** When series settle that were held before: the same for as long as the terms are the same object. */
const settlements = new WeakMap<OptionSeries, { readonly calendar: Calendar; readonly at: Instant }>();

function settlementOf(series: OptionSeries, calendar: Calendar): Instant {
  const known = settlements.get(series);
  if (known?.calendar === calendar) return known.at;
  const at = settlesAt(series, calendar);
  settlements.set(series, { calendar, at });
  return at;
}

/**
 * A holding as Reg T looks at it. Where nobody knows what the underlying costs, a short option is taken to be at the money,
 * which is where it takes most.
 */
export function regTLegOf(
  { instrument, quantity, mark }: Holding,
  { calendar }: MarginTerms,
  market: BookMarket,
): RegTLeg {
  if (isShares(instrument)) {
    const { symbol, leverageFactor } = instrument;
    return { kind: 'STOCK', symbol, quantity, price: mark, leverageFactor };
  }
  if (instrument.assetClass !== 'OPTION') throw new RangeError(`${instrument.symbol} is no security`);
  const { price, leverageFactor } = market.underlying(instrument.underlying);
  return {
    kind: 'OPTION',
    symbol: instrument.symbol,
    underlying: instrument.underlying,
    underlyingClass: instrument.underlyingClass,
    right: instrument.optionType,
    strike: instrument.strike,
    expiration: instrument.expiration,
    settlesAt: settlementOf(instrument, calendar),
    style: instrument.style,
    settlement: instrument.settlement,
    multiplier: instrument.multiplier,
    deliverable: instrument.deliverable,
    quantity,
    price: mark,
    underlyingPrice: price ?? (quantity < 0 ? instrument.strike : undefined),
    leverageFactor,
  };
}
