import type {
  AssetClass,
  CreateOrderBody,
  EquityPosition,
  ExecutionQuality,
  FuturePosition,
  ImportBody,
  ImportResult,
  OptionPosition,
  OrderPreview,
  OrderType,
  Performance,
  PortfolioDetail,
  PositionIntent,
  QueryOf,
  RealizedGainPage,
  RoundTrip,
  TaxLot,
} from '@sandpit/protocol';
import type { Arguments, Sandpit } from './client.js';
import { Order } from './order.js';

/** Terms of an order besides symbol and quantity. Its type follows from the prices given. */
export interface OrderOptions {
  readonly limit?: number;
  readonly stop?: number;
  /** Trail in dollars. */
  readonly trail?: number;
  /** Trail in percent. */
  readonly trailPercent?: number;
  /**
   * Price of the take-profit exit. With `stopLoss`: a bracket. Of `sell` and `cover`, which are exits themselves: the limit, in a pair with
   * the `stopLoss` that cancels it and is canceled by it.
   */
  readonly takeProfit?: number;
  /** Price of the exit that stops the loss. */
  readonly stopLoss?: number;
  readonly timeInForce?: CreateOrderBody['timeInForce'];
  readonly goodTillDate?: string;
  readonly session?: CreateOrderBody['session'];
  readonly clientOrderId?: string;
  /** Reason for the order; stored with it. */
  readonly notes?: string;
  /** Records the order as REJECTED if the brokerage refuses it, instead of throwing. */
  readonly recordRefusal?: boolean;
  readonly assetClass?: AssetClass;
  /** The same key with the same order places it once. */
  readonly idempotencyKey?: string;
}

/** Size of an order: shares or contracts, or the dollar amount of shares to buy or sell at the market. */
export type Size = number | { readonly notional: number };

/** An order in the API's form, without the portfolio id. */
export type OrderBody = Omit<CreateOrderBody, 'portfolioId'>;

/** A portfolio, and orders against it. */
export class Portfolio {
  readonly id: string;
  readonly #client: Sandpit;

  constructor(client: Sandpit, portfolioId: string) {
    this.#client = client;
    this.id = portfolioId;
  }

  /** Buys, to open or to add. */
  buy(symbol: string, size: Size, options?: OrderOptions): Promise<Order> {
    return this.#place('BUY_TO_OPEN', symbol, size, options);
  }

  /** Sells a long position. */
  sell(symbol: string, size: Size, options?: OrderOptions): Promise<Order> {
    return this.#place('SELL_TO_CLOSE', symbol, size, options);
  }

  /** Sells short. */
  short(symbol: string, quantity: number, options?: OrderOptions): Promise<Order> {
    return this.#place('SELL_TO_OPEN', symbol, quantity, options);
  }

  /** Buys back a short position. */
  cover(symbol: string, quantity: number, options?: OrderOptions): Promise<Order> {
    return this.#place('BUY_TO_CLOSE', symbol, quantity, options);
  }

  /** Several options in one order, filled whole at a net price. */
  spread(
    strategy: NonNullable<CreateOrderBody['strategy']>,
    legs: readonly SpreadLeg[],
    options: SpreadOptions = {},
  ): Promise<Order> {
    return this.submit(spreadOf(strategy, legs, options), options.idempotencyKey);
  }

  /** Previews an order (`orderOf`, `spreadOf`): cost, margin, positions and rejections. Places no order. */
  preview(order: OrderBody): Promise<OrderPreview> {
    return this.#client.call('previewOrder', { body: { ...order, portfolioId: this.id } });
  }

  /** An order in the API's form; also a multi-leg order. */
  async submit(order: OrderBody, idempotencyKey: string = globalThis.crypto.randomUUID()): Promise<Order> {
    const body = { ...order, portfolioId: this.id };
    return new Order(this.#client, await this.#client.call('createOrder', { body, idempotencyKey }));
  }

  /** Imports cash and positions into the empty portfolio: a body of rows, or `{ file }` with the text of a broker's file. */
  import(body: ImportBody, query: Arguments<'importPositions'>['query'] = {}): Promise<ImportResult> {
    const { file, ...others } = body;
    // As a string in JSON a file may have 256 KiB; as the whole body it may be larger.
    const isCsv = file !== undefined && Object.keys(others).length === 0 && !/^\s*[[{]/.test(file);
    return isCsv
      ? this.#client.importCsv(this.id, file, query)
      : this.#client.call('importPositions', { params: { portfolioId: this.id }, query, body });
  }

  /** Balances, requirements, buying power. */
  show(): Promise<PortfolioDetail> {
    return this.#client.call('getPortfolio', { params: { portfolioId: this.id } });
  }

  /** Positions in shares, long or short. */
  positions(): Promise<EquityPosition[]> {
    return this.#client.call('listEquityPositions', { params: { portfolioId: this.id } });
  }

  /** Positions in options, long or short, with marks and Greeks. */
  options(): Promise<OptionPosition[]> {
    return this.#client.call('listOptionPositions', { params: { portfolioId: this.id } });
  }

  /** Positions in futures, long or short. */
  futures(): Promise<FuturePosition[]> {
    return this.#client.call('listFuturePositions', { params: { portfolioId: this.id } });
  }

  /** Return, risk, drawdown and trade statistics; all of the present epoch unless a period is named. */
  performance(query: Partial<QueryOf<'getPerformance'>> = {}): Promise<Performance> {
    return this.#client.call('getPerformance', { params: { portfolioId: this.id }, query });
  }

  /** Round trips, newest first. */
  trades(query: Partial<QueryOf<'listTrades'>> = {}): AsyncGenerator<RoundTrip, void, undefined> {
    return this.#client.list('listTrades', { params: { portfolioId: this.id }, query });
  }

  /** Slippage, shortfall and spreads of the orders, by group with `groupBy`. */
  executionQuality(query: Partial<QueryOf<'getExecutionQuality'>> = {}): Promise<ExecutionQuality> {
    return this.#client.call('getExecutionQuality', { params: { portfolioId: this.id }, query });
  }

  /** A page of the sales of a tax year, with totals by term. Not tax advice. */
  realizedGains(query: Partial<QueryOf<'listRealizedGains'>> = {}): Promise<RealizedGainPage> {
    return this.#client.call('listRealizedGains', { params: { portfolioId: this.id }, query });
  }

  /** Open tax lots with their adjusted basis, by symbol, then by date. Not tax advice. */
  taxLots(query: Partial<QueryOf<'listTaxLots'>> = {}): AsyncGenerator<TaxLot, void, undefined> {
    return this.#client.list('listTaxLots', { params: { portfolioId: this.id }, query });
  }

  /** A page of HTML with charts and statistics. */
  report(query: Partial<QueryOf<'getReport'>> = {}): Promise<string> {
    return this.#client.report(this.id, query);
  }

  #place(
    positionIntent: PositionIntent,
    symbol: string,
    size: Size,
    options: OrderOptions = {},
  ): Promise<Order> {
    return this.submit(orderOf(positionIntent, symbol, size, options), options.idempotencyKey);
  }
}

/** The body of an order that is not given in the words of the API. */
export function orderOf(
  positionIntent: PositionIntent,
  symbol: string,
  size: Size,
  asked: OrderOptions,
): OrderBody {
  const isPair = positionIntent.endsWith('_TO_CLOSE') && asked.stopLoss !== undefined;
  const options = isPair ? pairOf(asked) : asked;
  const { limit, stop, trail, trailPercent, takeProfit, stopLoss, timeInForce = 'DAY' } = options;
  const { goodTillDate, session, clientOrderId, notes, recordRefusal } = options;
  const { assetClass = assetClassOf(symbol) } = options;
  return {
    symbol,
    assetClass,
    orderType: orderTypeOf(options),
    positionIntent,
    ...(typeof size === 'number' ? { quantity: size } : { notional: size.notional }),
    timeInForce,
    ...(limit !== undefined && { limitPrice: limit }),
    ...(stop !== undefined && { stopPrice: stop }),
    ...(trail !== undefined && { trailingAmount: trail }),
    ...(trailPercent !== undefined && { trailingPercent: trailPercent }),
    ...(isPair &&
      stopLoss !== undefined && {
        ocoConfig: { stopLoss: { orderType: 'STOP' as const, stopPrice: stopLoss } },
      }),
    ...(!isPair &&
      (takeProfit !== undefined || stopLoss !== undefined) && {
        bracketConfig: {
          ...(takeProfit !== undefined && {
            profitTarget: { orderType: 'LIMIT' as const, limitPrice: takeProfit },
          }),
          ...(stopLoss !== undefined && { stopLoss: { orderType: 'STOP' as const, stopPrice: stopLoss } }),
        },
      }),
    ...(goodTillDate !== undefined && { goodTillDate }),
    ...(session !== undefined && { session }),
    ...(clientOrderId !== undefined && { clientOrderId }),
    ...(notes !== undefined && { notes }),
    ...(recordRefusal !== undefined && { recordRefusal }),
  };
}

/** The limit of a pair is its profit. */
function pairOf({ takeProfit, ...options }: OrderOptions): OrderOptions {
  return { ...(takeProfit !== undefined && { limit: takeProfit }), ...options };
}

function orderTypeOf({ limit, stop, trail, trailPercent }: OrderOptions): OrderType {
  if (trail !== undefined || trailPercent !== undefined)
    return limit === undefined ? 'TRAILING_STOP' : 'TRAILING_STOP_LIMIT';
  if (stop !== undefined) return limit === undefined ? 'STOP' : 'STOP_LIMIT';
  return limit === undefined ? 'MARKET' : 'LIMIT';
}

/** `AAPL  260320C00200000` is an option, `ESH26` a future: no share has a figure in its symbol. */
function assetClassOf(symbol: string): AssetClass {
  if (/^\/|^[A-Z0-9]{1,3}[FGHJKMNQUVXZ]\d{2}$/i.test(symbol)) return 'FUTURE';
  return /^[A-Za-z.]{1,6}\s*\d{6}[CP]\d{8}$/.test(symbol) ? 'OPTION' : 'EQUITY';
}

/** A leg of a multi-leg order: contracts of one symbol, negative to sell. Opens a position by default. */
export interface SpreadLeg {
  readonly symbol: string;
  readonly contracts: number;
  readonly closes?: boolean;
}

export interface SpreadOptions {
  /** Net price of a unit; a credit is negative. Without it the order is at the market. */
  readonly limit?: number;
  readonly timeInForce?: CreateOrderBody['timeInForce'];
  readonly goodTillDate?: string;
  readonly clientOrderId?: string;
  /** Reason for the order; stored with it. */
  readonly notes?: string;
  /** Records the order as REJECTED if the brokerage refuses it, instead of throwing. */
  readonly recordRefusal?: boolean;
  readonly idempotencyKey?: string;
}

/** The body of an order of several options on one underlying. */
export function spreadOf(
  strategy: NonNullable<CreateOrderBody['strategy']>,
  legs: readonly SpreadLeg[],
  { limit, timeInForce = 'DAY', goodTillDate, clientOrderId, notes, recordRefusal }: SpreadOptions = {},
): OrderBody {
  const told = legs.map(({ symbol, contracts, closes = false }) => ({
    optionSymbol: symbol,
    positionIntent: `${contracts > 0 ? 'BUY' : 'SELL'}_TO_${closes ? 'CLOSE' : 'OPEN'}` as const,
    quantity: Math.abs(contracts),
  }));
  // A roll, which closes and opens, is an opening order; a negative limit is a credit.
  const opens = legs.some(({ closes = false }) => !closes);
  const isCredit = limit !== undefined && limit < 0;
  const side = isCredit || told[0]?.positionIntent.startsWith('SELL') === true ? 'SELL' : 'BUY';
  return {
    symbol: (legs[0]?.symbol ?? '').replace(/\s*\d{6}[CP]\d{8}$/i, ''),
    assetClass: 'OPTION',
    orderType: limit === undefined ? 'MARKET' : 'LIMIT',
    positionIntent: `${side}_TO_${opens ? 'OPEN' : 'CLOSE'}`,
    timeInForce,
    strategy,
    legs: told,
    ...(limit !== undefined && { limitPrice: limit }),
    ...(goodTillDate !== undefined && { goodTillDate }),
    ...(clientOrderId !== undefined && { clientOrderId }),
    ...(notes !== undefined && { notes }),
    ...(recordRefusal !== undefined && { recordRefusal }),
  };
}
