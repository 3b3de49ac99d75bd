/** Positions, and closing them. */
import { Quantity } from '@sandpit/core';
import {
  type EquityPosition,
  optionClose,
  type OptionPosition,
  previousClose,
  profitOfDay,
  Refused,
} from '@sandpit/dialect-port';
import { decimal } from './decimals.js';
import { assetIdOf, isAssetId } from './alpaca-store.js';
import { cancelAll, outcomeOf, placed } from './orders.js';
import { contractsOf } from './multi-leg.js';
import { wholeUnits } from './order-body.js';
import { AlpacaAnswer, type AlpacaCall, type AlpacaHandler } from './request.js';
import { forbidden, invalid, notFound, translated, unprocessable } from './refusals.js';

/** A position in one symbol, stock or option. */
interface HeldPosition {
  readonly symbol: string;
  readonly isOption: boolean;
  readonly quantity: number;
  readonly available: number;
  readonly price: number;
  readonly entryPrice: number;
  readonly marketValue: number;
  /** Positive for a long position, negative for a short one. */
  readonly costBasis: number;
  readonly unrealized: number;
}

const EQUITY_EXCHANGE = 'NASDAQ';

function stockOf(position: EquityPosition): HeldPosition {
  const { symbol, settledQuantity, pendingQuantity, reservedQuantity, price, entryPrice } = position;
  const quantity = sum(settledQuantity, pendingQuantity);
  const sign = Math.sign(quantity);
  return {
    symbol,
    isOption: false,
    quantity,
    available: sign * sum(Math.abs(quantity), -reservedQuantity),
    price,
    entryPrice,
    marketValue: position.marketValue,
    costBasis: sign * position.costBasis,
    unrealized: position.unrealizedPnl,
  };
}

function optionOf(position: OptionPosition, onOrder: number): HeldPosition {
  const { optionSymbol, quantity, lastPrice, averageCost, marketValue, unrealizedPnL } = position;
  return {
    symbol: optionSymbol,
    isOption: true,
    quantity,
    available: Math.sign(quantity) * Math.max(0, Math.abs(quantity) - onOrder),
    price: lastPrice,
    entryPrice: averageCost,
    marketValue,
    costBasis: marketValue - unrealizedPnL,
    unrealized: unrealizedPnL,
  };
}

/** Quantities have six decimals. */
const sum = (a: number, b: number): number => Math.round((a + b) * 1e6) / 1e6;

/** All positions of the portfolio, by symbol; this dialect has no futures. */
async function heldBy(call: AlpacaCall): Promise<readonly HeldPosition[]> {
  const params = { portfolioId: call.book.portfolioId };
  const stocks = await call.book.run('listEquityPositions', { params });
  const options = await call.book.run('listOptionPositions', { params });
  return [
    ...stocks.map(stockOf),
    ...options.map((position) => optionOf(position, contractsClosing(call, position.optionSymbol))),
  ];
}

/** Contracts of an option that open orders close. */
function contractsClosing({ book }: AlpacaCall, symbol: string): number {
  const portfolio = book.portfolio();
  let units = 0;
  for (const { terms, progress } of portfolio?.openOrders.oldestFirst() ?? []) {
    if (progress.status === 'CREATED') continue;
    const left = {
      quantity: Quantity.subtract(progress.quantity, progress.filledQuantity),
      filledQuantity: Quantity.zero,
    };
    const parts =
      terms.legs === undefined
        ? [{ symbol: terms.symbol, intent: terms.positionIntent, quantity: left.quantity }]
        : contractsOf(terms.legs, left);
    for (const part of parts)
      if (part.symbol === symbol && part.intent.endsWith('_TO_CLOSE')) units += part.quantity;
  }
  return units / Quantity.of(1);
}

async function shape(call: AlpacaCall, held: HeldPosition) {
  const { symbol, isOption, quantity, price, costBasis } = held;
  const lastday = (await (isOption ? optionClose : previousClose)(call.book, symbol)) ?? held.entryPrice;
  const { base, profit } = profitOfDay(call.book, symbol, held.marketValue, lastday);
  return {
    asset_id: assetIdOf(symbol),
    symbol,
    exchange: isOption ? '' : EQUITY_EXCHANGE,
    asset_class: isOption ? 'us_option' : 'us_equity',
    asset_marginable: !isOption,
    qty: decimal(quantity),
    qty_available: decimal(held.available),
    avg_entry_price: decimal(held.entryPrice),
    side: quantity < 0 ? 'short' : 'long',
    market_value: decimal(held.marketValue),
    cost_basis: decimal(costBasis),
    unrealized_pl: decimal(held.unrealized),
    unrealized_plpc: decimal(ratio(held.unrealized, Math.abs(costBasis))),
    unrealized_intraday_pl: decimal(profit),
    unrealized_intraday_plpc: decimal(ratio(profit, base)),
    current_price: decimal(price),
    lastday_price: decimal(lastday),
    change_today: decimal(ratio(price - lastday, lastday)),
  };
}

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

export const listPositions: AlpacaHandler = async (call) => {
  const shown = [];
  for (const held of await heldBy(call)) shown.push(await shape(call, held));
  return shown;
};

async function positionNamed(call: AlpacaCall): Promise<HeldPosition> {
  const name = call.params['symbol'] ?? '';
  const symbol = name.toUpperCase();
  const held = (await heldBy(call)).find((one) =>
    isAssetId(name) ? assetIdOf(one.symbol) === name.toLowerCase() : one.symbol === symbol,
  );
  if (held === undefined) throw notFound('position does not exist');
  return held;
}

export const getPosition: AlpacaHandler = async (call) => shape(call, await positionNamed(call));

/** Closes a position, or a part of it, at the market. */
export const closePosition: AlpacaHandler = async (call) => {
  const held = await positionNamed(call);
  return close(call, held, partOf(call, held));
};

function partOf({ query }: AlpacaCall, held: HeldPosition): number {
  const quantity = query.number('qty');
  const percentage = query.number('percentage');
  if (quantity !== undefined && percentage !== undefined)
    throw invalid('only one of qty or percentage is accepted');
  if (percentage === undefined)
    return quantity === undefined ? Math.abs(held.quantity) : wholeUnits(quantity);
  if (percentage <= 0 || percentage > 100) throw invalid('percentage must be between 0 and 100');
  const units = percentageOf(Math.round(Math.abs(held.quantity) * UNITS), query.text('percentage') ?? '');
  const rounded = held.isOption ? units - (units % UNITS) : units;
  if (rounded === 0) throw unprocessable('position is too small to close this percentage of it');
  return rounded / UNITS;
}

/** Units of a quantity in a share. */
const UNITS = 1_000_000;

/** The exact percentage of a number of units, rounded down once; `text` is a checked decimal. */
function percentageOf(units: number, text: string): number {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^\+?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text.trim()) ?? [];
  const places = fraction.length - Number(exponent);
  const product = BigInt(units) * BigInt(whole + fraction) * 10n ** BigInt(Math.max(-places, 0));
  return Number(product / (100n * 10n ** BigInt(Math.max(places, 0))));
}

function close(call: AlpacaCall, { symbol, isOption, quantity: held }: HeldPosition, quantity: number) {
  return placed(call, symbol, {
    portfolioId: call.book.portfolioId,
    symbol,
    assetClass: isOption ? 'OPTION' : 'EQUITY',
    orderType: 'MARKET',
    positionIntent: held < 0 ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE',
    quantity,
    timeInForce: 'DAY',
  });
}

/** Handles a request about a long option: exercises the whole position, or instructs that none of it is exercised at expiry. */
const told =
  (operation: 'exerciseOption' | 'doNotExerciseOption'): AlpacaHandler =>
  async (call) => {
    const { symbol, isOption, quantity } = await positionNamed(call);
    if (!isOption) throw unprocessable('only options can be exercised');
    if (quantity < 0)
      throw forbidden(
        operation === 'exerciseOption'
          ? 'cannot exercise short position'
          : 'cannot submit DNE for short position',
      );
    const params = { portfolioId: call.book.portfolioId, optionSymbol: symbol };
    try {
      await call.book.run(operation, { params, body: {} });
    } catch (error) {
      throw error instanceof Refused ? translated(error, symbol) : error;
    }
    return new AlpacaAnswer(200, {});
  };

export const exercise = told('exerciseOption');
export const doNotExercise = told('doNotExerciseOption');

/** Closes all positions; returns the result for each. */
export const closeAllPositions: AlpacaHandler = async (call) => {
  if (call.query.flag('cancel_orders')) await cancelAll(call);
  const answers = [];
  for (const held of await heldBy(call)) {
    const outcome = await outcomeOf(call, () => close(call, held, Math.abs(held.quantity)));
    answers.push({ symbol: held.symbol, ...outcome });
  }
  return new AlpacaAnswer(207, answers);
};
