import type { Calendar } from '../../calendar/calendar.js';
import { isShares } from '../../instruments/instrument.js';
import type { OptionContract, OptionSeries } from '../../instruments/option.js';
import { settlesAt } from '../../options/model/valuation.js';
import type { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { Amounts, BookMarket, Holding, MarginGroup, MarginTerms, Underlying } from '../book.js';
import { factorOf, stockRates } from './contracts.js';
import { stockFormula } from './explain.js';
import type { OptionLeg } from './legs.js';
import { leastAmountsOfHeld, leastGroupsOf } from './least-requirement.js';
import type { HeldOf, RegTRules } from './least-requirement.js';
import { regTParametersOn } from './parameters.js';
import { regTStock } from './stock.js';

/** Reg T amounts of the holdings of one underlying; stock alone needs no search. */
export function regTAmounts(holdings: readonly Holding[], terms: MarginTerms, market: BookMarket): Amounts {
  const alone = stockAlone(holdings, terms);
  return alone ?? withOpening(leastAmountsOfHeld(heldOf(holdings, terms, market), rulesOf(terms)));
}

/** Requirement by group, sorted by name. */
export function regTGroups(
  holdings: readonly Holding[],
  terms: MarginTerms,
  market: BookMarket,
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
  return leastGroupsOf(heldOf(holdings, terms, market), rulesOf(terms)).map(
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

/** The holdings of one underlying, each instrument once, as Reg T sees them. */
function heldOf(holdings: readonly Holding[], terms: MarginTerms, market: BookMarket): HeldOf {
  let name: string | undefined;
  let shares = Quantity.zero;
  let price: Price | undefined;
  let leverageFactor: number | undefined;
  let underlying: Underlying | undefined;
  const options: OptionLeg[] = [];
  for (const { instrument, quantity, mark, lacksOthers } of holdings) {
    if (isShares(instrument)) {
      name = instrument.symbol;
      shares = quantity;
      price ??= mark;
      leverageFactor ??= instrument.leverageFactor;
      continue;
    }
    if (instrument.assetClass !== 'OPTION') throw new RangeError(`${instrument.symbol} is no security`);
    name = instrument.underlying;
    underlying ??= market.underlying(name);
    const leg = optionLegOf(instrument, quantity, mark, lacksOthers, terms, underlying);
    price ??= leg.underlyingPrice;
    leverageFactor ??= underlying.leverageFactor;
    options.push(leg);
  }
  return { underlying: name ?? '', shares, price, leverageFactor: leverageFactor ?? 1, options };
}

const rulesOf = ({ house, asOf, calendar, series, partitions }: MarginTerms): RegTRules => ({
  house,
  ...(house.shortBoxCostBps !== undefined && { shortBoxCostBps: house.shortBoxCostBps }),
  ...(series !== undefined && { series }),
  ...(partitions !== undefined && { partitions }),
  asOf,
  date: calendar.dateOf(asOf),
});

/** Cached settlement times of series, by the identity of their terms. */
const settlements = new WeakMap<OptionSeries, { readonly calendar: Calendar; readonly at: Instant }>();

function settlementOf(series: OptionSeries, calendar: Calendar): Instant {
  const known = settlements.get(series);
  if (known?.calendar === calendar) return known.at;
  const at = settlesAt(series, calendar);
  settlements.set(series, { calendar, at });
  return at;
}

/**
 * Option contracts as Reg T sees them. Without a price of the underlying, a short option counts as at the money, with the greatest
 * requirement.
 */
function optionLegOf(
  instrument: OptionContract,
  quantity: Quantity,
  mark: Price,
  lacksOthers: true | undefined,
  { calendar }: MarginTerms,
  { price, leverageFactor }: Underlying,
): OptionLeg {
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
    ...(instrument.inLieu !== undefined && { inLieu: instrument.inLieu }),
    ...(instrument.cash !== undefined && { cash: instrument.cash }),
    ...(lacksOthers === true && { lacksOthers }),
    quantity,
    price: mark,
    underlyingPrice: price ?? (quantity < 0 ? instrument.strike : undefined),
    leverageFactor,
  };
}
