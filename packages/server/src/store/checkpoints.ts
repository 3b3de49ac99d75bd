/** Stored state of a simulation as of a record, so that recovery reads only the tail behind it. */
export interface Checkpoint {
  readonly simulationId: string;
  readonly seq: number;
  /** JSON text of the state. */
  readonly state: string;
}

export interface Checkpoints {
  /** Durable when it resolves. */
  save(checkpoint: Checkpoint): Promise<void>;
  /** The latest intact checkpoint: two are kept. */
  load(simulationId: string): Checkpoint | undefined;
}
