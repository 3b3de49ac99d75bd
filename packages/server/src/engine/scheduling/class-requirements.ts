import { bookOfClass, Money } from '@sandpit/core';
import type { Brokerage, ClassesElsewhere, ClassRequirement, HypotheticalBook } from '@sandpit/core';
import type { RequirementWorkers } from './requirement-workers.js';

/** Reads whose questions a thread answers. Quotes may change in between; the read after them computes everything itself. */
const MOST_ROUNDS = 3;

/** Class groups with more options are computed on a worker thread. An option costs about 0.1 ms. */
const MOST_OPTIONS_HERE = 8;

/** Result of a question without its answer. The read is repeated. */
const PENDING: ClassRequirement = {
  group: {
    strategy: 'CLASS_GROUP',
    underlying: '',
    legs: [],
    amounts: {
      fed: Money.zero,
      house: Money.zero,
      opening: Money.zero,
      initial: Money.zero,
      counted: Money.zero,
    },
    rule: '',
  },
  scenarios: [],
};

/** Reads a brokerage within a request. */
type Look = <T>(brokerage: Brokerage, look: (brokerage: Brokerage) => T) => T;

/**
 * Result of a read whose large class groups a worker thread computes, with the same figures: an answer is used for the question of the same
 * positions, marks, terms and instant alone, and in this request alone. The read changes nothing: it may run several times.
 */
export async function withClassRequirements<T>(
  workers: RequirementWorkers,
  read: (within: Look) => Promise<T>,
): Promise<T> {
  const known = new Map<string, ClassRequirement>();
  for (let round = 0; ; round += 1) {
    const wanted = new Map<string, HypotheticalBook>();
    const classes: ClassesElsewhere = (holdings, terms, market) => {
      const options = holdings.filter(({ instrument }) => instrument.assetClass === 'OPTION');
      if (options.length <= MOST_OPTIONS_HERE) return undefined;
      const book = bookOfClass(holdings, terms, market);
      const key = keyOf(book);
      const answer = known.get(key);
      if (answer !== undefined || round === MOST_ROUNDS) return answer;
      wanted.set(key, book);
      return PENDING;
    };
    try {
      const result = await read((brokerage, look) => {
        brokerage.classes = classes;
        try {
          return look(brokerage);
        } finally {
          brokerage.classes = undefined;
        }
      });
      if (wanted.size === 0) return result;
    } catch (error) {
      // The error may be a consequence of pending answers.
      if (wanted.size === 0) throw error;
    }
    for (const [key, book] of wanted) {
      const { groups, scenarios = [] } = await workers.requirementOf(book);
      const [group] = groups;
      if (group !== undefined) known.set(key, { group, scenarios });
    }
  }
}

/** Two books with the same key have the same requirement. */
const keyOf = ({ underlyings, volatilities: _, ...book }: HypotheticalBook): string =>
  JSON.stringify([book, [...underlyings]]);
