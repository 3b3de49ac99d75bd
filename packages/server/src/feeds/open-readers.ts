/** Maximum number of open recordings; the reader idle the longest is closed and resumes its position later. */
const MOST_OPEN_READERS = 32;

interface Closable {
  close(): Promise<void>;
}

/** Readers of recordings that stay open between their uses, up to a number of them. */
export class OpenReaders {
  readonly #readers = new Set<Closable>();

  /** Keeps a reader open until its next use, unless too many others are used in between. */
  async keep(reader: Closable): Promise<void> {
    this.#readers.delete(reader);
    this.#readers.add(reader);
    const [idlest] = this.#readers;
    if (idlest && this.#readers.size > MOST_OPEN_READERS) await this.drop(idlest);
  }

  /** Marks a reader as in use: it is not closed for others. */
  use(reader: Closable): void {
    this.#readers.delete(reader);
  }

  async drop(reader: Closable): Promise<void> {
    this.#readers.delete(reader);
    await reader.close();
  }
}
