import type { Decision } from '../decision.js';
import { multiplierOf } from '../instruments/instrument.js';
import { markOf } from '../market/quote.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { Position } from '../positions/position.js';
import { concernedBy, scheduleSweep } from '../state.js';
import { watchMargin } from './margin-calls.js';

/** Portfolios that one sweep looks at: pauses stay short. */
const SLICE = 64;

/**
 * How many dollars of excess a dollar of price can take from a unit held, at most: stock its own value and as much again for what is
 * sold short; an option that and what its underlying and volatility add where risk is measured.
 */
const WORST_OF_STOCK = 3;
const WORST_OF_OPTION = 8;
const WORST_OF_UNDERLYING = 6;

/**
 * Looks at the MARGIN portfolios that what has happened since the last sweep can have brought to a call, or out of one: those that traded,
 * and those whose holdings moved by more than lay between them and the next thing to say. Nobody else is valued.
 */
export function sweepMargin(d: Decision): void {
  const { watch } = d.state;
  for (const symbol of [...watch.symbols].sort()) {
    watch.symbols.delete(symbol);
    const quote = d.state.books.get(symbol)?.quote;
    const mark = quote && markOf(quote);
    const before = watch.marks.get(symbol);
    if (mark !== undefined) watch.marks.set(symbol, mark);
    const move = mark === undefined || before === undefined ? Infinity : Math.abs(mark - before) / 1e4;
    for (const portfolio of concernedBy(d.state, symbol)) {
      if (portfolio.settings.portfolioType !== 'MARGIN') continue;
      const exposure = exposureOf(d, portfolio, symbol);
      if (exposure === 0) continue;
      portfolio.slack -= move * exposure;
      if (!(portfolio.slack > 0)) watch.portfolios.add(portfolio);
    }
  }
  const due = [...watch.portfolios].sort((a, b) => a.terms.number - b.terms.number);
  for (const portfolio of due.slice(0, SLICE)) {
    watch.portfolios.delete(portfolio);
    if (!d.state.portfolios.has(portfolio.terms.portfolioId)) continue;
    portfolio.slack = watchMargin(d, portfolio);
  }
  if (watch.portfolios.size > 0) scheduleSweep(d.state, d.at);
}

/** Dollars of excess that a move of one dollar of a symbol can change, at most. */
function exposureOf(d: Decision, portfolio: Portfolio, symbol: string): number {
  let exposure = 0;
  const own = portfolio.positions.get(symbol);
  if (own !== undefined) {
    const instrument = d.tradable(symbol);
    const worst = instrument.assetClass === 'OPTION' ? WORST_OF_OPTION : WORST_OF_STOCK;
    exposure += (Math.abs(Position.held(own)) / 1e6) * multiplierOf(instrument) * worst;
  }
  for (const option of portfolio.optionsOn.get(symbol) ?? []) {
    const position = portfolio.positions.get(option);
    if (position === undefined) continue;
    const held = Math.abs(Position.held(position)) / 1e6;
    exposure += held * multiplierOf(d.tradable(option)) * WORST_OF_UNDERLYING;
  }
  return exposure;
}
