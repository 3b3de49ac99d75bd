import type { Conditions } from '../../options/model/conditions.js';
import type { OptionTerms } from '../../options/model/option-terms.js';
import type { ClassMove } from './risk-legs.js';
import type { Price } from '../../values/price.js';

/** An option of a book with the model inputs of its values. */
export interface ModeledOption {
  readonly terms: OptionTerms;
  /** Conditions of its series after a move of the underlying, now or on the next day. */
  readonly conditionsAt: (move: number, tradingDays: number, ofClass?: ClassMove) => Conditions;
  readonly volatility: number;
  /** Values computed so far: by the move of the underlying, and with more shifts by all of them. */
  readonly values: Map<number | string, Price>;
}

/** Two large books, each at two prices of its underlying. */
const MOST_KNOWN = 1024;

/**
 * The latest options that were modeled, with their values. An order requires those of the same options before and after its trade. A cached
 * value is the one that would be computed again, so it changes no figure.
 */
export class KnownModels {
  /** By all inputs as text, oldest first. */
  readonly #known = new Map<string, ModeledOption>();

  /** The option with these inputs; `model` computes it the first time. */
  of(inputs: string, model: () => ModeledOption): ModeledOption {
    const known = this.#known.get(inputs);
    if (known !== undefined) return known;
    const option = model();
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < MOST_KNOWN) break;
      this.#known.delete(oldest);
    }
    this.#known.set(inputs, option);
    return option;
  }
}
