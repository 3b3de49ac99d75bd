/** Messages between the main thread and the projector. */
export interface ProjectorData {
  readonly directory: string;
  /** URL of the module that exports `projectRecord`. */
  readonly projection: string;
  readonly signal: Int32Array;
  /** Reason to remove the tables first, in any state. They are not open anywhere. */
  readonly fresh: string | undefined;
  /** For tests: one shared number, the most pages the database may have; 0 is no limit. */
  readonly pageLimit?: Int32Array | undefined;
}

export type ToProjector =
  /** The journal is open. */
  | { readonly kind: 'begin' }
  /** A simulation is deleted. */
  | { readonly kind: 'forget'; readonly simulation: number }
  | { readonly kind: 'close' };

export type FromProjector =
  | { readonly kind: 'ok' }
  | { readonly kind: 'rebuilding'; readonly reason: string; readonly progress: number }
  | { readonly kind: 'failing'; readonly reason: string }
  /** It cannot continue with these tables. */
  | { readonly kind: 'damaged'; readonly reason: string }
  | {
      readonly kind: 'projected';
      /** Key of a simulation and its position, in turn. */
      readonly positions: readonly number[];
      /** Number of records; negative at the beginning: the number to be processed. */
      readonly records: number;
      /** Set when it has caught up: the last commit at that check. */
      readonly upTo?: number;
    }
  | { readonly kind: 'closed' };
