/** Studies of taxes (D189): sales of a year, open lots, and the lines of the tax forms. */
import {
  type BookEvent,
  gainTotals,
  type RealizedGain,
  type TaxBooks,
  taxBooksOf,
  type TaxLot,
} from '@sandpit/analytics';
import type { RealizedGain as ShownGain, TaxLot as ShownLot } from '@sandpit/protocol';
import { type Columns, csvLine } from '../csv.js';
import { itemsIn, type ListWindow } from '../translate/pages.js';
import { cents } from './equity-points.js';
import type { PortfolioBook } from './portfolio-book.js';
import type { PortfolioRecord, Posted, ReportedAccount } from './portfolio-record.js';
import type {
  GainsPage,
  GainsQuestion,
  LotsPage,
  TaxForm,
  TaxIncome,
  TaxQuestion,
  TaxYear,
} from './study.js';

/** Tax books of the present epoch. */
function booksOf({ record }: PortfolioBook, { isRetirement, ...question }: TaxQuestion): TaxBooks {
  const events = { [Symbol.iterator]: () => eventsOf(record) };
  return taxBooksOf({ events, ...question, washSales: !isRetirement });
}

/** Events of the present epoch, in order of time. */
function* eventsOf({ events, epochs }: PortfolioRecord): Generator<BookEvent> {
  const epoch = events.column('epoch');
  for (let index = 0; index < events.length; index += 1)
    if (epoch[index] === epochs.length) yield events.at(index);
}

/** Sales of a year and a term, in order of sale. */
function gainsOf(book: PortfolioBook, question: TaxQuestion & TaxYear): readonly RealizedGain[] {
  const { year, term: wanted } = question;
  return booksOf(book, question).gains.filter(
    ({ soldAt, term }) => Number(soldAt.slice(0, 4)) === year && (wanted === undefined || term === wanted),
  );
}

/** One page of the sales of a year, newest first, with totals of all of them. */
export function gainsPage(book: PortfolioBook, question: GainsQuestion): GainsPage {
  const { year, window, isRetirement } = question;
  const gains = gainsOf(book, question);
  const rows = gains.map((gain, index) => ({ gain, number: index + 1 })).reverse();
  const { items, left } = itemsIn(rows, window, ({ number }) => number);
  return {
    data: items.map(({ gain }) => shownGain(gain, isRetirement)),
    total: rows.length,
    left,
    lastNumber: items.at(-1)?.number ?? 0,
    ...(!isRetirement && { totals: gainTotals(gains), income: incomeOf(book.record, year) }),
  };
}

/** Lines of a tax form, newest sale first: those of Section 1256 contracts on Form 6781, all others on Form 8949. */
export function* formLines(
  book: PortfolioBook,
  question: TaxQuestion & TaxYear & { readonly form: TaxForm },
): Generator<string> {
  const { isRetirement } = question;
  const is6781 = question.form === '6781';
  const cells = Object.values(TAX_FORMS[question.form]);
  const gains = gainsOf(book, question);
  for (let index = gains.length - 1; index >= 0; index -= 1) {
    const gain = gains[index];
    if (gain !== undefined && (gain.term === 'SECTION_1256') === is6781)
      yield csvLine(cells.map((cell) => cell({ ...gain, isRetirement })));
  }
}

/** One page of the open lots. */
export function lotsPage(book: PortfolioBook, question: TaxQuestion & { window: ListWindow }): LotsPage {
  const rows = lotsOf(book, question).map((lot, index) => ({ lot, number: index + 1 }));
  const { items, left } = itemsIn(rows, question.window, ({ number }) => number);
  return {
    data: items.map(({ lot }) => shownLot(lot, question)),
    total: rows.length,
    left,
    lastNumber: items.at(-1)?.number ?? 0,
  };
}

/** Open lots. */
export function* openLots(book: PortfolioBook, question: TaxQuestion): Generator<ShownLot> {
  for (const lot of lotsOf(book, question)) yield shownLot(lot, question);
}

/** Open lots by symbol, then by date of acquisition, then in order of opening. */
const lotsOf = (book: PortfolioBook, question: TaxQuestion): readonly TaxLot[] =>
  booksOf(book, question).lots.toSorted(
    (a, b) => compare(a.symbol, b.symbol) || compare(a.acquiredAt, b.acquiredAt),
  );

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const shownLot = (
  { washSaleDisallowed, orderIds, ...lot }: TaxLot,
  { isRetirement }: TaxQuestion,
): ShownLot => ({
  ...lot,
  ...(!isRetirement && { washSaleDisallowed }),
  orderIds: [...orderIds],
});

function shownGain(
  { washSaleDisallowed, term, washSale, code, orderIds, ...gain }: RealizedGain,
  isRetirement: boolean,
): ShownGain {
  return {
    ...gain,
    ...(!isRetirement && { washSaleDisallowed, term, washSale, ...(code !== undefined && { code }) }),
    orderIds: [...orderIds],
  };
}

/** Income and interest of a year in the present epoch. */
function incomeOf({ posted, epochs }: PortfolioRecord, year: number): TaxIncome {
  const ofYear = [...posted].filter(
    ({ epoch, date }) => epoch === epochs.length && Number(date.slice(0, 4)) === year,
  );
  const sum = (account: ReportedAccount, part: (one: Posted) => number = ({ amount }) => amount): number =>
    cents(ofYear.filter((one) => one.account === account).reduce((total, one) => total + part(one), 0));
  return {
    dividends: sum('DIVIDENDS', ({ amount }) => Math.max(0, amount)),
    paymentsInLieu: sum('DIVIDENDS', ({ amount }) => Math.max(0, -amount)),
    marginInterest: sum('INTEREST'),
    borrowFees: sum('BORROW_FEES'),
  };
}

/** A sale on a form. */
interface FormLine extends RealizedGain {
  readonly isRetirement: boolean;
}

/** Columns (a) to (h) of Form 8949, and its part: I for short-term sales, II for long-term ones. */
const FORM_8949: Columns<FormLine> = {
  'Description of property': ({ quantity, symbol }) => `${quantity} ${symbol}`,
  'Date acquired': (row) => row.acquiredAt,
  'Date sold or disposed of': (row) => row.soldAt,
  Proceeds: (row) => row.proceeds,
  'Cost or other basis': (row) => row.costBasis,
  'Code(s)': (row) => row.code,
  'Amount of adjustment': (row) => (row.washSaleDisallowed > 0 ? row.washSaleDisallowed : undefined),
  'Gain or (loss)': (row) => row.gain,
  Part: ({ term, isRetirement }) => (isRetirement ? undefined : term === 'LONG' ? 'II' : 'I'),
};

/** Columns (a) to (c) of part I of Form 6781. */
const FORM_6781: Columns<FormLine> = {
  'Identification of account': ({ quantity, symbol }) => `${quantity} ${symbol}`,
  '(Loss)': ({ gain }) => (gain < 0 ? -gain : undefined),
  Gain: ({ gain }) => (gain < 0 ? undefined : gain),
};

const TAX_FORMS: Readonly<Record<TaxForm, Columns<FormLine>>> = { '8949': FORM_8949, '6781': FORM_6781 };

/** Headings of the columns of a form. */
export const formHeadings = (form: TaxForm): readonly string[] => Object.keys(TAX_FORMS[form]);
