/** A recording that cannot be replayed; the message names the file, the line and the remedy. */
export class BadReplayFile extends Error {
  override readonly name = 'BadReplayFile';

  constructor(file: string, line: number | undefined, reason: string) {
    super(`${file}${line === undefined ? '' : `, line ${line}`}: ${reason}`);
  }
}
