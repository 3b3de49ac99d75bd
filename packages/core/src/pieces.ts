/** Result of work in pieces, all of it at once. */
export function finish<Result>(work: Generator<undefined, Result>): Result {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
