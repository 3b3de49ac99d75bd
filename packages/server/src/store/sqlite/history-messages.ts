/** What the main thread and the projector send each other. */
export interface ProjectorData {
  readonly directory: string;
  /** URL of the module that exports `projectRecord`. */
  readonly projection: string;
  readonly signal: Int32Array;
  /** Begin with a rebuild. */
  readonly isFresh: boolean;
  /** Nobody else has the tables open yet. */
  readonly isAlone: boolean;
  /** Rebuilds that the projector before this one had been told to do. */
  readonly rebuild: number;
  /** For tests: one shared number, the most pages the database may have; 0 is no limit. */
  readonly pageLimit?: Int32Array | undefined;
}

export type ToProjector =
  /** The journal is open. */
  | { readonly kind: 'begin' }
  /** Nobody else has the tables open any more. */
  | { readonly kind: 'rebuild'; readonly reason: string; readonly number: number }
  /** A simulation is deleted. */
  | { readonly kind: 'forget'; readonly simulation: number }
  | { readonly kind: 'close' };

/** `rebuild`: how many rebuilds it had been told to do when it sent this. */
export type FromProjector = { readonly rebuild: number } & Told;

export type Told =
  | { readonly kind: 'ok' }
  | { readonly kind: 'rebuilding'; readonly reason: string; readonly progress: number }
  | { readonly kind: 'failing'; readonly reason: string }
  /** To be answered with `rebuild`. */
  | { readonly kind: 'damaged'; readonly reason: string }
  | {
      readonly kind: 'projected';
      /** Key of a simulation and its position, in turn. */
      readonly positions: readonly number[];
      /** Negative at the beginning: what is to be done. */
      readonly records: number;
      /** Set when there was nothing more: what had been committed when it looked. */
      readonly upTo?: number;
    }
  | { readonly kind: 'closed' };
