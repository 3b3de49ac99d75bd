import { StoreUnavailable } from './journal.js';

/** The part of all bytes that one tenant may use. */
const TENANTS_PART = 4;

/** Bytes of a simulation in memory besides its records. */
const SIMULATION_BYTES = 16 * 1024;

/** Ephemeral simulations use as much memory as they may, those of the tenant or all. */
export class EphemeralFull extends StoreUnavailable {
  constructor() {
    super('the memory for ephemeral simulations is full: delete some of them');
  }
}

/** A simulation in memory, or a copy of the records that forks share with a stored simulation. */
export interface EphemeralCell {
  readonly id: string;
  readonly tenantId: string;
  readonly parent: EphemeralCell | undefined;
  bytes: number;
  /** Cells whose records begin with this one's, and work that is about to make one. */
  forks: number;
  /** It is deleted: it stays for its forks alone. */
  isEnded: boolean;
}

/** The simulations in memory, and the bytes that they use. What forks need of a deleted one is counted until the last of them is deleted. */
export class EphemeralCells {
  readonly #mostBytes: number;
  readonly #cells = new Map<string, EphemeralCell>();
  readonly #ofTenants = new Map<string, number>();
  /** Copies without forks. The next fork needs no other copy; they are freed when memory is needed. */
  readonly #spare = new Set<EphemeralCell>();
  #bytes = 0;
  /** Receives a cell that nothing needs any longer. */
  onFreed: (cell: EphemeralCell) => void = () => undefined;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Memory of all ephemeral simulations, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Simulations that are not deleted. */
  get all(): Iterable<EphemeralCell> {
    return this.#cells.values();
  }

  /** A simulation that is not deleted. */
  find(id: string): EphemeralCell | undefined {
    return this.#cells.get(id);
  }

  begin(id: string, tenantId: string, parent: EphemeralCell | undefined): EphemeralCell {
    if (parent !== undefined) this.hold(parent);
    const cell: EphemeralCell = { id, tenantId, parent, bytes: 0, forks: 0, isEnded: false };
    this.#cells.set(id, cell);
    this.add(cell, SIMULATION_BYTES);
    return cell;
  }

  /** A cell that is no simulation. It ends when the simulation that it is a copy of is deleted. */
  beginCopy(id: string, tenantId: string): EphemeralCell {
    return { id, tenantId, parent: undefined, bytes: 0, forks: 0, isEnded: false };
  }

  /** A fork, or work that will make one, needs a cell. */
  hold(cell: EphemeralCell): void {
    cell.forks += 1;
    this.#spare.delete(cell);
  }

  add(cell: EphemeralCell, bytes: number): void {
    cell.bytes += bytes;
    this.#bytes += bytes;
    this.#ofTenants.set(cell.tenantId, (this.#ofTenants.get(cell.tenantId) ?? 0) + bytes);
  }

  isFull(tenantId: string): boolean {
    if (!this.#isOver(tenantId)) return false;
    for (const cell of [...this.#spare]) this.end(cell);
    return this.#isOver(tenantId);
  }

  #isOver(tenantId: string): boolean {
    return (
      this.#bytes >= this.#mostBytes ||
      (this.#ofTenants.get(tenantId) ?? 0) >= Math.floor(this.#mostBytes / TENANTS_PART)
    );
  }

  /** Throws `EphemeralFull`. */
  requireRoom(tenantId: string): void {
    if (this.isFull(tenantId)) throw new EphemeralFull();
  }

  end(cell: EphemeralCell): void {
    cell.isEnded = true;
    this.#cells.delete(cell.id);
    if (cell.forks === 0) this.#free(cell);
  }

  /** A fork, or work that was about to make one, needs a cell no longer. */
  letGo(cell: EphemeralCell): void {
    cell.forks -= 1;
    if (cell.forks > 0) return;
    if (cell.isEnded) this.#free(cell);
    else if (this.find(cell.id) !== cell) this.#spare.add(cell);
  }

  #free(cell: EphemeralCell): void {
    this.#spare.delete(cell);
    this.add(cell, -cell.bytes);
    if (this.#ofTenants.get(cell.tenantId) === 0) this.#ofTenants.delete(cell.tenantId);
    this.onFreed(cell);
    if (cell.parent !== undefined) this.letGo(cell.parent);
  }
}
