/** Why a request about an evaluation is refused. */
export type EvaluationProblem =
  'NOT_FOUND' | 'STARTED' | 'NOT_RUNNING' | 'NOT_FINISHED' | 'TOO_MANY' | 'NAME_TAKEN' | 'CELL';

/** Thrown by the parts of `Evaluations`; the message is for people. */
export class EvaluationRefused extends Error {
  override readonly name = 'EvaluationRefused';
  readonly problem: EvaluationProblem;

  constructor(problem: EvaluationProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
