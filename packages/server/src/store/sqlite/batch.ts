import type { StoredAnswer } from '../journal.js';
import type { ApiKey, SimulationEntry, Tenant } from '../registry.js';

/**
 * What the main thread sends to the writer: everything of one turn of the event loop, as columns, because copying
 * an object per record to another thread would cost more than all the rest of an append.
 */
export interface Batch {
  readonly kind: 'batch';
  readonly number: number;
  /** Key of the simulation of each record, in order of the calls; 0: not a record but the next of `operations`. */
  readonly simulations: number[];
  readonly seqs: number[];
  readonly ats: number[];
  readonly payloads: string[];
  readonly operations: Operation[];
}

/** Everything that is not a record. */
export type Operation =
  | { readonly kind: 'save-answer'; readonly lookup: string; readonly answer: StoredAnswer }
  | {
      readonly kind: 'save-checkpoint';
      readonly simulation: number;
      readonly seq: number;
      readonly state: string;
    }
  | { readonly kind: 'create-tenant'; readonly tenant: Tenant }
  | { readonly kind: 'update-tenant'; readonly tenant: Tenant }
  | { readonly kind: 'create-api-key'; readonly key: ApiKey }
  | { readonly kind: 'revoke-api-key'; readonly hash: string; readonly revokedAt: number }
  | {
      readonly kind: 'create-simulation';
      readonly key: number;
      readonly simulation: Omit<SimulationEntry, 'deletedAt'>;
    }
  | { readonly kind: 'delete-simulation'; readonly id: string; readonly deletedAt: number }
  | { readonly kind: 'save-setting'; readonly name: string; readonly value: string }
  | { readonly kind: 'probe' };

/** An operation that was not done, because of what is in the registry. */
export interface Refusal {
  readonly batch: number;
  /** Index among the operations of the batch. */
  readonly operation: number;
  readonly reason: 'already-exists' | 'not-in-registry';
  readonly message: string;
}

export type ToWriter = Batch | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'ready'; readonly epoch: number }
  | { readonly kind: 'not-opened'; readonly name: string; readonly message: string }
  | { readonly kind: 'committed'; readonly upTo: number; readonly refusals: readonly Refusal[] }
  | { readonly kind: 'failing'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'closed' };

export interface WriterData {
  readonly directory: string;
  /** URL of the module that exports `projectRecord`. */
  readonly projection: string;
  /** For tests: one shared number, the most pages the database may have; 0 is no limit. */
  readonly pageLimit?: Int32Array | undefined;
}

export function emptyBatch(number: number): Batch {
  return { kind: 'batch', number, simulations: [], seqs: [], ats: [], payloads: [], operations: [] };
}
