/** An element of a queue has its place, so that it can be removed from the middle. Owned by the queue: set it to -1 at first. */
export interface Queued {
  place: number;
}

interface Candidate<T> extends Queued {
  readonly element: T;
}

/** A binary heap with removal from the middle: first is the least by `before`. `before` must be a total order. */
export class PriorityQueue<T extends Queued> {
  private readonly heap: T[] = [];
  private readonly before: (a: T, b: T) => boolean;

  constructor(before: (a: T, b: T) => boolean) {
    this.before = before;
  }

  first(): T | undefined {
    return this.heap[0];
  }

  /** Items at the front that satisfy `test`, in no particular order. Every item before a satisfying one must satisfy it. */
  leading(test: (element: T) => boolean): T[] {
    const found: T[] = [];
    const places = [0];
    for (let place = places.pop(); place !== undefined; place = places.pop()) {
      const element = this.heap[place];
      if (element === undefined || !test(element)) continue;
      found.push(element);
      places.push(2 * place + 1, 2 * place + 2);
    }
    return found;
  }

  /** The first elements in order, at most `most`. */
  *inOrder(most: number): Generator<T, void, undefined> {
    /** Each is the least of its subtree; the next element is among them. */
    const candidates = new PriorityQueue<Candidate<T>>((a, b) => this.before(a.element, b.element));
    const consider = (place: number): void => {
      const element = this.heap[place];
      if (element !== undefined) candidates.add({ element, place: -1 });
    };
    consider(0);
    for (let given = 0; given < most; given++) {
      const least = candidates.first();
      if (least === undefined) return;
      candidates.remove(least);
      const { place } = least.element;
      yield least.element;
      consider(2 * place + 1);
      consider(2 * place + 2);
    }
  }

  add(element: T): void {
    this.heap.push(element);
    this.rise(element, this.heap.length - 1);
  }

  /** Removes an element from any place; no effect if it is not queued. */
  remove(element: T): void {
    const place = element.place;
    if (place < 0 || this.heap[place] !== element) return;
    element.place = -1;
    const last = this.heap.pop();
    if (last === undefined || last === element) return;
    this.sink(last, place);
    this.rise(last, last.place);
  }

  /** In no particular order. */
  values(): Iterable<T> {
    return this.heap;
  }

  private rise(element: T, from: number): void {
    let place = from;
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = this.heap[parentPlace];
      if (parent === undefined || !this.before(element, parent)) break;
      this.heap[place] = parent;
      parent.place = place;
      place = parentPlace;
    }
    this.heap[place] = element;
    element.place = place;
  }

  private sink(element: T, from: number): void {
    let place = from;
    for (;;) {
      let childPlace = 2 * place + 1;
      let child = this.heap[childPlace];
      if (child === undefined) break;
      const right = this.heap[childPlace + 1];
      if (right !== undefined && this.before(right, child)) {
        child = right;
        childPlace++;
      }
      if (!this.before(child, element)) break;
      this.heap[place] = child;
      child.place = place;
      place = childPlace;
    }
    this.heap[place] = element;
    element.place = place;
  }
}
