const SLOTS = 60;
const SLOT_MS = 1000;

/** Orders accepted by the second, of all simulations. Times are those of a monotonic clock. */
export class OrderMeter {
  readonly #counts = new Uint32Array(SLOTS);
  readonly #seconds = new Float64Array(SLOTS).fill(-1);
  #total = 0;

  count(nowMs: number, orders: number): void {
    const second = Math.floor(nowMs / SLOT_MS);
    const place = second % SLOTS;
    if (this.#seconds[place] !== second) {
      this.#seconds[place] = second;
      this.#counts[place] = 0;
    }
    this.#counts[place] = (this.#counts[place] ?? 0) + orders;
    this.#total += orders;
  }

  /** Since the start of the process. */
  get total(): number {
    return this.#total;
  }

  /** Per second, over the last 59 whole seconds. */
  rate(nowMs: number): number {
    const now = Math.floor(nowMs / SLOT_MS);
    let count = 0;
    for (let place = 0; place < SLOTS; place++) {
      const second = this.#seconds[place] ?? -1;
      if (second < now && second > now - SLOTS) count += this.#counts[place] ?? 0;
    }
    return count / (SLOTS - 1);
  }
}

/** Orders that this process has accepted. */
export const PLACED = new OrderMeter();
