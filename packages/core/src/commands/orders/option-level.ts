import type { Decision } from '../../decision.js';
import type { BrokerConfiguration } from '../../brokers/broker.js';
import { isForShares } from '../../instruments/instrument.js';
import type { OptionContract } from '../../instruments/option.js';
import { isOpening, sideOf } from '../../orders/order.js';
import { isCustom } from '../../orders/structure.js';
import { levelRefusal } from '../../orders/refusal.js';
import type { Refusal } from '../../orders/refusal.js';
import { freeCash } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { OptionCollateral } from '../../positions/option-collateral.js';
import { Quantity } from '../../values/quantity.js';
import { changesOf } from './ordered-legs.js';
import type { OrderedLeg } from './ordered-legs.js';
import { collateralChange, collateralChangeOf, collateralHeld } from '../options/secure-options.js';
import type { CollateralChange } from '../options/secure-options.js';

/** Covered or cash-secured; long; spreads; uncovered (D80). */
const COVERED = 1;
const LONG = 2;
const SPREAD = 3;
const UNCOVERED = 4;

/**
 * Refusal if broker or portfolio do not allow the options that an order would open (D80), or would uncover by closing a long, with
 * both levels. `except`: the order itself, if open; `covering`: its change of collateral, if known.
 */
export function optionLevelProblem(
  d: Decision,
  portfolio: Portfolio,
  units: Quantity,
  legs: readonly OrderedLeg[],
  {
    except,
    covering,
    strategy,
    limit = UNCOVERED,
  }: {
    readonly except?: number;
    readonly covering?: CollateralChange | undefined;
    readonly strategy?: string | undefined;
    /** A level limit regardless of the broker's. */
    readonly limit?: number;
  } = {},
): Refusal | undefined {
  const contracts = legs.flatMap(({ instrument }) => (instrument.assetClass === 'OPTION' ? instrument : []));
  const [first] = contracts;
  if (first === undefined) return undefined;
  // Quantities beyond the position are refused elsewhere.
  if (legs.some((leg) => isBeyondHeld(portfolio, leg, units))) return undefined;
  const available = Math.min(levelOf(portfolio, d.broker(portfolio), contracts), limit);
  if (available >= UNCOVERED) return undefined;
  const change = covering ?? collateralChangeOf(d, portfolio, legs, units, except);
  if (change === undefined) return undefined;
  const { before, after } = change;
  const opens = (side: 'BUY' | 'SELL'): boolean =>
    legs.some(({ positionIntent }) => isOpening(positionIntent) && sideOf(positionIntent) === side);
  let required = 0;
  if (opens('SELL')) required = COVERED;
  if (opens('BUY')) required = LONG;
  if (opens('SELL') && after.spreads > before.spreads) required = SPREAD;
  if (after.nakedCalls > before.nakedCalls) required = UNCOVERED;
  if (isCustom(strategy) && (opens('BUY') || opens('SELL')))
    required = Math.max(required, customLevel(d, portfolio, legs, units, after, except));
  return required > available ? levelRefusal(available, required) : undefined;
}

/**
 * Level of a CUSTOM order that opens contracts (D270): 3 if longs or shares cover every short that it opens, else 4. Compared with the book
 * after its closing legs, which it may use as well. In a CASH portfolio of a broker with level 4, cash secures uncovered puts.
 */
function customLevel(
  d: Decision,
  portfolio: Portfolio,
  legs: readonly OrderedLeg[],
  units: Quantity,
  after: OptionCollateral,
  except: number | undefined,
): number {
  const closing = legs.filter(({ positionIntent }) => !isOpening(positionIntent));
  const [first] = legs;
  if (first?.instrument.assetClass !== 'OPTION') return SPREAD;
  const changes = changesOf(closing, units / Quantity.of(1));
  const closed = collateralChange(d, portfolio, first.instrument.underlying, changes, except)?.after;
  if (closed === undefined) return SPREAD;
  if (after.nakedCalls > closed.nakedCalls) return UNCOVERED;
  const isSecuredByCash =
    portfolio.settings.portfolioType === 'CASH' && d.broker(portfolio).optionLevel >= UNCOVERED;
  return after.nakedPuts > closed.nakedPuts && !isSecuredByCash ? UNCOVERED : SPREAD;
}

/** Refusal of a request that would leave a short call without cover, which needs the highest level (D160). `contract`: on its underlying. */
export const uncoveredRefusal = (d: Decision, portfolio: Portfolio, contract: OptionContract): Refusal =>
  levelRefusal(levelOf(portfolio, d.broker(portfolio), [contract]), UNCOVERED);

/**
 * Refusal of a broker for a portfolio's positions (D124): futures if it has none, options beyond its level, or shorts
 * whose collateral there exceeds the free cash.
 */
export function heldBeyond(
  d: Decision,
  portfolio: Portfolio,
  broker: BrokerConfiguration,
): string | undefined {
  const positions = [...portfolio.positions.values()].filter((one) => Position.held(one) !== 0);
  if (!broker.futures && positions.some(({ assetClass }) => assetClass === 'FUTURE'))
    return `${broker.name} does not offer futures`;
  const isShortOfStock = positions.some((one) => isForShares(one.assetClass) && Position.held(one) < 0);
  if (!broker.shortSelling && isShortOfStock) return `${broker.name} does not offer short selling`;
  let required = 0;
  let cash = 0;
  const contracts: OptionContract[] = [];
  for (const underlying of [...portfolio.optionsOn.keys()].sort()) {
    const held = collateralHeld(d, portfolio, underlying);
    const { spreads, nakedCalls } = held.cover;
    cash += held.cash - (portfolio.secured.get(underlying)?.cash ?? 0);
    for (const symbol of portfolio.optionsOn.get(underlying) ?? []) {
      const position = portfolio.positions.get(symbol);
      const contract = d.instrument(symbol);
      if (position === undefined || contract?.assetClass !== 'OPTION') continue;
      contracts.push(contract);
      required = Math.max(required, Position.held(position) > 0 ? LONG : COVERED);
    }
    if (spreads > 0) required = Math.max(required, SPREAD);
    if (nakedCalls > 0) required = UNCOVERED;
  }
  const available = levelOf(portfolio, broker, contracts);
  if (available < UNCOVERED && cash > Math.max(0, freeCash(portfolio))) required = UNCOVERED;
  return required > available
    ? `${broker.name} offers option level ${available}, the positions require level ${required}`
    : undefined;
}

function isBeyondHeld(
  portfolio: Portfolio,
  { instrument, positionIntent, ratio }: OrderedLeg,
  units: Quantity,
): boolean {
  if (isOpening(positionIntent)) return false;
  const position = portfolio.positions.get(instrument.symbol);
  const held = position === undefined ? 0 : Position.held(position);
  return units * ratio > (positionIntent === 'SELL_TO_CLOSE' ? held : 0 - held);
}

/** Option level of a portfolio: its broker's, lower without margin (D80). */
function levelOf(
  { settings }: Portfolio,
  { optionLevel, spreadsInCashAccounts }: BrokerConfiguration,
  contracts: readonly OptionContract[],
): number {
  if (settings.portfolioType !== 'CASH') return optionLevel;
  const [first] = contracts;
  const isEuropean = contracts.every(
    ({ style, settlement, expiration }) =>
      style === 'EUROPEAN' && settlement === 'CASH' && expiration === first?.expiration,
  );
  return Math.min(optionLevel, isEuropean || spreadsInCashAccounts === true ? SPREAD : LONG);
}
