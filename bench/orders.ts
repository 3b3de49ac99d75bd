/** The made-up market that measurements trade in: so many symbols, so many portfolios with more money than they can spend. */
import { calendarById, Instant, KnownInstruments, Money, Price, Quantity } from '@sandpit/core';
import type { Command, Equity, OrderRequest, Quote, Requester, Rules } from '@sandpit/core';
import { loadBrokers } from '../packages/server/dist/brokers/load-brokers.js';

/** Monday 2026-01-05, 10:00 New York. */
export const MONDAY_TEN = Instant.ofMs(Date.parse('2026-01-05T10:00:00-05:00'));

export const TENANT = 'bench';
export const BY: Requester = { tier: 'ENTERPRISE' };
export const INITIAL_DOLLARS = 1_000_000_000;

const ACCOUNT = '11111111-1111-4111-8111-111111111111';

const SYMBOLS = Array.from({ length: 10_000 }, (_, index) => `S${String(index).padStart(4, '0')}`);

export const symbolOf = (index: number): string => SYMBOLS[index] ?? '';

/** Rules of the default broker, over listed symbols. */
export async function rulesFor(symbols: number): Promise<Rules> {
  const brokers = await loadBrokers(undefined);
  const instruments = Array.from({ length: symbols }, (_, index) => equity(symbolOf(index)));
  return {
    calendar: calendarById('XNYS'),
    brokers: new Map(brokers.map((broker) => [broker.id, broker])),
    instruments: new KnownInstruments({ instruments }),
    quoteMaxAgeMs: undefined,
    marketCollarBps: 500,
    portfolioMarginEquity: Money.ofDollars(110_000),
    riskFreeRate: 0.04,
  };
}

const equity = (symbol: string): Equity => ({
  assetClass: 'EQUITY',
  symbol,
  name: symbol,
  leverageFactor: 1,
  shortable: true,
  borrowRateAnnual: 0.003,
  averageDailyVolume: 50_000_000,
  dailyVolatility: 0.02,
});

/** 99.99 bid, 100.01 ask, unlimited sizes; `cents` moves all of it. */
export const quoteOf = (symbol: string, at: Instant, cents = 0): Quote => ({
  symbol,
  bid: Price.ofUnits((9999 + cents) * 1_000_000),
  ask: Price.ofUnits((10_001 + cents) * 1_000_000),
  last: Price.ofUnits((10_000 + cents) * 1_000_000),
  at,
});

export const openPortfolio = (): Extract<Command, { type: 'OpenPortfolio' }> => ({
  type: 'OpenPortfolio',
  by: BY,
  accountId: ACCOUNT,
  portfolioType: 'CASH',
  accountType: 'INDIVIDUAL',
  brokerId: 'default',
  fillModel: 'quote',
  initialCash: Money.ofDollars(INITIAL_DOLLARS),
  proAccounts: 10,
});

export const submitOrder = (order: OrderRequest): Extract<Command, { type: 'SubmitOrder' }> => ({
  type: 'SubmitOrder',
  by: BY,
  order,
});

type Terms = Pick<OrderRequest, 'portfolioId' | 'symbol'>;

/** Ten shares at the market: fills at once. */
const marketOrder = (
  of: Terms,
  positionIntent: 'BUY_TO_OPEN' | 'SELL_TO_OPEN' | 'SELL_TO_CLOSE',
): OrderRequest => ({
  portfolioId: of.portfolioId,
  symbol: of.symbol,
  assetClass: 'EQUITY',
  orderType: 'MARKET',
  positionIntent,
  quantity: Quantity.of(10),
  timeInForce: 'DAY',
});

/** One share at a limit that the market is away from: rests. */
export const restingOrder = (
  of: Terms,
  positionIntent: 'BUY_TO_OPEN' | 'SELL_TO_CLOSE' = 'BUY_TO_OPEN',
  cents = 0,
): OrderRequest => ({
  portfolioId: of.portfolioId,
  symbol: of.symbol,
  assetClass: 'EQUITY',
  orderType: 'LIMIT',
  positionIntent,
  quantity: Quantity.of(1),
  timeInForce: 'GTC',
  limitPrice: Price.ofUnits((positionIntent === 'BUY_TO_OPEN' ? 5000 - cents : 20_000 + cents) * 1_000_000),
});

/** Orders that fill at once, in rotation: a purchase, then its sale. */
export const fillingOrder = (of: Terms, turn: number): OrderRequest =>
  marketOrder(of, turn % 2 === 0 ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE');
