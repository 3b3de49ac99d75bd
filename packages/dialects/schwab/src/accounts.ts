/** Accounts: numbers, balances, positions, and the preferences of the user. */
import { Money, type Portfolio } from '@sandpit/core';
import {
  type Book,
  booksOf,
  cents,
  dayFigures,
  type Numbers,
  profitOfDay,
  rounded,
  uuidOf,
} from '@sandpit/dialect-port';
import { invalid, refused } from './refusals.js';
import { accountNumberOf, accountOf, answering, bookOf, hashOf, type SchwabCall } from './request.js';
import { instrumentShape } from './symbols.js';

export const getAccountNumbers = answering([], (call) =>
  Promise.resolve(
    booksOf(call).map((book) => ({ accountNumber: accountOf(book), hashValue: hashOf(book.portfolioId) })),
  ),
);

type Figures = Readonly<Record<string, number | boolean>>;

/** Equity at the last close before today, or at the opening if that came later. */
function equityBefore({ previousClose, terms }: Numbers, book: Book): number {
  const today = book.calendar.dateOf(book.now());
  const close =
    previousClose !== undefined && previousClose.date >= today ? previousClose.before : previousClose;
  return Number(Money.format(close?.totalEquity ?? terms.initialCash));
}

interface Holding {
  readonly symbol: string;
  readonly quantity: number;
  readonly settled: number;
  readonly price: number;
  readonly averagePrice: number;
  readonly marketValue: number;
  readonly profit: number;
}

async function holdingsOf(book: Book): Promise<readonly Holding[]> {
  const params = { portfolioId: book.portfolioId };
  const stocks = await book.run('listEquityPositions', { params });
  const options = await book.run('listOptionPositions', { params });
  return [
    ...stocks.map((one) => ({
      symbol: one.symbol,
      quantity: rounded(one.settledQuantity + one.pendingQuantity, 6),
      settled: one.settledQuantity,
      price: one.price,
      averagePrice: one.entryPrice,
      marketValue: one.marketValue,
      profit: one.unrealizedPnl,
    })),
    ...options.map((one) => ({
      symbol: one.optionSymbol,
      quantity: one.quantity,
      settled: one.quantity,
      price: one.lastPrice,
      averagePrice: one.averageCost,
      marketValue: one.marketValue,
      profit: one.unrealizedPnL,
    })),
  ];
}

/** Quantity of a position at the beginning of today, from its lots. */
function heldBefore(portfolio: Portfolio | undefined, book: Book, symbol: string): number {
  const midnight = book.calendar.instantOf(book.calendar.dateOf(book.now()), 0, 0);
  const lots = portfolio?.positions.get(symbol)?.lots ?? [];
  return lots.reduce((sum, lot) => sum + (lot.openedAt < midnight ? lot.quantity : 0), 0) / 1e6;
}

async function positionShape(book: Book, holding: Holding): Promise<object> {
  const { symbol, quantity, settled, averagePrice, marketValue, profit, price } = holding;
  const isLong = quantity > 0;
  const long = (value: number): number => (isLong ? value : 0);
  const short = (value: number): number => (isLong ? 0 : value);
  const last = (await dayFigures(book, symbol)).previousClose;
  const day = profitOfDay(book, symbol, marketValue, last ?? price);
  const before = heldBefore(book.portfolio(), book, symbol);
  return {
    shortQuantity: short(-quantity),
    averagePrice,
    currentDayProfitLoss: cents(day.profit),
    currentDayProfitLossPercentage: day.base === 0 ? 0 : cents((day.profit / day.base) * 100),
    longQuantity: long(quantity),
    settledLongQuantity: long(settled),
    settledShortQuantity: short(settled),
    instrument: instrumentShape(book, symbol),
    marketValue: cents(marketValue),
    averageLongPrice: long(averagePrice),
    averageShortPrice: short(averagePrice),
    taxLotAverageLongPrice: long(averagePrice),
    taxLotAverageShortPrice: short(averagePrice),
    longOpenProfitLoss: long(cents(profit)),
    shortOpenProfitLoss: short(cents(profit)),
    previousSessionLongQuantity: Math.max(0, before),
    previousSessionShortQuantity: Math.max(0, -before),
    currentDayCost: cents(Math.abs(quantity - before) * averagePrice),
  };
}

/** Round trips in five days that make a pattern day trader. */
const PATTERN_DAY_TRADES = 4;

/** First of the last five trading days, in which round trips count. */
function windowStart(book: Book): string {
  const { calendar } = book;
  let date = calendar.plusBusinessDays(calendar.dateOf(book.now()), 0);
  for (let i = 0; i < 4; i++) date = calendar.previousTradingDay(date);
  return date;
}

async function accountShape(call: SchwabCall, book: Book): Promise<object> {
  const withPositions = wantsPositions(call);
  const numbers = await book.numbers();
  if (numbers === undefined) throw refused(call.head, 404, 'No such account');
  const { shown, isFrozen } = numbers;
  const params = { portfolioId: book.portfolioId };
  const margin = await book.run('getPortfolioMargin', { params });
  const holdings = await holdingsOf(book);
  const trades = await book.run('listDayTrades', { params, query: { from: windowStart(book), limit: '1' } });
  const isMargin = shown.portfolioType === 'MARGIN';
  const sum = (isOption: boolean, sign: number): number =>
    cents(
      holdings
        .filter((one) => one.symbol.length > 10 === isOption && Math.sign(one.quantity) === sign)
        .reduce((total, { marketValue }) => total + marketValue, 0),
    );
  const due = (isFed: boolean): number =>
    cents(
      margin.calls
        .filter((one) => (one.type === 'REG_T') === isFed)
        .reduce((total, one) => total + (one.amountDue ?? one.amount), 0),
    );
  const cash = cents(shown.settledCash + shown.pendingCash + shown.reservedCash);
  const equity = shown.totalEquity;
  const available = cents(Math.max(0, equity - margin.maintenanceRequirement));
  const values = {
    accruedInterest: 0,
    cashBalance: cash,
    cashReceipts: 0,
    longOptionMarketValue: sum(true, 1),
    liquidationValue: equity,
    longMarketValue: sum(false, 1),
    moneyMarketFund: 0,
    savings: 0,
    shortMarketValue: sum(false, -1),
    pendingDeposits: 0,
    mutualFundValue: 0,
    bondValue: 0,
    shortOptionMarketValue: sum(true, -1),
  };
  const marginValues = {
    availableFunds: isMargin ? available : shown.settledCash,
    availableFundsNonMarginableTrade: shown.settledCash,
    buyingPower: shown.overnightBuyingPower,
    buyingPowerNonMarginableTrade: shown.settledCash,
    dayTradingBuyingPower: shown.dayTradeBuyingPower,
    dayTradingBuyingPowerCall: 0,
    equity,
    equityPercentage: shown.longMarketValue === 0 ? 100 : cents((equity / shown.longMarketValue) * 100),
    longMarginValue: sum(false, 1),
    maintenanceCall: due(false),
    maintenanceRequirement: margin.maintenanceRequirement,
    marginBalance: cents(0 - shown.marginLoan),
    regTCall: due(true),
    shortBalance: Math.abs(values.shortMarketValue),
    shortMarginValue: values.shortMarketValue,
    sma: shown.smaBalance,
    isInCall: shown.marginCallActive,
    stockBuyingPower: shown.overnightBuyingPower,
    optionBuyingPower: shown.settledCash,
  };
  const cashValues = {
    cashAvailableForTrading: shown.settledCash,
    cashAvailableForWithdrawal: shown.settledCash,
    cashCall: 0,
    longNonMarginableMarketValue: values.longMarketValue,
    totalCash: cash,
    cashDebitCallValue: 0,
    unsettledCash: shown.pendingCash,
  };
  const before = equityBefore(numbers, book);
  const current: Figures = isMargin ? { ...values, ...marginValues } : { ...values, ...cashValues };
  return {
    securitiesAccount: {
      type: isMargin ? 'MARGIN' : 'CASH',
      accountNumber: accountOf(book),
      roundTrips: trades.pagination.total,
      isDayTrader: shown.dayTradeRegime === 'LEGACY_PDT' && trades.pagination.total >= PATTERN_DAY_TRADES,
      isClosingOnlyRestricted: isFrozen || shown.marginCallActive,
      pfcbFlag: false,
      ...(withPositions && {
        positions: await Promise.all(holdings.map((holding) => positionShape(book, holding))),
      }),
      initialBalances: {
        ...current,
        equity: before,
        liquidationValue: before,
        accountValue: before,
        longStockValue: values.longMarketValue,
        shortStockValue: values.shortMarketValue,
        ...(isMargin && { margin: marginValues.marginBalance, marginEquity: before }),
        totalCash: cash,
        unsettledCash: shown.pendingCash,
        cashAvailableForTrading: shown.settledCash,
      },
      currentBalances: current,
      projectedBalances: isMargin
        ? marginValues
        : { cashAvailableForTrading: shown.settledCash, cashAvailableForWithdrawal: shown.settledCash },
    },
    aggregatedBalance: { currentLiquidationValue: equity, liquidationValue: equity },
  };
}

/** True if a request asks for positions. */
function wantsPositions({ fields, head }: SchwabCall): boolean {
  const parts = fields.list('fields').map((part) => part.toLowerCase());
  if (parts.some((part) => part !== 'positions')) throw invalid(head, 'fields', 'must be positions');
  return parts.length > 0;
}

export const listAccounts = answering(['fields'], async (call) => {
  const accounts = [];
  for (const book of booksOf(call)) accounts.push(await accountShape(call, book));
  return accounts;
});

export const getAccount = answering(['fields'], (call) => accountShape(call, bookOf(call)));

/** Where the streamer is: on the host that was asked. */
function streamerUrl({ head }: SchwabCall): string {
  const host = String(head.headers['host'] ?? 'localhost');
  if (/(?:^|\.)schwabapi\.com(?::\d+)?$/i.test(host)) return 'wss://api.schwabapi.com/ws';
  const isTls = String(head.headers['x-forwarded-proto'] ?? '').startsWith('https');
  return `${isTls ? 'wss' : 'ws'}://${host}/schwab/ws`;
}

/** Ids by which streams name the user; not credentials. */
export const customerIdOf = (simulationId: string): string => uuidOf(`schwab customer ${simulationId}`);

export const getUserPreference = answering([], (call) =>
  Promise.resolve({
    accounts: booksOf(call).map((book, i) => {
      const terms = book.portfolio()?.terms;
      return {
        accountNumber: accountNumberOf(terms?.number ?? 0),
        primaryAccount: i === 0,
        type: 'BROKERAGE',
        nickName: `Sandpit ${terms?.number ?? 0}`,
        accountColor: 'Green',
        displayAcctId: `...${accountNumberOf(terms?.number ?? 0).slice(-3)}`,
        autoPositionEffect: false,
      };
    }),
    streamerInfo: [
      {
        streamerSocketUrl: streamerUrl(call),
        schwabClientCustomerId: customerIdOf(call.desk.simulationId),
        schwabClientCorrelId: uuidOf(`schwab correlation ${call.desk.simulationId}`),
        schwabClientChannel: 'N9',
        schwabClientFunctionId: 'APIAPP',
      },
    ],
    offers: [{ level2Permissions: false, mktDataPermission: 'NP' }],
  }),
);
