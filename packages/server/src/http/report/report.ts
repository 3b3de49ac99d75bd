/** A report of a portfolio as one self-contained page of HTML (D190). Pure. */
import { dailyReturnsOf, histogramOf, rollingSharpeOf } from '@sandpit/analytics';
import type { EquityPoint, ExecutionQuality, MonthReturn, Performance, RoundTrip } from '@sandpit/analytics';
import { barChart, lineChart } from './charts.js';
import { escaped } from './escape.js';
import { REPORT_STYLE } from './report-style.js';

/** The performance of a period, and its inputs. */
export interface PortfolioPerformance {
  readonly performance: Performance;
  readonly from: number;
  readonly to: number;
  readonly points: readonly EquityPoint[];
  /** Round trips closed in the period. */
  readonly trips: readonly RoundTrip[];
  readonly periodsPerYear: number;
}

export interface ReportInput extends PortfolioPerformance {
  readonly title: string;
  /** Traits of the portfolio, in a few words each. */
  readonly about: readonly string[];
  /** Simulated instant of the report, ISO 8601. */
  readonly madeAt: string;
  readonly quality: ExecutionQuality;
  /** Slippage of each executed order, basis points. */
  readonly slippages: readonly number[];
  /** Yearly, a fraction. */
  readonly riskFreeRate: number;
  /** New York time of an instant, ISO 8601. */
  readonly newYork: (at: number) => string;
}

const SHARPE_DAYS = 63;
const BINS = 24;
/** Maximum rows of trades: with more the page would be too large for an email. */
const MOST_TRADES = 3_000;

export function reportPage(input: ReportInput): string {
  const { title, about, performance, from, to, newYork } = input;
  const day = (at: number): string => newYork(at).slice(0, 10);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escaped(title)} – performance report</title><style>${REPORT_STYLE}</style></head><body><main>
<header><div><h1>${escaped(title)}</h1><p class="soft">${about.map(escaped).join(' · ')}</p></div><p class="soft">${day(from)} to ${day(to)}</p></header>
${tiles(input)}
${performance.endedAt === undefined ? '' : `<p class="loss">Equity was not positive any more at ${escaped(newYork(performance.endedAt))}: returns end there.</p>`}
${performance.since === undefined ? '' : `<p class="loss">All equity was lost before ${escaped(newYork(performance.since))}: returns, ratios and drawdown begin there.</p>`}
${curves(input)}
<h2>Monthly returns</h2>${monthTable(performance.monthly)}
${distribution(input)}
<div class="two"><section><h2>Return and risk</h2>${definitions(riskRows(input))}</section><section><h2>Trades and costs</h2>${definitions(tradeRows(input))}</section></div>
${attribution(input)}
${quality(input)}
${tradeTable(input)}
<footer>Made by Sandpit, a simulated brokerage, at ${escaped(input.madeAt)} (simulated time). No order reached a real market. Returns take external flows out; figures that cannot be computed are left out. Past performance, simulated or not, says nothing about the future.</footer>
</main></body></html>`;
}

function tiles({ performance: p }: ReportInput): string {
  const drawdown = p.maxDrawdown?.fraction;
  const shown: Rows = [
    ['Return', percent(p.timeWeightedReturn), p.timeWeightedReturn],
    ['Profit and loss', money(p.pnl), p.pnl],
    ['Equity', money(p.endEquity)],
    ['Maximum drawdown', percent(drawdown), drawdown],
    ['Annualized return', percent(p.annualizedReturn), p.annualizedReturn],
    ['Volatility', percent(p.volatility)],
    ['Sharpe ratio', plain(p.sharpe)],
    ['Win rate', percent(p.trades.winRate, 0)],
  ];
  return `<div class="tiles">${shown
    .map(
      ([name, text, tone]) =>
        `<div class="tile"><span>${name}</span><b${toned(tone)}>${text === '' ? '–' : text}</b></div>`,
    )
    .join('')}</div>`;
}

function curves({
  performance: { series },
  points,
  riskFreeRate,
  periodsPerYear,
  from,
}: ReportInput): string {
  const equity = series.map(({ at, equity: value }) => ({ at, value }));
  const drawdown = series.flatMap(({ at, drawdown: value }) => (value === undefined ? [] : [{ at, value }]));
  const rolling = rollingSharpeOf(
    dailyReturnsOf(points),
    SHARPE_DAYS,
    riskFreeRate / periodsPerYear,
    periodsPerYear,
  ).map(({ date, sharpe }) => ({ at: Math.max(Date.parse(date), from), value: sharpe }));
  return `<h2>Equity</h2>${lineChart({ label: 'Equity over time', points: equity, height: 280, format: (value, digits) => dollars(value, digits), tone: 'plain', areaTo: 0 })}
<h2>Drawdown</h2>${lineChart({ label: 'Drawdown over time', points: drawdown, height: 180, format: percent, scale: 100, tone: 'loss', areaTo: 0, include: 0 })}
${
  rolling.length < 2
    ? ''
    : `<h2>Sharpe ratio of the last ${SHARPE_DAYS} days</h2>${lineChart({ label: `Sharpe ratio of the last ${SHARPE_DAYS} days over time`, points: rolling, height: 180, format: plain, tone: 'plain', include: 0 })}`
}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function monthTable(monthly: readonly MonthReturn[]): string {
  if (monthly.length === 0) return '<p class="none">No session has closed yet.</p>';
  const years = [...new Set(monthly.map(({ month }) => month.slice(0, 4)))];
  const rows = years.map((year) => {
    const cells = MONTHS.map((_, index) => {
      const month = `${year}-${String(index + 1).padStart(2, '0')}`;
      const found = monthly.find((one) => one.month === month);
      if (found === undefined) return '<td></td>';
      const note = found.partial === true ? ' title="Part of the month"' : '';
      return `<td${toned(found.return)}${note}>${percent(found.return)}${found.partial === true ? '*' : ''}</td>`;
    });
    const whole = monthly
      .filter(({ month }) => month.startsWith(year))
      .reduce((growth, one) => growth * (1 + one.return), 1);
    return `<tr><th scope="row">${year}</th>${cells.join('')}<td${toned(whole - 1)}><b>${percent(whole - 1)}</b></td></tr>`;
  });
  const note = monthly.some(({ partial }) => partial === true)
    ? '<p class="soft">* part of the month</p>'
    : '';
  return `<div class="wide"><table class="months"><thead><tr><th></th>${MONTHS.map((name) => `<th scope="col">${name}</th>`).join('')}<th scope="col">Year</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>${note}`;
}

function distribution({ points, slippages }: ReportInput): string {
  const returns = dailyReturnsOf(points).map((day) => day.return);
  const bins = histogramOf(returns, BINS);
  const costs = histogramOf(slippages, BINS);
  return (
    (returns.length < 2
      ? ''
      : `<h2>Daily returns</h2>${barChart({ label: 'Days by their return', bins, height: 200, format: percent, scale: 100, isSigned: true })}`) +
    (slippages.length === 0
      ? ''
      : `<h2>Slippage of orders, basis points</h2>${barChart({ label: 'Executed orders by slippage', bins: costs, height: 200, format: plain, isSigned: false })}`)
  );
}

type Rows = readonly (readonly [name: string, text: string, tone?: number | undefined])[];

/** Names with their figures, without those that could not be computed. */
const definitions = (rows: Rows): string =>
  `<table><tbody>${rows
    .filter(([, text]) => text !== '')
    .map(
      ([name, text, tone]) =>
        `<tr><th scope="row">${escaped(name)}</th><td class="n${tone === undefined ? '' : tone < 0 ? ' loss' : ' gain'}">${escaped(text)}</td></tr>`,
    )
    .join('')}</tbody></table>`;

function riskRows({ performance: p, newYork }: ReportInput): Rows {
  const day = (at: number): string => newYork(at).slice(0, 10);
  const extreme = (one: { date: string; return: number } | undefined): string =>
    one === undefined ? '' : `${percent(one.return)} on ${one.date}`;
  const { benchmark: b, maxDrawdown: d } = p;
  const figures: Rows = [
    ['Time-weighted return', percent(p.timeWeightedReturn), p.timeWeightedReturn],
    [
      `Money-weighted return${p.annualized === true ? ', yearly' : ''}`,
      percent(p.moneyWeightedReturn),
      p.moneyWeightedReturn,
    ],
    ['Annualized return', percent(p.annualizedReturn), p.annualizedReturn],
    ['Volatility, annualized', percent(p.volatility)],
    ['Sharpe ratio', plain(p.sharpe)],
    ['Sortino ratio', plain(p.sortino)],
    ['Calmar ratio', plain(p.calmar)],
    ['Maximum drawdown', d === undefined ? '' : `${percent(d.fraction)}, ${money(d.amount)}`, d?.fraction],
    ['Drawdown from and to', d === undefined ? '' : `${day(d.peakAt)} to ${day(d.troughAt)}`],
    ['Recovered', d === undefined ? '' : d.recoveredAt === undefined ? 'not yet' : day(d.recoveredAt)],
    ['Best day', extreme(p.bestDay)],
    ['Worst day', extreme(p.worstDay)],
    ['Days up and down', `${p.positiveDays} and ${p.negativeDays}`],
    ['Net deposits', money(p.netFlows)],
    ...(p.segments.length < 2
      ? []
      : p.segments.map((one): Rows[number] => [
          `Return from ${day(one.from)} to ${day(one.to)}`,
          `${percent(one.timeWeightedReturn)}, drawdown ${percent(one.maxDrawdown.fraction)}`,
          one.timeWeightedReturn,
        ])),
  ];
  if (b === undefined) return figures;
  if ('reason' in b) return [...figures, [`Against ${b.symbol}`, 'no data']];
  return [
    ...figures,
    [`Return of ${b.symbol}`, percent(b.return), b.return],
    ['Alpha, annualized', percent(b.alpha)],
    ['Beta', plain(b.beta)],
    ['Correlation', plain(b.correlation)],
    ['Tracking error, yearly', percent(b.trackingError)],
    ['Information ratio', plain(b.informationRatio)],
  ];
}

function tradeRows({ performance: { trades: t, ...p } }: ReportInput): Rows {
  return [
    ['Round trips', t.count.toLocaleString('en-US')],
    ['Wins and losses', `${t.wins} and ${t.losses}`],
    ['Win rate', percent(t.winRate, 1)],
    ['Profit factor', plain(t.profitFactor)],
    ['Average win', money(t.averageWin), t.averageWin],
    ['Average loss', money(t.averageLoss), t.averageLoss],
    ['Expectancy', money(t.expectancy), t.expectancy],
    ['Average holding', t.averageHolding === undefined ? '' : duration(t.averageHolding)],
    ['Exposure', percent(p.exposure, 1)],
    ['Time in the market', percent(p.timeInMarket, 1)],
    ['Turnover', p.turnover === undefined ? '' : `${plain(p.turnover)} ×`],
  ];
}

/** P&L by cause, without causes that changed nothing. */
function attribution({ performance: { pnl, attribution: a } }: ReportInput): string {
  const rows: Rows = [
    ['Realized', money(a.realized), a.realized],
    ['Change of unrealized', money(a.unrealized), a.unrealized],
    ['Dividends', money(a.dividends), a.dividends],
    ['Margin interest', money(a.interest), a.interest],
    ['Borrow fees', money(a.borrowFees), a.borrowFees],
    ['Commissions', money(a.commissions), a.commissions],
    ['Fees', money(a.fees), a.fees],
    ['Other', money(a.other), a.other],
  ];
  const shown = rows.filter(([, , amount]) => amount !== 0);
  return `<h2>Profit and loss by cause</h2>${definitions([...shown, ['Profit and loss', money(pnl), pnl]])}`;
}

function quality({ quality: q }: ReportInput): string {
  if (q.orders === 0) return '';
  const bps = (value: number | undefined): string => (value === undefined ? '' : `${plain(value)} bp`);
  const left: Rows = [
    ['Orders', q.orders.toLocaleString('en-US')],
    ['Executions', q.executions.toLocaleString('en-US')],
    ['Executed value', money(q.notional)],
    ['Filled', percent(q.fillRate, 1)],
    ['Rejected', percent(q.rejectRate, 1)],
    ['Time to fill, median', q.timeToFill === undefined ? '' : duration(q.timeToFill)],
  ];
  const right: Rows = [
    ['Slippage', bps(q.slippageBps)],
    [
      'Implementation shortfall',
      q.implementationShortfall === undefined
        ? ''
        : `${money(q.implementationShortfall)}, ${bps(q.implementationShortfallBps)}`,
    ],
    ['Effective spread', bps(q.effectiveSpreadBps)],
    ['Quoted spread', bps(q.quotedSpreadBps)],
    ['Realized spread', bps(q.realizedSpreadBps)],
    [
      'Price improvement',
      q.priceImprovement === undefined
        ? ''
        : `${money(q.priceImprovement)}, ${percent(q.priceImprovementRate, 1)} of executions`,
    ],
  ];
  return `<h2>Execution quality</h2><div class="two"><section>${definitions(left)}</section><section>${definitions(right)}</section></div>`;
}

function tradeTable({ trips, newYork }: ReportInput): string {
  if (trips.length === 0) return '<h2>Trades</h2><p class="none">No position was closed in this period.</p>';
  const shown = trips.slice(-MOST_TRADES).toReversed();
  const note =
    shown.length === trips.length
      ? ''
      : `<p class="soft">The latest ${shown.length.toLocaleString('en-US')} of ${trips.length.toLocaleString('en-US')}; the CSV of the trades has all.</p>`;
  const time = (at: number): string => newYork(at).slice(0, 16).replace('T', ' ');
  const row = (trip: RoundTrip): string =>
    `<tr><td>${escaped(trip.symbol)}<td>${trip.side === 'LONG' ? 'Long' : 'Short'}<td class="n">${trip.quantity}<td>${time(trip.openedAt)}<td>${time(trip.closedAt)}<td class="n">${price(trip.entryPrice)}<td class="n">${trip.exitPrice === undefined ? '' : price(trip.exitPrice)}<td class="n ${trip.netPnl < 0 ? 'loss' : 'gain'}">${money(trip.netPnl)}<td class="n">${percent(trip.return)}`;
  return `<h2>Trades</h2>${note}<div class="wide"><table><thead><tr><th scope="col">Symbol<th scope="col">Side<th class="n" scope="col">Quantity<th scope="col">Opened (New York)<th scope="col">Closed<th class="n" scope="col">Entry<th class="n" scope="col">Exit<th class="n" scope="col">Net profit<th class="n" scope="col">Return</tr></thead><tbody>${shown.map(row).join('')}</tbody></table></div>`;
}

const toned = (value: number | undefined): string =>
  value === undefined || value === 0 ? '' : ` class="${value < 0 ? 'loss' : 'gain'}"`;

const grouped = (value: number, digits: number): string => {
  const [whole = '', rest] = Math.abs(value).toFixed(digits).split('.');
  const text = whole.replace(/\B(?=(\d{3})+$)/g, ',') + (rest === undefined ? '' : `.${rest}`);
  return value < 0 && Number(text.replaceAll(',', '')) !== 0 ? `−${text}` : text;
};

function plain(value: number | undefined, digits = 2): string {
  return value === undefined ? '' : grouped(value, digits);
}

function money(value: number | undefined): string {
  if (value === undefined) return '';
  return dollars(value, Math.abs(value) >= 100_000 ? 0 : 2);
}

function dollars(value: number, digits: number): string {
  const text = grouped(value, digits);
  return text.startsWith('−') ? `−$${text.slice(1)}` : `$${text}`;
}

const percent = (value: number | undefined, digits = 2): string =>
  value === undefined ? '' : `${grouped(value * 100, digits)}%`;

const price = (value: number): string => grouped(value, Math.abs(value) < 1 ? 4 : 2);

function duration(seconds: number): string {
  if (seconds < 60) return `${plain(seconds, seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${plain(seconds / 60, 0)} min`;
  if (seconds < 2 * 86_400) return `${plain(seconds / 3600, 1)} h`;
  return `${plain(seconds / 86_400, 1)} days`;
}
