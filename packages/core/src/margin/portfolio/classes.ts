import { isShares, multiplierOf, valueOf } from '../../instruments/instrument.js';
import { underlyingClassOf } from '../../instruments/option-roots.js';
import type { UnderlyingClass } from '../../instruments/option.js';
import { formatScaled } from '../../values/scaled.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';
import type { Amounts, BookMarket, ClassRequirement, Holding, MarginTerms } from '../book.js';
import { futureMarginOf, marginShareBps } from '../futures.js';
import { ModelValues } from './model-values.js';
import type { RiskLeg, RiskPoint } from './risk-legs.js';
import { riskParametersOn } from './risk-parameters.js';
import { simpleRequirementOf } from './simple.js';
import { commodityOf, securitiesOf } from './span.js';
import { timsRequirementOf } from './tims.js';

const FACTOR_ONE = 10_000;

/** Requirement of the holdings of one class group under portfolio margin (D114–D117): no Reg T initial, full equity contribution. */
export function classRequirement(
  holdings: readonly Holding[],
  terms: MarginTerms,
  market: BookMarket,
): ClassRequirement {
  const known = market.classes?.(holdings, terms, market);
  if (known !== undefined) return known;
  const values = new ModelValues(terms, market);
  const legs: RiskLeg[] = [];
  /** Requirement of options without a model value: their value, for shorts plus the value of the strike. */
  let unknown = Money.zero;
  const classes = new Map<string, UnderlyingClass>();
  for (const { instrument } of holdings)
    if (instrument.assetClass === 'OPTION') classes.set(instrument.underlying, instrument.underlyingClass);
  for (const holding of holdings) {
    if (holding.instrument.assetClass === 'OPTION' && !values.add(holding))
      unknown = Money.add(unknown, unpricedOption(holding));
    else legs.push(riskLegOf(holding, values, classes));
  }
  const { name, requirement, points, rule } = measured(legs, terms, values);
  const { portfolioMarginFactorBps = FACTOR_ONE } = terms.house;
  const house = Money.scale(Money.add(requirement, unknown), portfolioMarginFactorBps, FACTOR_ONE);
  const named =
    portfolioMarginFactorBps === FACTOR_ONE ? rule : `${rule}; × ${portfolioMarginFactorBps / FACTOR_ONE}`;
  return {
    group: {
      strategy: 'CLASS_GROUP',
      underlying: name ?? holdings[0]?.instrument.symbol ?? '',
      legs: holdings.map(({ instrument, quantity }) => ({ symbol: instrument.symbol, quantity })),
      amounts: { fed: Money.zero, house, opening: house, initial: house, counted: worthOf(holdings) },
      rule: named,
    },
    scenarios: points,
  };
}

/** Amounts of a class group, without its scenarios. */
export const classAmounts = (holdings: readonly Holding[], terms: MarginTerms, market: BookMarket): Amounts =>
  classRequirement(holdings, terms, market).group.amounts;

/** Futures of a root under SPAN: their months scan together (D117). */
export function commodityRequirement(holdings: readonly Holding[], terms: MarginTerms): ClassRequirement {
  const { name, legs, maintenance, initial, spreads, points } = commodityOf(
    rootOf(holdings),
    holdings.map((holding) => {
      const { instrument, quantity } = holding;
      if (instrument.assetClass !== 'FUTURE') throw new RangeError(`${instrument.symbol} is no future`);
      const { symbol, root, lastTradeDate, spreadMargin } = instrument;
      return {
        symbol,
        root,
        lastTradeDate,
        quantity,
        maintenance: futureMarginOf(holding, terms).maintenance,
        ...(spreadMargin !== undefined && {
          spreadMargin: Money.scale(spreadMargin, marginShareBps(instrument, terms), FACTOR_ONE),
        }),
      };
    }),
  );
  return {
    group: {
      strategy: 'CLASS_GROUP',
      underlying: name,
      legs,
      amounts: { fed: Money.zero, house: maintenance, opening: initial, initial, counted: Money.zero },
      rule: `D117, SPAN: the worst of sixteen scenarios, ${shown(spreads)} of it for pairs of months; initially 110 %`,
    },
    scenarios: points,
  };
}

const rootOf = ([first]: readonly Holding[]): string =>
  first?.instrument.assetClass === 'FUTURE' ? first.instrument.root : '';

const shown = (money: Money): string => formatScaled(Money.toCents(money), 4);

interface Measured {
  readonly name: string | undefined;
  readonly requirement: Money;
  readonly points: readonly (RiskPoint & { readonly volatilityMove?: number })[];
  readonly rule: string;
}

function measured(legs: readonly RiskLeg[], terms: MarginTerms, values: ModelValues): Measured {
  const parameters = riskParametersOn(terms.calendar.dateOf(terms.asOf));
  const minimum = 'at least 37.50 for a contract of 100';
  switch (terms.engine) {
    case 'SIMPLE': {
      const { requirement, groups } = simpleRequirementOf(legs, parameters, values.revalue);
      return {
        name: groups[0]?.name,
        requirement,
        points: groups.flatMap(({ points }) => points),
        rule: `D116, SIMPLE: the worst of seven points, ${minimum}, ${shown(requirement)}`,
      };
    }
    case 'SPAN': {
      const [first] = legs;
      if (first === undefined)
        return { name: undefined, requirement: Money.zero, points: [], rule: 'D117, SPAN' };
      const { name, maintenance, points } = securitiesOf(first.underlying, legs, parameters, values.shifted);
      return {
        name,
        requirement: maintenance,
        points,
        rule: `D117, SPAN: the worst of sixteen scenarios, ${minimum} that is short, ${shown(maintenance)}`,
      };
    }
    case 'TIMS':
    case undefined: {
      const { requirement, groups } = timsRequirementOf(legs, parameters, values.revalue);
      return {
        name: groups[0]?.name,
        requirement,
        points: groups.flatMap(({ points }) => points),
        rule: `D115, TIMS, FINRA 4210(g): the worst of ten points, ${minimum}, ${shown(requirement)}`,
      };
    }
  }
}

/** Fields are in one order for all legs: scenarios read legs of a single shape in half the time. */
function riskLegOf(
  { instrument, quantity, mark: price }: Holding,
  values: ModelValues,
  classes: ReadonlyMap<string, UnderlyingClass>,
): RiskLeg {
  const { symbol } = instrument;
  const multiplier = multiplierOf(instrument);
  if (isShares(instrument)) {
    const { leverageFactor } = instrument;
    const underlyingClass = classes.get(symbol) ?? underlyingClassOf(instrument);
    const sized = { quantity, multiplier, price, leverageFactor };
    return { kind: 'STOCK', symbol, underlying: symbol, underlyingClass, ...sized, hasOthers: undefined };
  }
  if (instrument.assetClass !== 'OPTION') throw new RangeError(`${symbol} is no security`);
  const { underlying, underlyingClass } = instrument;
  const { leverageFactor } = values.underlying(underlying);
  const hasOthers = values.hasOthers(instrument);
  const sized = { quantity, multiplier, price, leverageFactor };
  return { kind: 'OPTION', symbol, underlying, underlyingClass, ...sized, hasOthers };
}

/** Contract with an unknown underlying: a long one requires its value, a short one that of its strike as well. */
function unpricedOption({ instrument, quantity, mark }: Holding): Money {
  const value = valueOf(instrument, mark, Quantity.abs(quantity));
  if (quantity > 0 || instrument.assetClass !== 'OPTION') return value;
  return Money.add(value, valueOf(instrument, instrument.strike, Quantity.abs(quantity)));
}

const worthOf = (holdings: readonly Holding[]): Money =>
  holdings.reduce(
    (sum, { instrument, quantity, mark }) => Money.add(sum, valueOf(instrument, mark, quantity)),
    Money.zero,
  );
