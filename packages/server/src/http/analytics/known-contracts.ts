/** Instruments by symbol, loaded ahead: the walk through a history does not wait. */
import type { Event, Instant, Instrument } from '@sandpit/core';
import type { StudyQuestions } from './study.js';

type Wanted = readonly (readonly [symbol: string, at: number])[];

export class KnownContracts {
  readonly #ask: StudyQuestions;
  readonly #known = new Map<string, Instrument | undefined>();

  constructor(ask: StudyQuestions) {
    this.#ask = ask;
  }

  /** Instrument that `learn` received for a symbol. */
  get(symbol: string): Instrument | undefined {
    return this.#known.get(symbol);
  }

  /** Adds symbols, each at its instant, and the underlyings of those that are options. */
  async learn(wanted: Wanted): Promise<void> {
    const found = await this.#look(wanted);
    await this.#look(
      found.flatMap(([instrument, at]) =>
        instrument?.assetClass === 'OPTION' ? [[instrument.underlying, at] as const] : [],
      ),
    );
  }

  async #look(
    wanted: Wanted,
  ): Promise<readonly (readonly [instrument: Instrument | undefined, at: number])[]> {
    const fresh = [...new Map(wanted)].filter(([symbol]) => !this.#known.has(symbol));
    if (fresh.length === 0) return [];
    const found = await this.#ask.instruments(fresh);
    return fresh.map(([symbol, at], index) => {
      this.#known.set(symbol, found[index]);
      return [found[index], at] as const;
    });
  }
}

/** Symbols of an event except shares, which need no listing. */
export function contractsIn(event: Event): readonly string[] {
  switch (event.type) {
    case 'OrderAccepted':
    case 'OrderRejected': {
      const { assetClass, symbol, legs } = event.request;
      return assetClass === 'EQUITY' ? [] : [symbol, ...legsIn(legs)];
    }
    case 'OrderMoved': {
      const { renamed } = event;
      return renamed === undefined ? [] : [renamed.symbol, ...legsIn(renamed.legs)];
    }
    case 'OptionEnded':
    case 'FutureSettled':
      return [event.symbol];
    case 'OptionAdjusted':
      return [event.symbol, event.to];
    case 'PositionsImported':
      return event.positions.flatMap(({ assetClass, symbol }) => (assetClass === 'EQUITY' ? [] : [symbol]));
    default:
      return [];
  }
}

const legsIn = (legs: readonly { readonly optionSymbol: string }[] = []): readonly string[] =>
  legs.map(({ optionSymbol }) => optionSymbol);

/** Symbols with the instant of their first use. */
export const namedAt = (symbols: readonly string[], at: Instant | number): Wanted =>
  symbols.map((symbol) => [symbol, at] as const);
