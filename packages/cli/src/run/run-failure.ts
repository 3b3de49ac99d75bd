/** A failure of Sandpit itself, not of the command: exit code 70. */
export class RunFailure extends Error {
  override readonly name = 'RunFailure';
}
