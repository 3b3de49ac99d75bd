/** Figures of a day and a year about a symbol, from its bars. */
import type { Quote } from '@sandpit/protocol';
import { cents } from './amounts.js';
import { latestBars, optionClose, previousClose, runningDay } from './bars.js';
import { contractIn } from './chains.js';
import type { Desk } from './port.js';

/** Trading days of a year. */
const YEAR_DAYS = 252;

/** Absent figures are not known yet. */
export interface DayFigures {
  readonly open: number | undefined;
  readonly high: number | undefined;
  readonly low: number | undefined;
  /** Close of a finished session. */
  readonly close: number | undefined;
  readonly volume: number;
  readonly previousClose: number | undefined;
}

/** The session of today, as far as it has come. */
export async function dayFigures(desk: Desk, symbol: string): Promise<DayFigures> {
  const { calendar } = desk;
  const isOption = desk.instrument(symbol)?.assetClass === 'OPTION';
  const today = calendar.dateOf(desk.now());
  const running = await runningDay(desk, symbol);
  const [last] = running === undefined ? await latestBars(desk, symbol, '1Day', 1) : [];
  const isToday = last !== undefined && last.timestamp >= calendar.instantOf(today, 0, 0);
  const day = running ?? (isToday ? last : undefined);
  return {
    open: day?.open,
    high: day?.high,
    low: day?.low,
    close: running === undefined ? day?.close : undefined,
    volume: day?.volume ?? 0,
    previousClose: await (isOption ? optionClose : previousClose)(desk, symbol),
  };
}

/** A quote, with the figures of its day and year; for an option with its contract and the row of its chain. */
export async function quoteFigures(desk: Desk, quote: Quote) {
  const instrument = desk.instrument(quote.symbol);
  const contract = instrument?.assetClass === 'OPTION' ? instrument : undefined;
  const day = await dayFigures(desk, quote.symbol);
  const last = quote.last ?? quote.price;
  const close = day.previousClose ?? last;
  return {
    instrument,
    contract,
    chain: contract && (await contractIn(desk, contract)),
    day,
    year: contract === undefined ? await yearFigures(desk, quote.symbol) : undefined,
    last,
    /** At the end of the day before. */
    close,
    change: cents(last - close),
  };
}

/** Highest and lowest price, and mean volume of a day, over a year. */
export async function yearFigures(desk: Desk, symbol: string) {
  const days = await latestBars(desk, symbol, '1Day', YEAR_DAYS);
  if (days.length === 0) return undefined;
  return {
    high: Math.max(...days.map(({ high }) => high)),
    low: Math.min(...days.map(({ low }) => low)),
    averageVolume: Math.round(days.reduce((sum, { volume }) => sum + volume, 0) / days.length),
  };
}
