/** An evaluation, its entries and the rows of its matrix, as they travel and as its exported file has them (D210). */

/** Names a market of a scenario. It does not make the market alone: the draw of the evaluation does. */
export type Seed = string | number;

/** A task of a scenario (D211). `assert` is validated with the request; its grammar is that of the grader. */
export interface ShownTask {
  readonly name: string;
  readonly instructions: string;
  readonly assert: readonly unknown[];
}

export interface ShownScenario {
  readonly name: string;
  readonly market: Readonly<Record<string, unknown>>;
  readonly rules: Readonly<Record<string, unknown>>;
  /** Absent = `[1]`. */
  readonly seeds?: readonly Seed[];
  readonly instructions?: string;
  /** Name of a fixture, or positions to import. */
  readonly fixture?: string | { readonly import: Readonly<Record<string, unknown>> };
  readonly tasks?: readonly ShownTask[];
}

/** A field of a performance, nested names with dots; `tasksPassed`; or a weighted sum of these. */
export type ScoreRule = string | Readonly<Record<string, number>>;

export type BaselineName = 'hold' | 'random' | 'noop';

/** Definition of an evaluation: its request body, with the scenarios of the suite instead of `suite`. */
export interface EvaluationDefinition {
  readonly name: string;
  readonly scenarios: readonly ShownScenario[];
  /** Absent = 1. */
  readonly trials?: number;
  readonly baselines?: readonly BaselineName[];
  readonly score: ScoreRule;
  /** Real time from the first request of a cell, ISO 8601; absent = P1D. */
  readonly timeLimit?: string;
  /** Requests of a cell; absent = any number. */
  readonly callLimit?: number;
  readonly reveal?: boolean;
  readonly ephemeral?: boolean;
  readonly visibility?: 'PRIVATE' | 'PUBLIC';
}

/** A cell of an entry: one run of a scenario. */
export interface ShownCell {
  readonly cellId: string;
  readonly scenario: string;
  readonly seed: Seed;
  readonly trial: number;
  readonly portfolioId: string;
  readonly simulationId: string;
}

/** An entrant with its cells. Baselines are entrants of the house. */
export interface ShownEntry {
  readonly entryId: string;
  readonly entrant: string;
  readonly model?: string;
  readonly version?: string;
  readonly cells: readonly ShownCell[];
}

export type CellStatus = 'OPEN' | 'RUNNING' | 'DONE' | 'ABANDONED';
export type EndReason = 'END' | 'FINISH' | 'TIME_LIMIT' | 'CALL_LIMIT' | 'WITHDRAWN';

/** Tokens and costs that the entrant reports. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** Transcripts that were sent. */
  readonly transcripts: number;
}

/** Why a task failed (D211). */
export interface TaskFailure {
  /** Index of the assertion. */
  readonly assertion: number;
  readonly when: 'end' | 'always' | 'ever';
  /** Simulated, ISO 8601. */
  readonly at: string;
  readonly sequence?: number;
  readonly expected: unknown;
  readonly got: unknown;
  readonly text: string;
}

export interface TaskResult {
  readonly name: string;
  readonly passed: boolean;
  /** True when `baseline:noop` passes the task too. */
  readonly trivial?: true;
  readonly why?: TaskFailure;
}

/** A row of the matrix: a cell with its figures. Figures are present once the cell is DONE or ABANDONED and has been walked to its end. */
export interface MatrixRow {
  readonly cellId: string;
  readonly entrant: string;
  readonly scenario: string;
  readonly seed: Seed;
  readonly trial: number;
  readonly status: CellStatus;
  readonly reason?: EndReason;
  /** Real time of the first request, and of the end. ISO 8601. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  /** Simulated time at which the entrant stopped. */
  readonly finishedAt?: string;
  readonly wallSeconds?: number;
  readonly calls: {
    readonly requests: number;
    readonly orders: number;
    readonly refused: number;
    readonly steps: number;
  };
  readonly usage?: Usage;
  /** The performance from start to end, as `GET …/performance` has it. */
  readonly metrics?: Readonly<Record<string, unknown>>;
  readonly score?: number;
  readonly tasks?: readonly TaskResult[];
  /** Final chain hash of the cell's exported file (D170). */
  readonly journalHash?: string;
}

/** Figures of an entrant over all its cells. */
export interface SummaryRow {
  readonly entrant: string;
  readonly model?: string;
  readonly version?: string;
  readonly cells: number;
  readonly abandoned: number;
  readonly mean: number;
  readonly stderr?: number;
  readonly ci95?: readonly [number, number];
  readonly tasksPassed?: number;
  readonly passAt?: Readonly<Record<string, number>>;
  readonly passHat?: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly wallSeconds: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly costUsd?: number;
}

/** Two entrants compared cell by cell. */
export interface PairedRow {
  readonly a: string;
  readonly b: string;
  readonly cells: number;
  readonly mean: number;
  readonly stderr?: number;
  readonly ci95?: readonly [number, number];
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
}

export interface EvaluationRank {
  readonly rank: number;
  readonly entrant: string;
  readonly score: number;
  readonly stderr?: number;
  readonly ci95?: readonly [number, number];
  readonly cells: number;
  readonly abandoned: number;
  readonly tasksPassed?: number;
  readonly costUsd?: number;
  readonly requests: number;
}

/** Grows when an older server would misread a file. Files of format 1 have no journal of the evaluation. */
export const EVALUATION_FORMAT = 2;

/** An entry in the exported file. */
export interface FiledEntry extends ShownEntry {
  /** From 1, in the order of entering; absent in format 1. */
  readonly number?: number;
  readonly withdrawn?: true;
}

/**
 * The first line of an exported evaluation. A line for each row of the matrix follows (`{ type: 'row', ...MatrixRow }`), by entrant,
 * scenario, seed and trial as `entries` list them; then the file (D170) of the evaluation's own cell, and that of each cell's simulation in
 * the order of the rows.
 */
export interface EvaluationHeader {
  readonly type: 'evaluation';
  readonly format: 1 | typeof EVALUATION_FORMAT;
  readonly evaluationId: string;
  /** Id of the evaluation's own cell; absent in format 1. */
  readonly cellId?: string;
  readonly digest: string;
  /** SHA-256, in hex, of the recording's files; present when a scenario replays it. Part of `digest`. */
  readonly recording?: string;
  /** 128 bits, hexadecimal. */
  readonly draw: string;
  readonly definition: EvaluationDefinition;
  /** In order of `resultHash`: baselines too. */
  readonly entries: readonly FiledEntry[];
  readonly resultHash: string;
}

/** Scenarios that ship with the server. */
export interface Suite {
  readonly name: string;
  readonly scenarios: readonly ShownScenario[];
}
