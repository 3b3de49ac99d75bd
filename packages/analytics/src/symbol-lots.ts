/** Open lots of one symbol. */
import type { OpenLot } from './lot-book.js';

/** A lot among the open lots of its symbol. */
export interface LotNode {
  readonly lot: OpenLot;
  readonly previous: LotNode | undefined;
  readonly next: LotNode | undefined;
}

interface Node extends LotNode {
  lot: OpenLot;
  previous: Node | undefined;
  next: Node | undefined;
  /** Order of age: the place of the opening, then the part of a lot that was divided. */
  readonly place: number;
  readonly part: number;
  isGone: boolean;
}

/**
 * The open lots of one symbol, all of one side, oldest first. A linked list: any lot can be closed or split without moving the others. A
 * heap, built on first use, finds the lot with the smallest gain.
 */
export class SymbolLots {
  #first: Node | undefined;
  #last: Node | undefined;
  #places = 0;
  #count = 0;
  #quantity = 0;
  /** The last of the lots at the beginning that are settled. */
  #settled: Node | undefined;
  #byGain: GainHeap | undefined;

  get first(): LotNode | undefined {
    return this.#first;
  }

  get last(): LotNode | undefined {
    return this.#last;
  }

  /** Units of all lots. */
  get quantity(): number {
    return this.#quantity;
  }

  /** The first lot after those for which `settleBefore` was called. */
  get firstUnsettled(): LotNode | undefined {
    return this.#settled === undefined ? this.#first : this.#settled.next;
  }

  /**
   * The lot of the smallest gain a unit, opening charges included; of equal ones the oldest. Of longs that of the highest adjusted basis, of
   * shorts that of the lowest proceeds less the disallowed losses carried.
   */
  get leastGain(): LotNode | undefined {
    if (this.#byGain === undefined || this.#byGain.size > 2 * this.#count + 64) {
      this.#byGain = new GainHeap();
      for (let node = this.#first; node !== undefined; node = node.next) this.#byGain.push(node);
    }
    return this.#byGain.peek();
  }

  *[Symbol.iterator](): Generator<OpenLot, void, undefined> {
    for (let node = this.#first; node !== undefined; node = node.next) yield node.lot;
  }

  /** Adds the newest lot. */
  add(lot: OpenLot): void {
    this.#insert(lot, this.#last, (this.#places += 1), 0);
  }

  remove(node: LotNode): void {
    const { previous, next, lot } = node as Node;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    if (this.#settled === node) this.#settled = previous;
    (node as Node).isGone = true;
    this.#count -= 1;
    this.#quantity -= lot.quantity;
  }

  /** Replaces a lot; if it is split, its rest follows the first part. */
  revise(node: LotNode, first: OpenLot, rest?: OpenLot): void {
    const revised = node as Node;
    this.#quantity += first.quantity - revised.lot.quantity;
    revised.lot = first;
    this.#byGain?.push(revised);
    if (rest !== undefined) this.#insert(rest, revised, revised.place, revised.part + 1);
  }

  /** Marks the lots before this one as irrelevant for further searches; undefined = all current ones. */
  settleBefore(node: LotNode | undefined): void {
    this.#settled = node === undefined ? this.#last : (node as Node).previous;
  }

  #insert(lot: OpenLot, previous: Node | undefined, place: number, part: number): void {
    const next = previous?.next;
    const node: Node = { lot, previous, next, place, part, isGone: false };
    if (previous === undefined) this.#first = node;
    else previous.next = node;
    if (next === undefined) this.#last = node;
    else next.previous = node;
    this.#count += 1;
    this.#quantity += lot.quantity;
    this.#byGain?.push(node);
  }
}

interface Entry {
  readonly node: Node;
  /** The lot that it was entered with: an entry for a lot that was revised since is out of date. */
  readonly lot: OpenLot;
  readonly cost: number;
}

/** Lots by their cost a unit, the highest first. Entries out of date are skipped. */
class GainHeap {
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  push(node: Node): void {
    const entries = this.#entries;
    const entry = { node, lot: node.lot, cost: costPerUnit(node.lot) };
    let at = entries.length;
    entries.push(entry);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = entries[above];
      if (parent === undefined || !isBefore(entry, parent)) break;
      entries[at] = parent;
      at = above;
    }
    entries[at] = entry;
  }

  peek(): Node | undefined {
    for (let top = this.#entries[0]; top !== undefined; top = this.#entries[0]) {
      if (!top.node.isGone && top.node.lot === top.lot) return top.node;
      this.#removeTop();
    }
    return undefined;
  }

  #removeTop(): void {
    const entries = this.#entries;
    const entry = entries.pop();
    if (entry === undefined || entries.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let child = entries[below];
      const right = entries[below + 1];
      if (child === undefined) break;
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        below += 1;
      }
      if (!isBefore(child, entry)) break;
      entries[at] = child;
      at = below;
    }
    entries[at] = entry;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  if (a.cost !== b.cost) return a.cost > b.cost;
  return a.node.place === b.node.place ? a.node.part < b.node.part : a.node.place < b.node.place;
}

/** Amount by which a unit lowers the gain of closing it: the adjusted basis of a long, the negative proceeds of a short. */
const costPerUnit = ({ side, cost, commission, fees, disallowed, quantity }: OpenLot): number =>
  ((side === 'LONG' ? cost : -cost) + commission + fees + disallowed) / quantity;
