import { createHash } from 'node:crypto';
import { Instant } from '@sandpit/core';
import type { Brokerage, Command, Rules } from '@sandpit/core';
import type { JournalRecord, JournalRecords } from '../../store/journal.js';
import { recordText } from '../records/record-text.js';
import { begin } from './recovery.js';
import type { Origin } from '../configuration/simulation-config.js';

/** The first records of a simulation, which become durable with its registration (D231). */
export interface FirstRecords {
  readonly records: readonly JournalRecord[];
  /** The state after them. */
  readonly brokerage: Brokerage;
}

/**
 * Decides the first commands of a simulation that is not registered yet, at its start. Throws `FirstCommandRefused`. Opening the simulation
 * then recovers it from these records.
 */
export function firstRecords(
  simulationId: string,
  rules: Rules,
  origin: Origin,
  commands: readonly Command[],
): FirstRecords {
  const brokerage = begin(rules, origin);
  const at = Instant.ofMs(origin.start);
  const records = commands.map((command, index) => {
    const { result, events, quotes } = brokerage.execute(command, at);
    if (typeof result === 'object' && 'code' in result) throw new FirstCommandRefused(result.code);
    return { simulationId, seq: index + 1, at, payload: recordText(command, quotes, events) };
  });
  return { records, brokerage };
}

/** A new simulation cannot be what its creator wants. */
export class FirstCommandRefused extends Error {
  override readonly name = 'FirstCommandRefused';
}

/** The event that completes a beginning: the portfolio of an entry is open, or a run of an evaluation has its terms. */
export type BeginningEnd = 'PortfolioOpened' | 'CompetitionBegun';

/** Records that an exported file abridges: instruments and actions of later dates are left out. */
const ABRIDGED = ['{"command":{"type":"ChangeRules"', '{"command":{"type":"AnnounceActions"'];

/** SHA-256, in hex, over the first records of a simulation. */
export async function beginningDigest(
  records: JournalRecords | Iterable<Pick<JournalRecord, 'payload'>>,
  end: BeginningEnd = 'PortfolioOpened',
): Promise<string> {
  const digest = new BeginningDigest(end);
  for await (const record of records) if (!digest.add(record)) break;
  return digest.hex;
}

/** The same over records that arrive one after the other. */
export class BeginningDigest {
  readonly #hash = createHash('sha256');
  readonly #last: string;
  #isComplete = false;

  constructor(end: BeginningEnd = 'PortfolioOpened') {
    this.#last = `"type":"${end}"`;
  }

  /** Returns false once the beginning is complete: later records do not count. */
  add({ payload }: Pick<JournalRecord, 'payload'>): boolean {
    if (this.#isComplete) return false;
    if (!ABRIDGED.some((prefix) => payload.startsWith(prefix))) this.#hash.update(`${payload}\n`);
    this.#isComplete = payload.includes(this.#last);
    return !this.#isComplete;
  }

  get hex(): string {
    return this.#hash.copy().digest('hex');
  }
}
