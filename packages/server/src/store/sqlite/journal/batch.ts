import type { Question } from '../../history/asking.js';
import type { StoredAnswer } from '../../journal.js';
import type { ForkOrigin } from './fork-origin.js';
import type { ApiKey, SimulationEntry, Tenant } from '../../registry.js';

/**
 * A batch that the main thread sends to the writer: everything of one turn of the event loop. Records are encoded once, here, and their
 * bytes are transferred, not copied.
 */
export interface Batch {
  readonly kind: 'batch';
  readonly number: number;
  readonly pieces: readonly Piece[];
  /** The pieces' lines, one piece after the other. */
  readonly data: Uint8Array;
  readonly operations: readonly Operation[];
}

/** Consecutive records of a simulation. */
export interface Piece {
  /** Key of the simulation. */
  readonly simulation: number;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
}

/** A response without the parts of its lookup. */
export type AnswerContent = Pick<StoredAnswer, 'expiresAt' | 'fingerprint' | 'statusCode' | 'body'>;

/** Everything that is not a record. */
export type Operation =
  | { readonly kind: 'save-answer'; readonly lookup: string; readonly answer: AnswerContent }
  | { readonly kind: 'delete-answers'; readonly prefix: string }
  | { readonly kind: 'create-tenant'; readonly tenant: Tenant }
  | { readonly kind: 'update-tenant'; readonly tenant: Tenant }
  | { readonly kind: 'create-api-key'; readonly key: ApiKey }
  | { readonly kind: 'revoke-api-key'; readonly hash: string; readonly revokedAt: number }
  | {
      readonly kind: 'create-simulation';
      readonly key: number;
      readonly simulation: Omit<SimulationEntry, 'deletedAt'>;
      readonly origin?: ForkOrigin;
    }
  | { readonly kind: 'delete-simulation'; readonly key: number; readonly deletedAt: number }
  | { readonly kind: 'delete-tenant'; readonly tenantId: string }
  | { readonly kind: 'save-setting'; readonly name: string; readonly value: string }
  | { readonly kind: 'delete-setting'; readonly name: string }
  /** Statements on tables that no sum covers. */
  | { readonly kind: 'write'; readonly statements: readonly Question[] }
  | { readonly kind: 'probe' };

/** An operation that was refused because of the state of the registry. */
export interface WriteRefusal {
  readonly batch: number;
  /** Index among the operations of the batch. */
  readonly operation: number;
  readonly reason: 'already-exists' | 'not-in-registry';
  readonly message: string;
}

export type ToWriter = Batch | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'ready' }
  | { readonly kind: 'not-opened'; readonly name: string; readonly message: string }
  | { readonly kind: 'committed'; readonly upTo: number; readonly refusals: readonly WriteRefusal[] }
  /** The reserve was given back to a full disk. */
  | { readonly kind: 'reserve-spent'; readonly reason: string }
  | { readonly kind: 'reserve-restored' }
  | { readonly kind: 'failing'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'closed' };

export interface WriterData {
  readonly directory: string;
  /** For tests: see `SqliteStoreOptions`. */
  readonly pageLimit?: Int32Array | undefined;
}
