import { effectiveAt } from '../../corporate-actions/corporate-action.js';
import { classOfShares } from '../../instruments/option-roots.js';
import type { OptionContract, UnderlyingClass } from '../../instruments/option.js';
import {
  conditionsOf,
  dollarsOf,
  optionPrice,
  optionTermsOf,
  settlesAt,
} from '../../options/model/valuation.js';
import { atSpot } from '../../options/model/conditions.js';
import type { Conditions } from '../../options/model/conditions.js';
import { impliedVolatility } from '../../options/model/implied-volatility.js';
import { Money } from '../../values/money.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { multiplyDivide } from '../../values/scaled.js';
import { TradingDate } from '../../values/trading-date.js';
import type { BookMarket, Holding, MarginTerms, Underlying } from '../book.js';
import { componentMove, rangeOf } from './component-moves.js';
import { WHOLE_MOVE } from './risk-legs.js';
import type { ClassMove, Move, RiskLeg } from './risk-legs.js';
import { riskParametersOn } from './risk-parameters.js';
import type { Range } from './risk-parameters.js';
import type { ModeledOption } from './known-models.js';
import type { Shift } from './span.js';

const DAY_MS = 86_400_000;
/** A price of 0 has no logarithm. */
const LEAST_PRICE = 1;

/** Conditions of a series on one day, by the move of its underlying. */
interface SeriesDay {
  readonly unmoved: Conditions;
  readonly byMove: Map<Move | string, Conditions>;
}

/** The deliverable of one unit of a contract. */
interface Delivered {
  /** Its price now. */
  readonly spot: Price;
  /** The parts that do not move like the underlying, as text; empty = all move alike. */
  readonly key: string;
  /** Shares of the underlying in it; `undefined` = dividends count as announced. */
  readonly dividendUnits: number | undefined;
  /** Its price after a move of the underlying, and with `ofClass` of the other shares in it. */
  readonly movedBy: (move: Move, ofClass?: ClassMove) => number;
}

const moved = (price: number, move: Move): number =>
  price + multiplyDivide(price, move, WHOLE_MOVE, 'half-up');

const moveKey = ({ move, isOpposed }: ClassMove): string => `${move}${isOpposed ? ' opposed' : ' together'}`;

/** Model values of a book's options after moves of their underlyings, at the volatility of the mark (D115). */
export class ModelValues {
  private readonly terms: MarginTerms;
  private readonly market: BookMarket;
  private readonly options = new Map<string, ModeledOption>();
  private readonly underlyings = new Map<string, Underlying>();
  /** By underlying: its inputs of the model but its price, as text. */
  private readonly inputs = new Map<string, string>();
  /** By underlying, spot and settlement. */
  private readonly series = new Map<string, ModeledOption['conditionsAt']>();
  private readonly nextDay: Instant;

  constructor(terms: MarginTerms, market: BookMarket) {
    this.terms = terms;
    this.market = market;
    const { calendar, asOf } = terms;
    const today = calendar.dateOf(asOf);
    const days = TradingDate.dayOf(calendar.plusBusinessDays(today, 1)) - TradingDate.dayOf(today);
    this.nextDay = Instant.plusMs(asOf, days * DAY_MS);
  }

  /** An underlying of the market, looked up once. */
  underlying(symbol: string): Underlying {
    const known = this.underlyings.get(symbol);
    if (known !== undefined) return known;
    const underlying = this.market.underlying(symbol);
    this.underlyings.set(symbol, underlying);
    return underlying;
  }

  /** Adds an option; `false` if its underlying has no price, so that it has no model value. */
  add(holding: Holding): boolean {
    const { instrument, mark } = holding;
    if (instrument.assetClass !== 'OPTION') throw new RangeError(`${instrument.symbol} is no option`);
    const underlying = this.underlying(instrument.underlying);
    if (underlying.price === undefined || underlying.price <= 0) return false;
    const delivered = this.deliveredBy(instrument, underlying.price);
    const { spot } = delivered;
    const settlement = settlesAt(instrument, this.terms.calendar);
    const given = this.market.volatility?.(holding);
    const modeled = (): ModeledOption => {
      const conditionsAt = this.seriesOf(instrument.underlying, delivered, settlement);
      const terms = optionTermsOf(instrument);
      const volatility = given ?? impliedVolatility(terms, conditionsAt(0, 0), dollarsOf(mark));
      return { terms, conditionsAt, volatility, values: new Map() };
    };
    const { models } = this.terms;
    const option =
      models === undefined
        ? modeled()
        : models.of(
            `${this.inputsOf(instrument)} ${spot}${delivered.key} ${settlement} ${mark} ${given ?? 'implied'}`,
            modeled,
          );
    this.options.set(instrument.symbol, option);
    return true;
  }

  /** True when a contract delivers shares that move by themselves. */
  hasOthers({ othersInCash }: OptionContract): true | undefined {
    return this.terms.components === true && othersInCash !== undefined ? true : undefined;
  }

  /** Value of one unit of a contract's deliverable at a price of its underlying; other components move by their own classes. */
  private deliveredBy(instrument: OptionContract, price: Price): Delivered {
    const { deliverable, inLieu = Quantity.zero, multiplier, cash = Money.zero, othersInCash } = instrument;
    const units = Math.round(deliverable * 1e6) + inLieu;
    const factor = Math.round(multiplier * 1e6);
    const own = multiplyDivide(price, units, factor, 'half-up');
    const perUnit = cash === 0 ? 0 : Money.perUnit(cash, Quantity.of(1), multiplier);
    const spot = Price.ofUnits(Math.max(LEAST_PRICE, own + perUnit));
    if (this.terms.components !== true || cash === 0)
      return { spot, key: '', dividendUnits: undefined, movedBy: (move) => moved(spot, move) };
    const parameters = riskParametersOn(this.terms.calendar.dateOf(this.terms.asOf));
    const rangeOfOne = (symbol: string, underlyingClass: UnderlyingClass): Range =>
      rangeOf(this.terms.engine, { underlying: symbol, underlyingClass }, parameters);
    const range = rangeOfOne(instrument.underlying, instrument.underlyingClass);
    let fixed = perUnit;
    let key = ` ${own}`;
    const others = (othersInCash ?? []).map(({ symbol, shares }) => {
      const { price: mark = Price.ofUnits(0), leverageFactor } = this.underlying(symbol);
      const value = multiplyDivide(mark, shares * 1e6, factor, 'half-up');
      fixed -= value;
      const other = { ...rangeOfOne(symbol, classOfShares(symbol)), leverageFactor };
      key += ` ${value} ${other.down} ${other.up} ${leverageFactor}`;
      return { value, range: other };
    });
    if (others.length > 0) key += ` ${range.down} ${range.up}`;
    // The cash of a contract does not move.
    const movedBy = (move: Move, ofClass: ClassMove = { move: 0, isOpposed: false }): number =>
      others.reduce(
        (sum, one) =>
          sum + moved(one.value, componentMove(ofClass.move, ofClass.isOpposed, range, one.range)),
        fixed + moved(own, move),
      );
    return { spot, key, dividendUnits: units / factor, movedBy };
  }

  /** Inputs of the model that the contract, its underlying, the market and the terms contribute. */
  private inputsOf({ symbol, optionType, style, strike, underlying }: OptionContract): string {
    let inputs = this.inputs.get(underlying);
    if (inputs === undefined) {
      const { asOf, calendar } = this.terms;
      inputs = `${asOf} ${calendar.id} ${this.market.rate} `;
      for (const dividend of this.underlying(underlying).dividends)
        inputs += `${effectiveAt(calendar, dividend)} ${dividend.amountPerShare} `;
      this.inputs.set(underlying, inputs);
    }
    return `${inputs}${symbol} ${optionType} ${style} ${strike}`;
  }

  /** Value per share after a move of the underlying alone. */
  readonly revalue = ({ symbol }: RiskLeg, move: Move, ofClass?: ClassMove): Price =>
    this.valueOf(symbol, move, 0, 0, ofClass);

  /** Value per share after all shifts of a SPAN scenario. */
  readonly shifted = ({ symbol }: RiskLeg, { move, volatilityBps, tradingDays, ofClass }: Shift): Price =>
    this.valueOf(symbol, move, volatilityBps, tradingDays, ofClass);

  private valueOf(
    symbol: string,
    move: Move,
    volatilityBps: number,
    tradingDays: number,
    ofClass?: ClassMove,
  ): Price {
    const option = this.options.get(symbol);
    if (option === undefined) throw new RangeError(`no values of ${symbol}`);
    const at = ofClass === undefined ? move : moveKey(ofClass);
    const key = volatilityBps === 0 && tradingDays === 0 ? at : `${at} ${volatilityBps} ${tradingDays}`;
    const known = option.values.get(key);
    if (known !== undefined) return known;
    const volatility =
      volatilityBps === 0 ? option.volatility : (option.volatility * (10_000 + volatilityBps)) / 10_000;
    const value = optionPrice(option.terms, option.conditionsAt(move, tradingDays, ofClass), volatility);
    option.values.set(key, value);
    return value;
  }

  /** Conditions of the series on an underlying that settle at one instant: computed once for each move. */
  private seriesOf(
    symbol: string,
    { spot, key: parts, dividendUnits, movedBy }: Delivered,
    settlement: Instant,
  ): ModeledOption['conditionsAt'] {
    const key = `${symbol} ${spot}${parts} ${settlement}`;
    const known = this.series.get(key);
    if (known !== undefined) return known;
    const { rate } = this.market;
    const dividends = this.underlying(symbol).dividends.map((one) =>
      dividendUnits === undefined
        ? one
        : { ...one, amountPerShare: Price.ofUnits(Math.round(one.amountPerShare * dividendUnits)) },
    );
    const { asOf, calendar } = this.terms;
    const { nextDay } = this;
    const dayOf = (now: Instant): SeriesDay => ({
      unmoved: conditionsOf({ price: spot, now, rate, dividends }, settlement, calendar),
      byMove: new Map(),
    });
    const today = dayOf(asOf);
    const tomorrow = dayOf(nextDay);
    const conditionsAt = (move: Move, tradingDays: number, ofClass?: ClassMove): Conditions => {
      const { unmoved, byMove } = tradingDays === 0 ? today : tomorrow;
      const at = ofClass === undefined ? move : moveKey(ofClass);
      let conditions = byMove.get(at);
      if (conditions === undefined) {
        const price = movedBy(move, ofClass);
        conditions = atSpot(unmoved, dollarsOf(Price.ofUnits(Math.max(LEAST_PRICE, price))));
        byMove.set(at, conditions);
      }
      return conditions;
    };
    this.series.set(key, conditionsAt);
    return conditionsAt;
  }
}
