/** Why a request about a competition is refused. */
export type CompetitionProblem =
  | 'NOT_FOUND'
  | 'STARTED'
  | 'NOT_RUNNING'
  | 'NOT_FINISHED'
  | 'WALL_CLOCK'
  | 'FULL'
  | 'ALREADY_ENTERED'
  | 'NAME_TAKEN'
  | 'JOIN_CODE'
  | 'TOO_MANY'
  | 'NOT_RECORDED'
  | 'BROKER';

/** Thrown by the parts of `Competitions`; the message is for people. */
export class CompetitionRefused extends Error {
  override readonly name = 'CompetitionRefused';
  readonly problem: CompetitionProblem;
  /** The limit that was reached, if any. */
  readonly figures: number | undefined;

  constructor(problem: CompetitionProblem, message: string, figures?: number) {
    super(message);
    this.problem = problem;
    this.figures = figures;
  }
}

export const notFound = (): CompetitionRefused =>
  new CompetitionRefused('NOT_FOUND', 'Competition not found');
export const notRunning = (message: string): CompetitionRefused =>
  new CompetitionRefused('NOT_RUNNING', message);
