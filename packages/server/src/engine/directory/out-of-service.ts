/** Simulations that cannot be opened now, with the reasons. */
export class OutOfService {
  readonly #note: (text: string) => void;
  /** Simulations that stay closed until the next start. */
  readonly #broken = new Map<string, string>();
  /** Simulations whose last opening has failed because the database lacks acknowledged records. */
  readonly #lacking = new Map<string, string>();

  /** `note` logs one line for the operator. */
  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  /** Damaged simulations, and those that lack acknowledged records. */
  list(): readonly (readonly [id: string, reason: string])[] {
    return [...this.#broken, ...this.#lacking];
  }

  /** Why a simulation stays closed until the next start; undefined = it does not. */
  reasonOf(id: string): string | undefined {
    return this.#broken.get(id);
  }

  has(id: string): boolean {
    return this.#broken.has(id);
  }

  add(id: string, reason: string): void {
    this.#broken.set(id, reason);
  }

  /** Logs that a simulation is out of service. */
  log(id: string, reason: string): void {
    this.#note(`Simulation ${id} is out of service until the server is started again: ${reason}`);
  }

  /** The database lacks records of a simulation. Its next opening may find them. */
  addLacking(id: string, reason: string): void {
    this.#lacking.set(id, reason);
  }

  foundRecords(id: string): void {
    this.#lacking.delete(id);
  }

  /** Forgets a simulation that is removed. */
  removed(id: string): void {
    this.#broken.delete(id);
  }

  /** Forgets a simulation of a tenant that this node acquires or leaves. */
  left(id: string): void {
    this.#broken.delete(id);
    this.#lacking.delete(id);
  }
}
