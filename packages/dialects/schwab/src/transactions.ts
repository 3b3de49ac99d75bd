/** Transactions: trades, ends of options, and cash. */
import { Money, tradedBy } from '@sandpit/core';
import type { PositionConverted } from '@sandpit/core';
import { type Book, cashIn, optionParts, type PastEvent } from '@sandpit/dialect-port';
import { invalid, refused } from './refusals.js';
import { accountOf, answering, bookOf, type SchwabCall, timeIn } from './request.js';
import { instrumentIn, instrumentShape } from './symbols.js';
import { cents, instrumentIdOf, orderTime } from './wire.js';

const TYPES = [
  'TRADE',
  'RECEIVE_AND_DELIVER',
  'DIVIDEND_OR_INTEREST',
  'ACH_RECEIPT',
  'ACH_DISBURSEMENT',
  'CASH_RECEIPT',
  'CASH_DISBURSEMENT',
  'ELECTRONIC_FUND',
  'WIRE_OUT',
  'WIRE_IN',
  'JOURNAL',
  'MEMORANDUM',
  'MARGIN_CALL',
  'MONEY_MARKET',
  'SMA_ADJUSTMENT',
] as const;
type Type = (typeof TYPES)[number];

/** Types of ledger entries; trades, their charges and ends of options are in their own transactions. */
const ENTRY_TYPES: Readonly<
  Record<string, 'JOURNAL' | 'CASH' | 'DIVIDEND_OR_INTEREST' | 'RECEIVE_AND_DELIVER'>
> = {
  INITIAL_CASH: 'JOURNAL',
  PROMOTIONAL_CASH: 'JOURNAL',
  RESET: 'JOURNAL',
  IMPORT: 'JOURNAL',
  FEE: 'JOURNAL',
  TRANSFER: 'CASH',
  WITHDRAWAL: 'CASH',
  DIVIDEND: 'DIVIDEND_OR_INTEREST',
  CASH_IN_LIEU: 'DIVIDEND_OR_INTEREST',
  MERGER: 'RECEIVE_AND_DELIVER',
  DELISTING: 'RECEIVE_AND_DELIVER',
  INTEREST: 'DIVIDEND_OR_INTEREST',
  BORROW_FEE: 'DIVIDEND_OR_INTEREST',
};
const FEES: Readonly<Record<string, string>> = {
  SEC: 'SEC_FEE',
  TAF: 'TAF_FEE',
  ORF: 'OPT_REG_FEE',
};

interface Transaction {
  readonly activityId: number;
  readonly type: Type;
  readonly [field: string]: unknown;
}
type Row = Omit<Transaction, 'activityId'> & { readonly type: Type; readonly symbol?: string };

const dollars = (money: Money): number => Number(Money.format(money));
const CURRENCY = {
  assetType: 'CURRENCY',
  symbol: 'CURRENCY_USD',
  description: 'USD currency',
  cusip: '',
  instrumentId: 1,
};
const settledOn = (date: string | undefined, at: number): string =>
  date === undefined ? orderTime(at) : `${date}T00:00:00+0000`;

async function rowsOf(book: Book, past: PastEvent): Promise<readonly Row[]> {
  const { data, at } = past;
  const isMargin = book.portfolio()?.account.portfolioType === 'MARGIN';
  const row = (type: Type, netAmount: number, description: string, more: object): Row => ({
    type,
    time: orderTime(at),
    description,
    accountNumber: accountOf(book),
    status: 'VALID',
    subAccount: isMargin ? 'MARGIN' : 'CASH',
    tradeDate: orderTime(at),
    settlementDate: orderTime(at),
    netAmount: cents(netAmount),
    activityType: 'TRANSFER',
    ...more,
  });
  if (data.type === 'OrderExecuted') {
    const { terms } = await past.order();
    if (terms.assetClass === 'FUTURE') return [];
    return data.executions.map((execution) => {
      const { symbol, positionIntent } = tradedBy(terms, execution);
      const isBuy = positionIntent.startsWith('BUY');
      const quantity = (execution.quantity / 1e6) * (isBuy ? 1 : -1);
      const value = dollars(execution.cash ?? execution.value) * (isBuy ? -1 : 1);
      const charges = [
        { feeType: 'COMMISSION', amount: dollars(execution.commission ?? Money.zero) },
        ...(execution.fees ?? []).map(({ name, amount }) => ({
          feeType: FEES[name] ?? 'MISCELLANEOUS_FEE',
          amount: dollars(amount),
        })),
      ];
      const paid = charges.reduce((sum, { amount }) => sum + amount, 0);
      const isOpening = positionIntent.endsWith('OPEN');
      return row('TRADE', value - paid, `${isBuy ? 'Bought' : 'Sold'} ${Math.abs(quantity)} ${symbol}`, {
        symbol,
        activityType: 'EXECUTION',
        settlementDate: settledOn(data.settlementDate, at),
        positionId: instrumentIdOf(symbol),
        orderId: terms.number,
        transferItems: [
          ...charges.map(({ feeType, amount }) => ({
            instrument: CURRENCY,
            amount,
            cost: cents(-amount),
            feeType,
          })),
          {
            instrument: instrumentShape(book, symbol),
            amount: quantity,
            cost: cents(value),
            price: execution.price / 1e8,
            positionEffect: isOpening ? 'OPENING' : 'CLOSING',
          },
        ],
      });
    });
  }
  if (data.type === 'OptionEnded') {
    const quantity = data.quantity / 1e6;
    return [
      row('RECEIVE_AND_DELIVER', cashIn(data.entries) / 1e4, past.describe(), {
        symbol: data.symbol,
        settlementDate: settledOn(data.settlementDate, at),
        positionId: instrumentIdOf(data.symbol),
        transferItems: [
          {
            instrument: instrumentShape(book, data.symbol),
            amount: data.act === 'ASSIGNED' ? quantity : -quantity,
            cost: 0,
            price: data.price / 1e8,
            positionEffect: 'CLOSING',
          },
        ],
      }),
    ];
  }
  if (data.type !== 'LedgerPosted' && data.type !== 'PositionsImported' && data.type !== 'PositionConverted')
    return [];
  const shares = data.type === 'PositionConverted' ? sharesMovedBy(data) : [];
  const moved = shares.map(([symbol, quantity]) =>
    row('RECEIVE_AND_DELIVER', 0, past.describe(), {
      symbol,
      positionId: instrumentIdOf(symbol),
      transferItems: [
        { instrument: instrumentShape(book, symbol), amount: quantity / 1e6, cost: 0, price: 0 },
      ],
    }),
  );
  const paid = data.entries.flatMap((entry) => {
    const amount = cashIn([entry]) / 1e4;
    const kind = ENTRY_TYPES[entry.type];
    if (kind === undefined || amount === 0) return [];
    const type = kind !== 'CASH' ? kind : amount > 0 ? 'CASH_RECEIPT' : 'CASH_DISBURSEMENT';
    const symbol = entry.about?.symbol;
    return row(type, amount, book.events.describeEntry(entry, at), {
      ...(symbol !== undefined && { symbol }),
      transferItems: [{ instrument: CURRENCY, amount: cents(amount), cost: 0, price: 0 }],
    });
  });
  return [...moved, ...paid];
}

/** Shares that a corporate action takes and gives, signed. */
const sharesMovedBy = ({
  symbol,
  quantity,
  kept,
  received,
}: PositionConverted): readonly (readonly [string, number])[] => [
  ...(kept === undefined ? [[symbol, 0 - quantity] as const] : []),
  ...(received === undefined || received.quantity === 0
    ? []
    : [[received.symbol, received.quantity] as const]),
];

/** Ids of transactions: the sequence of their record, and their place in it. */
const ROWS_OF_RECORD = 100_000;

async function* transactionsOf(book: Book, range: { readonly from?: number; readonly to?: number }) {
  for await (const events of book.events.byRecord(range, false)) {
    const rows: Transaction[] = [];
    for (const event of events)
      for (const row of await rowsOf(book, event))
        rows.push({ activityId: event.seq * ROWS_OF_RECORD + rows.length, ...row });
    yield* rows.toReversed();
  }
}

/** Without the symbol by which lists select. */
const shown = ({ symbol: _symbol, ...transaction }: Transaction): object => transaction;

const MOST = 3000;
const MOST_RANGE_MS = 366 * 86_400_000;

export const listTransactions = answering(['startDate', 'endDate', 'types', 'symbol'], async (call) => {
  const { fields, head } = call;
  const book = bookOf(call);
  const from = timeIn(head, 'startDate', fields.required('startDate'));
  const to = timeIn(head, 'endDate', fields.required('endDate'), true);
  if (to < from || to - from > MOST_RANGE_MS)
    throw invalid(head, 'endDate', 'must be after startDate, and within a year of it');
  fields.required('types');
  const types = fields.list('types');
  if (types.some((type) => !TYPES.some((one) => one === type)))
    throw invalid(head, 'types', `must be of ${TYPES.join(', ')}`);
  const symbol = symbolOf(call);
  const found: object[] = [];
  for await (const one of transactionsOf(book, { from, to: to + 1 })) {
    const about = one['symbol'];
    const isAbout =
      symbol === undefined ||
      about === symbol ||
      (typeof about === 'string' && optionParts(about)?.root === symbol);
    if (types.includes(one.type) && isAbout) found.push(shown(one));
    if (found.length === MOST) break;
  }
  return found;
});

function symbolOf({ fields, desk, head }: SchwabCall): string | undefined {
  const text = fields.text('symbol');
  const instrument = text === undefined ? undefined : instrumentIn(desk, text);
  if (text !== undefined && instrument === undefined) throw invalid(head, 'symbol', 'is not listed');
  return instrument?.symbol;
}

export const getTransaction = answering([], async (call) => {
  const id = call.params['id'] ?? '';
  if (!/^\d{1,16}$/.test(id)) throw refused(call.head, 400, 'The transaction id must be a number');
  const seq = Math.floor(Number(id) / ROWS_OF_RECORD);
  for await (const one of transactionsOf(bookOf(call), {})) {
    if (one.activityId === Number(id)) return shown(one);
    if (Math.floor(one.activityId / ROWS_OF_RECORD) < seq) break;
  }
  throw refused(call.head, 404, 'Transaction not found');
});
