/** A file that cannot be converted at all; the message names the file, where there is one the line, and the remedy. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';

  constructor(path: string, why: string) {
    super(`${path}${why.startsWith('line ') ? ', ' : ': '}${why}`);
  }
}
