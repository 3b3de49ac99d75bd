/** The clients of a portfolio: no two have one id, and no order id is used twice. */
import type { Book } from '@sandpit/dialect-port';

/** Ids that are reserved at once. */
const BLOCK = 100;
const LAST_ID = 2_147_483_647;
const MOST_CLIENTS = 32;

export class Room {
  readonly #book: Book;
  readonly #clients = new Set<number>();
  /** The smallest id that no order has used. */
  #next: number;
  /** The same as a restart finds it: at least as large. */
  #saved: number;

  constructor(book: Book) {
    this.#book = book;
    const saved = Number(book.keep.get(settingOf(book)) ?? 1);
    this.#next = saved;
    this.#saved = saved;
  }

  get next(): number {
    return this.#next;
  }

  /** Enters a client. Returns false if its id is in use, or if there are too many clients. */
  enter(clientId: number): boolean {
    if (this.#clients.has(clientId) || this.#clients.size >= MOST_CLIENTS) return false;
    this.#clients.add(clientId);
    return true;
  }

  leave(clientId: number): void {
    this.#clients.delete(clientId);
  }

  /** Notes the use of an order id. Resolves when a restart will know of it. */
  async use(orderId: number): Promise<void> {
    if (orderId < this.#next) return;
    this.#next = Math.min(LAST_ID, orderId + 1);
    if (this.#next <= this.#saved) return;
    this.#saved = Math.min(LAST_ID, this.#next + BLOCK);
    await this.#book.keep.save(settingOf(this.#book), String(this.#saved));
  }
}

const settingOf = ({ portfolioId }: Book): string => `tws-next/${portfolioId}`;

const rooms = new WeakMap<object, Map<string, Room>>();

export function roomOf(book: Book): Room {
  const ofSimulation = rooms.get(book.key) ?? new Map<string, Room>();
  rooms.set(book.key, ofSimulation);
  const room = ofSimulation.get(book.portfolioId) ?? new Room(book);
  ofSimulation.set(book.portfolioId, room);
  return room;
}
