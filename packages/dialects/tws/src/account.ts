/** The account: its number, its values, its positions and its profit. */
import { type Instrument, Money, sideOf, tradedBy } from '@sandpit/core';
import type { Book } from '@sandpit/dialect-port';
import { type Field, UNSET_DOUBLE } from './codec.js';
import { contractFields, heldFields } from './contracts.js';
import { profitOf } from './order-out.js';

/** `DU` and the number of the portfolio in its simulation. */
export const accountOf = (book: Book): string =>
  `DU${String(book.portfolio()?.terms.number ?? 0).padStart(7, '0')}`;

/** A value of the account; without a currency it is not money. */
export interface AccountValue {
  readonly key: string;
  readonly value: string;
  readonly currency: '' | 'USD' | 'BASE';
}

/** Tags that also exist for all hours and for the next change of requirements. */
const TWINS = ['InitMarginReq', 'MaintMarginReq', 'AvailableFunds', 'ExcessLiquidity'] as const;

const money = (value: number): string => value.toFixed(2);

/** Values of the account as a whole, in the order of their names. */
export async function valuesOf(book: Book): Promise<readonly AccountValue[]> {
  const numbers = await book.numbers();
  if (numbers === undefined) return [];
  const { shown } = numbers;
  const margin = await book.run('getPortfolioMargin', { params: { portfolioId: book.portfolioId } });
  const cash = shown.settledCash + shown.pendingCash + shown.reservedCash - shown.marginLoan;
  const options = (
    await book.run('listOptionPositions', { params: { portfolioId: book.portfolioId } })
  ).reduce((sum, { marketValue }) => sum + marketValue, 0);
  const withLoan = shown.totalEquity - options;
  const initial = margin.initialRequirement;
  const maintenance = margin.maintenanceRequirement;
  const gross = shown.longMarketValue + shown.shortMarketValue;
  const previous = (numbers.previousClose?.totalEquity ?? Money.zero) / 1e4;
  const plain: Record<string, number> = {
    AccruedCash: 0 - margin.accruedInterest,
    AvailableFunds: withLoan - initial,
    BuyingPower: shown.overnightBuyingPower,
    EquityWithLoanValue: withLoan,
    ExcessLiquidity: margin.maintenanceExcess,
    GrossPositionValue: gross,
    InitMarginReq: initial,
    MaintMarginReq: maintenance,
    NetLiquidation: shown.totalEquity,
    PreviousDayEquityWithLoanValue: previous,
    RegTEquity: withLoan,
    RegTMargin: shown.fedRequirement,
    SMA: shown.smaBalance,
    SettledCash: shown.settledCash + shown.reservedCash - shown.marginLoan,
    TotalCashValue: cash,
  };
  for (const name of TWINS)
    for (const prefix of ['Full', 'LookAhead']) plain[prefix + name] = plain[name] ?? 0;
  const equity = shown.totalEquity;
  const others: Record<string, string> = {
    AccountType: shown.accountType,
    Cushion: (equity > 0 ? margin.maintenanceExcess / equity : 0).toFixed(6),
    DayTradesRemaining: '-1',
    Leverage: (equity > 0 ? gross / equity : 0).toFixed(2),
    LookAheadNextChange: '0',
  };
  return [
    ...Object.entries(plain).map(([key, value]): AccountValue => ({
      key,
      value: money(value),
      currency: 'USD',
    })),
    ...Object.entries(others).map(([key, value]): AccountValue => ({ key, value, currency: '' })),
  ].sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Values of the account by currency, which are the same in its base currency. */
export async function ledgerOf(
  book: Book,
  holdings: readonly Holding[],
  realized: number,
): Promise<readonly AccountValue[]> {
  const numbers = await book.numbers();
  if (numbers === undefined) return [];
  const { settledCash, pendingCash, reservedCash, marginLoan, totalEquity } = numbers.shown;
  const cash = settledCash + pendingCash + reservedCash - marginLoan;
  const valueIn = (assetClass: Instrument['assetClass']): number =>
    holdings
      .filter(({ instrument }) => instrument.assetClass === assetClass)
      .reduce((sum, one) => sum + one.marketValue, 0);
  const figures: Record<string, number> = {
    CashBalance: cash,
    FutureMarketValue: valueIn('FUTURE'),
    NetLiquidationByCurrency: totalEquity,
    OptionMarketValue: valueIn('OPTION'),
    RealizedPnL: realized,
    StockMarketValue: valueIn('EQUITY'),
    TotalCashBalance: cash,
    UnrealizedPnL: holdings.reduce((sum, one) => sum + one.unrealized, 0),
  };
  return (['BASE', 'USD'] as const).flatMap((currency) => [
    ...Object.entries(figures).map(([key, value]): AccountValue => ({ key, value: money(value), currency })),
    { key: 'Currency', value: currency, currency },
    { key: 'ExchangeRate', value: '1.00', currency },
  ]);
}

/** A position with its figures, in dollars. */
interface Holding {
  readonly instrument: Instrument;
  readonly quantity: number;
  readonly price: number;
  readonly marketValue: number;
  /** Of one share or contract, with the multiplier. */
  readonly averageCost: number;
  readonly unrealized: number;
}

export async function holdingsOf(book: Book): Promise<readonly Holding[]> {
  const params = { portfolioId: book.portfolioId };
  const found: Holding[] = [];
  const add = (symbol: string, holding: Omit<Holding, 'instrument'>): void => {
    const instrument = book.instrument(symbol);
    if (instrument !== undefined && holding.quantity !== 0) found.push({ instrument, ...holding });
  };
  for (const one of await book.run('listEquityPositions', { params })) {
    const quantity = Math.round((one.settledQuantity + one.pendingQuantity) * 1e6) / 1e6;
    const { symbol, price, marketValue, entryPrice, unrealizedPnl } = one;
    add(symbol, {
      quantity,
      price,
      marketValue,
      averageCost: Math.abs(entryPrice),
      unrealized: unrealizedPnl,
    });
  }
  for (const one of await book.run('listOptionPositions', { params })) {
    const { optionSymbol, quantity, lastPrice, marketValue, unrealizedPnL } = one;
    const averageCost = quantity === 0 ? 0 : (marketValue - unrealizedPnL) / quantity;
    add(optionSymbol, { quantity, price: lastPrice, marketValue, averageCost, unrealized: unrealizedPnL });
  }
  for (const one of await book.run('listFuturePositions', { params })) {
    const { symbol, quantity, lastPrice, notionalValue, entryPrice, multiplier, openTradePnl } = one;
    const marketValue = Math.sign(quantity) * Math.abs(notionalValue);
    add(symbol, {
      quantity,
      price: lastPrice,
      marketValue,
      averageCost: entryPrice * multiplier,
      unrealized: openTradePnl,
    });
  }
  return found;
}

const text = (value: number): string => String(Math.round(value * 1e8) / 1e8);

/** Fields of PORTFOLIO_VALUE. */
export const portfolioFields = (one: Holding, account: string): readonly Field[] => [
  ...heldFields(one.instrument),
  text(one.quantity),
  ...[one.price, one.marketValue, one.averageCost, one.unrealized].map(text),
  0,
  account,
];

/** Fields of POSITION behind the account. */
export const positionFields = ({ instrument, quantity, averageCost }: Holding): readonly Field[] => [
  ...contractFields(instrument),
  text(quantity),
  text(averageCost),
];

/** Profit of executions of today that closed positions, after charges. */
export async function realizedToday(book: Book): Promise<number> {
  const { calendar } = book;
  const from = calendar.instantOf(calendar.dateOf(book.now()), 0, 0);
  let sum = 0;
  for await (const events of book.events.byRecord({ from }, true))
    for (const past of events) {
      if (
        past.data.type !== 'OrderExecuted' ||
        past.data.executions.every(({ closed }) => closed === undefined)
      )
        continue;
      const { terms } = await past.order();
      for (const one of past.data.executions)
        sum += profitOf(one, sideOf(tradedBy(terms, one).positionIntent) === 'SELL') ?? 0;
    }
  return Math.round(sum * 100) / 100;
}

/** Profit of the day, unrealized, and realized today. */
export async function profitFields(book: Book, realized: number): Promise<readonly Field[]> {
  const numbers = await book.numbers();
  if (numbers === undefined) return [UNSET_DOUBLE, UNSET_DOUBLE, UNSET_DOUBLE];
  const { previousClose, shown } = numbers;
  const holdings = await holdingsOf(book);
  const unrealized = holdings.reduce((sum, one) => sum + one.unrealized, 0);
  const base = previousClose && (previousClose.totalEquity + (previousClose.transferred ?? 0)) / 1e4;
  const daily = base === undefined ? unrealized + realized : shown.totalEquity - base;
  return [daily, unrealized, realized].map(text);
}
