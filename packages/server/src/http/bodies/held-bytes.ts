/** A body whose bytes are in memory: it is incomplete, or waits to be parsed. */
export interface HeldBody {
  readonly owner: string;
  /** Changed by `HeldBytes` only. */
  heldBytes: number;
  /** Refuses the request of the body. */
  readonly giveUp: () => void;
}

/**
 * Bytes of the bodies that are incomplete or wait to be parsed (D232). Beyond the limit the largest body of the owner with the most is given
 * up.
 */
export class HeldBytes {
  readonly #most: number;
  readonly #byOwner = new Map<string, { bytes: number; readonly bodies: Set<HeldBody> }>();
  #total = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get total(): number {
    return this.#total;
  }

  /** Sets the bytes of a body; 0 = it is no longer held. */
  hold(body: HeldBody, bytes: number): void {
    const more = bytes - body.heldBytes;
    if (more === 0) return;
    const held = this.#byOwner.get(body.owner) ?? { bytes: 0, bodies: new Set<HeldBody>() };
    body.heldBytes = bytes;
    held.bytes += more;
    this.#total += more;
    if (bytes > 0) held.bodies.add(body);
    else held.bodies.delete(body);
    if (held.bodies.size > 0) this.#byOwner.set(body.owner, held);
    else this.#byOwner.delete(body.owner);
    while (this.#total > this.#most) this.#giveUpLargest();
  }

  #giveUpLargest(): void {
    let most: Iterable<HeldBody> = [];
    let mostBytes = 0;
    for (const { bytes, bodies } of this.#byOwner.values())
      if (bytes > mostBytes) [most, mostBytes] = [bodies, bytes];
    let largest: HeldBody | undefined;
    for (const body of most) if (body.heldBytes > (largest?.heldBytes ?? 0)) largest = body;
    if (largest === undefined) return;
    this.hold(largest, 0);
    largest.giveUp();
  }
}
