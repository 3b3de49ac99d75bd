import type { OrderSnapshot } from '@sandpit/core';
import type { DurableRecord } from '../engine/records/records.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import type { JournalRecord } from '../store/journal.js';
import type { StreamPosition } from '../store/stream-position.js';

/** A serialized event: the same bytes in every try. */
export interface WebhookMessage {
  readonly position: StreamPosition;
  /** The `webhook-id` header. */
  readonly eventId: string;
  readonly type: string;
  /** Portfolio that it is about: first tries of its events go out in order. Empty = the market. */
  readonly portfolioId: string;
  readonly body: string;
}

/** Converts records of a simulation to messages. */
export interface WebhookTranslator {
  /** Messages of a record that was published in this turn. Throws `StoreUnavailable`. */
  readonly live: (simulation: Simulation, record: DurableRecord) => readonly WebhookMessage[];
  /**
   * Messages of a record from the journal that history contains. `followed`: orders after the previous records, kept between calls by the
   * caller that reads the journal.
   */
  readonly past: (
    simulation: Simulation,
    record: JournalRecord,
    followed: Map<number, OrderSnapshot>,
  ) => Promise<readonly WebhookMessage[]>;
  /** Body of a test event; `id` is that of its data. */
  readonly test: (id: string, simulationId: string, at: number) => string;
}

/** True when patterns such as `order.filled`, `order.*` and `*` name a type. */
export const isWanted = (patterns: readonly string[], type: string): boolean =>
  patterns.some(
    (pattern) =>
      pattern === '*' ||
      pattern === type ||
      (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))),
  );
