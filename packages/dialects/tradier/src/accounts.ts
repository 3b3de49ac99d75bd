/** Accounts: profile, balances, positions, gains and losses, history. */
import { Money, Quantity, tradedBy } from '@sandpit/core';
import {
  type Book,
  booksOf,
  cashIn,
  cents,
  type PastEvent,
  slashedSymbol,
  uuidOf,
  words,
} from '@sandpit/dialect-port';
import { accountOf, answering, bookOf, symbolIn, type TradierCall } from './request.js';
import { unauthorizedAccount } from './refusals.js';
import { iso, items, oneOrMany } from './wire.js';

async function numbersOf(book: Book) {
  const numbers = await book.numbers();
  if (numbers === undefined) throw unauthorizedAccount(accountOf(book));
  return numbers;
}

/** `cash`, `margin`, or `pdt` under the pattern day trader rule. */
const typeOf = ({
  portfolioType,
  dayTradeRegime,
}: Readonly<Record<string, unknown>>): 'cash' | 'margin' | 'pdt' =>
  portfolioType === 'CASH' ? 'cash' : dayTradeRegime === 'LEGACY_PDT' ? 'pdt' : 'margin';

const CLASSIFICATIONS: Readonly<Record<string, string>> = {
  INDIVIDUAL: 'individual',
  IRA: 'traditional_ira',
  ROTH_IRA: 'roth_ira',
};

export const getProfile = answering([], 'profile', async (call) => {
  const accounts = [];
  let name = 'Sandpit';
  for (const book of booksOf(call)) {
    const { shown, isFrozen } = await numbersOf(book);
    name = shown.name ?? name;
    accounts.push({
      account_number: accountOf(book),
      classification: CLASSIFICATIONS[shown.accountType],
      date_created: iso(Date.parse(shown.createdAt)),
      day_trader: false,
      option_level: shown.portfolioType === 'MARGIN' ? 6 : 2,
      status: isFrozen ? 'frozen' : 'active',
      type: typeOf(shown),
      last_update_date: iso(Date.parse(shown.updatedAt)),
    });
  }
  const id = `id-${uuidOf(call.desk.simulationId).slice(0, 8)}`;
  return { id, name, ...(accounts.length > 0 && { account: oneOrMany(accounts) }) };
});

async function balancesOf(book: Book): Promise<object> {
  const params = { portfolioId: book.portfolioId };
  const { shown } = await numbersOf(book);
  const margin = await book.run('getPortfolioMargin', { params });
  const stocks = await book.run('listEquityPositions', { params });
  const options = await book.run('listOptionPositions', { params });
  const sum = (values: readonly number[], sign = 0): number =>
    cents(values.filter((value) => sign === 0 || Math.sign(value) === sign).reduce((a, b) => a + b, 0));
  const optionValues = options.map(({ marketValue }) => marketValue);
  const stockValues = stocks.map(({ marketValue }) => marketValue);
  const today = book.calendar.dateOf(book.now());
  const closed = await book.run('listTrades', { params, query: { from: today, to: today, limit: '500' } });
  const cash = cents(shown.settledCash + shown.pendingCash + shown.reservedCash - shown.marginLoan);
  const type = typeOf(shown);
  const due = (isFed: boolean): number =>
    sum(
      margin.calls
        .filter((one) => (one.type === 'REG_T') === isFed)
        .map((one) => one.amountDue ?? one.amount),
    );
  const leveraged = {
    fed_call: due(true),
    maintenance_call: due(false),
    option_buying_power: shown.settledCash,
    stock_buying_power: shown.overnightBuyingPower,
    stock_short_value: sum(stockValues, -1),
    sweep: 0,
  };
  const groups = margin.groups.filter(({ legs }) => legs.some(({ symbol }) => symbol.length > 10));
  return {
    account_number: accountOf(book),
    account_type: type,
    close_pl: sum(closed.data.map(({ netPnl }) => netPnl)),
    open_pl: sum([...stocks.map((one) => one.unrealizedPnl), ...options.map((one) => one.unrealizedPnL)]),
    current_requirement: margin.maintenanceRequirement,
    equity: shown.totalEquity,
    long_market_value: shown.longMarketValue,
    short_market_value: cents(0 - shown.shortMarketValue),
    market_value: cents(shown.longMarketValue - shown.shortMarketValue),
    option_long_value: sum(optionValues, 1),
    option_short_value: sum(optionValues, -1),
    option_requirement: sum(groups.map(({ maintenance }) => maintenance)),
    stock_long_value: sum(stockValues, 1),
    pending_cash: shown.reservedCash,
    pending_orders_count: (await book.orders.open()).length,
    uncleared_funds: 0,
    total_cash: cash,
    total_equity: shown.totalEquity,
    ...(type === 'cash' && {
      cash: { cash_available: shown.settledCash, sweep: 0, unsettled_funds: shown.pendingCash },
    }),
    ...(type === 'margin' && { margin: leveraged }),
    ...(type === 'pdt' && { pdt: { ...leveraged, day_trade_buying_power: shown.dayTradeBuyingPower } }),
  };
}

async function positionsOf(book: Book): Promise<object | 'null'> {
  const params = { portfolioId: book.portfolioId };
  const stocks = (await book.run('listEquityPositions', { params })).map((one) => {
    const quantity = Math.round((one.settledQuantity + one.pendingQuantity) * 1e6) / 1e6;
    return { symbol: one.symbol, quantity, cost: Math.sign(quantity) * one.costBasis };
  });
  const options = (await book.run('listOptionPositions', { params })).map((one) => ({
    symbol: one.optionSymbol,
    quantity: one.quantity,
    cost: one.marketValue - one.unrealizedPnL,
  }));
  const held = book.portfolio()?.positions;
  return items(
    'position',
    [...stocks, ...options].map(({ symbol, quantity, cost }) => {
      const [first] = held?.get(symbol)?.lots ?? [];
      return {
        cost_basis: cents(cost),
        date_acquired: iso(first?.openedAt ?? book.now()),
        id: first?.lotId ?? 0,
        quantity,
        symbol: slashedSymbol(symbol),
      };
    }),
  );
}

const PAGED = ['page', 'limit'];

/** One page of rows. */
function pageOf<Row>({ fields }: TradierCall, rows: readonly Row[], size: number) {
  const limit = fields.integer('limit', 1, 1000) ?? size;
  const page = fields.integer('page', 1, 1_000_000) ?? 1;
  return { page, limit, rows: rows.slice((page - 1) * limit, page * limit) };
}

const isAbout = (symbol: string, wanted: string | undefined): boolean =>
  wanted === undefined || symbol === symbolIn(wanted);

async function gainLossOf(call: TradierCall, book: Book): Promise<object | 'null'> {
  const { fields } = call;
  const [start, end] = [fields.date('start'), fields.date('end')];
  const sortBy = fields.choice('sortBy', ['closeDate', 'openDate', 'closedate', 'opendate']) ?? 'closedate';
  const isAscending = fields.choice('sort', ['asc', 'desc']) === 'asc';
  const thisYear = Number(book.calendar.dateOf(book.now()).slice(0, 4));
  const first = Number((start ?? String(thisYear - 1)).slice(0, 4));
  const rows = [];
  for (let year = Math.max(first, thisYear - 20); year <= thisYear; year++) {
    for (let page = 1; ; page++) {
      const query = { year: String(year), page: String(page), limit: '500' };
      const params = { portfolioId: book.portfolioId };
      const { data, pagination } = await book.run('listRealizedGains', { params, query });
      rows.push(...data);
      if (page >= pagination.totalPages) break;
    }
  }
  const shown = rows
    .filter((one) => isAbout(one.symbol, fields.text('symbol')))
    .filter(({ soldAt }) => (start === undefined || soldAt >= start) && (end === undefined || soldAt <= end))
    .map(({ symbol, quantity, acquiredAt, soldAt, proceeds, costBasis }) => ({
      close_date: `${soldAt}T00:00:00.000Z`,
      cost: costBasis,
      gain_loss: cents(proceeds - costBasis),
      gain_loss_percent: costBasis === 0 ? 0 : cents(((proceeds - costBasis) / costBasis) * 100),
      open_date: `${acquiredAt}T00:00:00.000Z`,
      proceeds,
      quantity,
      symbol: slashedSymbol(symbol),
      term: Math.round((Date.parse(soldAt) - Date.parse(acquiredAt)) / 86_400_000),
    }));
  const key = sortBy.toLowerCase() === 'opendate' ? 'open_date' : 'close_date';
  shown.sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) * (isAscending ? 1 : -1));
  return items('closed_position', pageOf(call, shown, 100).rows);
}

/** Types of history events, by those of ledger entries; trades and ends of options have their own objects. */
const HISTORY: Readonly<Record<string, string>> = {
  INITIAL_CASH: 'journal',
  PROMOTIONAL_CASH: 'journal',
  RESET: 'journal',
  IMPORT: 'transfer',
  TRANSFER: 'ach',
  WITHDRAWAL: 'ach',
  DIVIDEND: 'dividend',
  CASH_IN_LIEU: 'dividend',
  MERGER: 'adjustment',
  DELISTING: 'adjustment',
  INTEREST: 'interest',
  BORROW_FEE: 'fee',
  FEE: 'fee',
  COMMISSION: 'fee',
};
const HISTORY_TYPES = words(
  'trade option ach wire dividend fee tax journal check transfer adjustment interest',
);
const OPTION_EVENTS: Readonly<Record<string, string>> = {
  EXERCISED: 'exercise',
  ASSIGNED: 'assignment',
  EXPIRED: 'expired',
};
const MONEY = 1e4;

interface HistoryRow {
  readonly type: string;
  readonly symbol: string;
  readonly date: string;
  readonly amount: number;
  readonly [detail: string]: unknown;
}

async function historyRows(past: PastEvent, book: Book): Promise<readonly HistoryRow[]> {
  const { data, at } = past;
  const date = iso(at);
  if (data.type === 'OrderExecuted') {
    const { terms } = await past.order();
    if (terms.assetClass === 'FUTURE') return [];
    return data.executions.map((execution) => {
      const { symbol, positionIntent } = tradedBy(terms, execution);
      const isBuy = positionIntent.startsWith('BUY');
      const size = Number(Quantity.format(execution.quantity));
      const trade = {
        commission: Number(Money.format(execution.commission ?? Money.zero)),
        description: symbol,
        price: execution.price / 1e8,
        quantity: isBuy ? size : -size,
        symbol: slashedSymbol(symbol),
        trade_type: terms.assetClass === 'OPTION' ? 'Option' : 'Equity',
      };
      const value = (execution.cash ?? execution.value) / MONEY;
      return { type: 'trade', symbol, date, amount: cents(isBuy ? -value : value), trade };
    });
  }
  if (data.type === 'OptionEnded') {
    const option = {
      description: past.describe(),
      option_type: OPTION_EVENTS[data.act] ?? 'expired',
      quantity: Number(Quantity.format(data.quantity)),
    };
    return [
      { type: 'option', symbol: data.symbol, date, amount: cents(cashIn(data.entries) / MONEY), option },
    ];
  }
  if (data.type !== 'LedgerPosted' && data.type !== 'PositionsImported' && data.type !== 'PositionConverted')
    return [];
  return data.entries.flatMap((entry) => {
    const amount = cents(cashIn([entry]) / MONEY);
    const type = HISTORY[entry.type];
    if (type === undefined || amount === 0) return [];
    const detail = { description: book.events.describeEntry(entry, at), quantity: 0 };
    return [{ type, symbol: entry.about?.symbol ?? '', date, amount, [type]: detail }];
  });
}

async function historyOf(call: TradierCall, book: Book): Promise<object | 'null'> {
  const { fields } = call;
  const type = fields.choice('type', HISTORY_TYPES);
  const { calendar } = book;
  const [start, end] = [fields.date('start'), fields.date('end')];
  const range = {
    ...(start !== undefined && { from: calendar.instantOf(start, 0, 0) }),
    ...(end !== undefined && { to: calendar.instantOf(end, 24, 0) }),
  };
  const rows: object[] = [];
  for await (const events of book.events.byRecord(range, false))
    for (const event of events.toReversed())
      for (const { symbol, ...row } of (await historyRows(event, book)).toReversed())
        if ((type === undefined || row.type === type) && isAbout(symbol, fields.text('symbol')))
          rows.push(row);
  const { page, limit, rows: shown } = pageOf(call, rows, 25);
  if (rows.length === 0) return 'null';
  return {
    event: oneOrMany(shown),
    page,
    total_pages: Math.ceil(rows.length / limit),
    total_events: rows.length,
  };
}

const GAINS = [...PAGED, 'sortBy', 'sort', 'start', 'end', 'symbol'];
const EVENTS = [...PAGED, 'type', 'start', 'end', 'symbol', 'exactMatch'];

type Part = (call: TradierCall, book: Book) => Promise<unknown>;

/** A part of one account, and the same of all accounts of a credential. */
const part = (name: string, known: readonly string[], read: Part) => ({
  one: answering(known, name, (call) => read(call, bookOf(call))),
  all: answering(known, 'accounts', async (call) => {
    const accounts = [];
    for (const book of booksOf(call))
      accounts.push({ account_number: accountOf(book), [name]: await read(call, book) });
    return items('account', accounts);
  }),
});

export const balances = part('balances', [], (_call, book) => balancesOf(book));
export const positions = part('positions', [], (_call, book) => positionsOf(book));
export const gainLoss = part('gainloss', GAINS, gainLossOf);
export const history = part('history', EVENTS, historyOf);
