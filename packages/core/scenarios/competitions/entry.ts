import type { CompetitionPhase, CompetitionRules } from '../../src/competitions/competition.js';
import { Position } from '../../src/positions/position.js';
import { shares, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

/** An entry of a competition from Monday 2026-01-05, 10:00, to the close of Wednesday; 100,000 dollars, AAPL at 100. */
export class TestEntry {
  readonly m = new TestMarket();
  readonly portfolio: string;
  readonly #prices = new Map<string, string>();

  constructor(rules: Partial<CompetitionRules> = {}, phase: 'OPEN' | 'RUNNING' = 'RUNNING') {
    const { m } = this;
    this.quote('AAPL', 100);
    const endsAt = m.brokerage.rules.calendar.instantOf(TradingDate.of('2026-01-07'), 16, 0);
    m.execute<'BeginCompetition'>({
      type: 'BeginCompetition',
      terms: { startsAt: m.now, endsAt, isHourly: true, rules: { assetClasses: ['EQUITY'], ...rules } },
      phase: 'OPEN',
    });
    this.portfolio = m.openPortfolio({ type: 'MARGIN' });
    if (phase === 'RUNNING') this.phase('RUNNING');
  }

  get competition() {
    const { competition } = this.m.brokerage.state;
    if (competition === undefined) throw new Error('no competition');
    return competition;
  }

  /** A quote of bid and ask at one price. */
  quote(symbol: string, price: number): void {
    const text = price.toFixed(2);
    this.#prices.set(symbol, text);
    this.m.quote(symbol, text, text, { last: text });
  }

  phase(phase: Exclude<CompetitionPhase, 'OPEN'>): void {
    this.m.execute<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase });
  }

  /** Code and rule of the refusal of an order; its id if it is accepted. */
  submit(order: Parameters<TestMarket['submit']>[1]): string {
    const result = this.m.submit(this.portfolio, order);
    if (typeof result === 'string') return result;
    return 'rule' in result ? `${result.code} ${result.rule}` : result.code;
  }

  /** Buys at the present price; a market order counts with 5 % more, its collar. */
  buy(symbol: string, quantity: number): string {
    return this.m.place(this.portfolio, { symbol, quantity, limit: this.#prices.get(symbol) ?? '' });
  }

  held(symbol: string): number {
    const position = this.m.portfolio(this.portfolio).positions.get(symbol);
    return position === undefined ? 0 : shares(Position.held(position));
  }
}

export const price = (dollars: number): Price => Price.of(dollars.toFixed(2));
/** Percentages of rules are in 1/10,000 of a percent. */
export const percent = (value: number): number => value * 10_000;
