/** A recording that cannot be replayed as it is; the message names the file, the line and what to do about it. */
export class BadReplayFile extends Error {
  override readonly name = 'BadReplayFile';

  constructor(file: string, line: number | undefined, reason: string) {
    super(`${file}${line === undefined ? '' : `, line ${line}`}: ${reason}`);
  }
}
