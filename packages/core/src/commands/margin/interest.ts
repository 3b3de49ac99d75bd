import type { Decision } from '../../decision.js';
import { isShares, valueOf } from '../../instruments/instrument.js';
import {
  accruable,
  dailyBorrowFee,
  dailyInterest,
  postedOf,
  unlessBelowCent,
} from '../../margin/interest.js';
import type { Accrued } from '../../margin/margin-account.js';
import type { LedgerEntryType, Posting } from '../../ledger/ledger.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { markOrCost } from '../../portfolios/book-sums.js';
import { paidAhead } from '../../settlement/obligation.js';
import { addTimer } from '../../state.js';
import { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';

/** Most portfolios that one record accrues for. */
const PORTFOLIOS_PER_RECORD = 500;
/** Postings happen on the third business day of the next month at 09:00 (D118). */
const POSTING_DAY = 3;

/** Accrues a day's interest and borrow fees, at 16:00 New York of every calendar day (D118). */
export function accrueInterest(d: Decision, date: TradingDate): void {
  const points = [];
  let complete = true;
  for (const portfolio of d.state.portfolios.values()) {
    const { accruedThrough } = portfolio.margin;
    if (portfolio.settings.portfolioType !== 'MARGIN') continue;
    if (accruedThrough !== undefined && accruedThrough >= date) continue;
    const { interest, borrowFees } = accrualsOf(d, portfolio);
    if (interest === 0 && borrowFees === 0) continue;
    if (points.length === PORTFOLIOS_PER_RECORD) {
      complete = false;
      break;
    }
    points.push({ portfolioId: portfolio.terms.portfolioId, interest, borrowFees });
  }
  if (points.length > 0) d.emit({ type: 'InterestAccrued', date, points, complete });
  if (complete) scheduleAccrual(d, d.at);
  else addTimer(d.state, d.at, 0, { kind: 'INTEREST', date });
}

/**
 * A day's interest on the loan by settlement date, which proceeds of settled shorts do not reduce, and borrow fees on settled shorts
 * (D118).
 */
function accrualsOf(d: Decision, portfolio: Portfolio): { interest: number; borrowFees: number } {
  let shortValue = 0;
  let borrowFees = 0;
  for (const position of portfolio.positions.values()) {
    const { symbol, settled } = position;
    if (settled >= 0) continue;
    const instrument = d.tradable(symbol);
    if (!isShares(instrument)) continue;
    const shares = Quantity.abs(settled);
    const mark = markOrCost(position, instrument, settled, d);
    shortValue += Money.abs(valueOf(instrument, mark, shares));
    borrowFees += dailyBorrowFee(mark, shares, instrument.borrowRateAnnual);
  }
  // The books pay for a purchase at once; the loan begins on its settlement date.
  const cash = Money.add(portfolio.balances.SETTLED_CASH, paidAhead(portfolio.obligations));
  const loan = Money.max(Money.ofUnits(shortValue - cash), Money.zero);
  const { margin } = portfolio;
  return {
    interest: accruable(dailyInterest(loan, d.broker(portfolio).marginInterestTiers), margin.interest),
    borrowFees: accruable(borrowFees, margin.borrowFees),
  };
}

/** Posts the accruals of all portfolios, a slice at a time. */
export function postAccruals(d: Decision): void {
  let posted = 0;
  const month = d.rules.calendar.dateOf(d.at).slice(0, 7);
  for (const portfolio of d.state.portfolios.values()) {
    const due = ofEarlierMonths(portfolio, month);
    if (due.interest === 0 && due.borrowFees === 0) continue;
    if (posted++ === PORTFOLIOS_PER_RECORD) {
      addTimer(d.state, d.at, 0, { kind: 'INTEREST_POST' });
      return;
    }
    post(d, portfolio, due);
  }
  schedulePosting(d, d.at);
}

/** Accruals of the months before `month`. */
const ofEarlierMonths = ({ margin }: Portfolio, month: string): Accrued =>
  margin.accruedThrough?.slice(0, 7) === month ? margin.earlier : margin;

/** Posts all accruals of a portfolio, before it is changed (D124). */
export const postAccrualsOf = (d: Decision, portfolio: Portfolio): void =>
  post(d, portfolio, portfolio.margin);

/** Posted to the cent. */
const toCents = ({ interest, borrowFees }: Accrued): PostedAccruals => ({
  interest: postedOf(interest),
  borrowFees: postedOf(borrowFees),
});

interface PostedAccruals {
  readonly interest: Money;
  readonly borrowFees: Money;
}

/** Interest and fees that a portfolio pays when it is closed: to the cent, and 0 below one (D212). */
export const finalAccrualsOf = ({ margin }: Portfolio): PostedAccruals =>
  toCents({ interest: unlessBelowCent(margin.interest), borrowFees: unlessBelowCent(margin.borrowFees) });

/** Posts the final accruals. */
export const postFinalAccruals = (d: Decision, portfolio: Portfolio): void =>
  post(d, portfolio, portfolio.margin, finalAccrualsOf(portfolio));

function post(
  d: Decision,
  portfolio: Portfolio,
  { interest, borrowFees }: Accrued,
  posted: PostedAccruals = toCents({ interest, borrowFees }),
): void {
  if (interest === 0 && borrowFees === 0) return;
  const { portfolioId } = portfolio.terms;
  const enter = (type: LedgerEntryType, account: Posting['account'], amount: Money): void => {
    if (amount === 0) return;
    const entry = d.entry(type, [
      { account: 'SETTLED_CASH', amount: Money.negate(amount) },
      { account, amount },
    ]);
    d.emit({ type: 'LedgerPosted', portfolioId, entries: [entry] });
  };
  enter('INTEREST', 'INTEREST', posted.interest);
  enter('BORROW_FEE', 'BORROW_FEES', posted.borrowFees);
  d.emit({ type: 'AccrualsPosted', portfolioId, interest, borrowFees });
}

/** Sets the timers of a simulation that begins or resumes; the date of the last accrual is not accrued twice. */
export function scheduleInterest(d: Decision, after: Instant): void {
  const { accruedThrough } = d.state;
  const { calendar } = d.rules;
  const past = accruedThrough === undefined ? after : calendar.instantOf(accruedThrough, 16, 0);
  scheduleAccrual(d, Instant.max(past, after));
  schedulePosting(d, after);
}

/** The next 16:00 New York after an instant. */
function scheduleAccrual(d: Decision, after: Instant): void {
  const { calendar } = d.rules;
  let date = calendar.dateOf(after);
  while (calendar.instantOf(date, 16, 0) <= after) date = TradingDate.ofDay(TradingDate.dayOf(date) + 1);
  addTimer(d.state, calendar.instantOf(date, 16, 0), 0, { kind: 'INTEREST', date });
}

/** The next 09:00 of the third business day of a month after an instant. */
function schedulePosting(d: Decision, after: Instant): void {
  const { calendar } = d.rules;
  let month = calendar.dateOf(after).slice(0, 7);
  for (;;) {
    const first = calendar.plusBusinessDays(TradingDate.of(`${month}-01`), 0);
    const due = calendar.instantOf(calendar.plusBusinessDays(first, POSTING_DAY - 1), 9, 0);
    if (due > after) {
      addTimer(d.state, due, 0, { kind: 'INTEREST_POST' });
      return;
    }
    month = monthAfter(month);
  }
}

function monthAfter(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return number === 12 ? `${year + 1}-01` : `${year}-${String(number + 1).padStart(2, '0')}`;
}
