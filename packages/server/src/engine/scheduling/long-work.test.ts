/** Slices of long work and requests that compete for the event loop (D169), forced by a clock and a loop of the test's own. */
import { describe, expect, it } from 'vitest';
import { LongWork, OpenRequests } from './long-work.js';

/** An event loop that turns when the test says so. */
class Loop {
  nowMs = 1000;
  /** Each slice, and the time for which the loop was idle before it. */
  readonly slices: { readonly name: string; readonly idleMs: number }[] = [];
  readonly work = new LongWork({
    nowMs: () => this.nowMs,
    afterConnections: (then) => this.#due.push({ at: this.nowMs, then }),
    later: (ms, then) => this.#due.push({ at: this.nowMs + ms, then }),
  });
  readonly #due: { readonly at: number; readonly then: () => void }[] = [];
  #idleMs = 0;

  /** Starts a piece of work of so many slices, each of which keeps the loop for this time. */
  async start(name: string, slices: number, sliceMs = 2): Promise<void> {
    const startedMs = this.nowMs;
    for (let i = 0; i < slices; i += 1) {
      this.keep(name, sliceMs);
      await this.work.next(startedMs);
    }
  }

  /** Keeps the loop for this time. */
  keep(name: string, ms: number): void {
    this.slices.push({ name, idleMs: this.#idleMs });
    this.#idleMs = 0;
    this.nowMs += ms;
  }

  /** Runs what is due next. */
  async turn(): Promise<void> {
    const next = this.#due.toSorted((a, b) => a.at - b.at)[0];
    if (next === undefined) throw new Error('nothing is due');
    this.#due.splice(this.#due.indexOf(next), 1);
    const idleMs = Math.max(0, next.at - this.nowMs);
    this.#idleMs += idleMs;
    this.nowMs += idleMs;
    next.then();
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
  }

  /** Idle times before each of the next slices. */
  async idleBefore(count: number): Promise<number[]> {
    const from = this.slices.length;
    while (this.slices.length < from + count) await this.turn();
    return this.slices.slice(from, from + count).map(({ idleMs }) => idleMs);
  }
}

describe('LongWork', () => {
  it('gives pieces of work a slice each in turn', async () => {
    const loop = new Loop();
    for (const name of ['a', 'b', 'c']) void loop.start(name, 3);
    await loop.idleBefore(6);
    expect(loop.slices.map(({ name }) => name).join('')).toBe('abcabcabc');
  });

  it('never pauses without another request', async () => {
    const loop = new Loop();
    loop.work.began(loop.nowMs);
    loop.work.began(loop.nowMs);
    void loop.start('export', 60);
    void loop.start('import', 60);
    const idle = await loop.idleBefore(118);
    expect(idle.every((ms) => ms === 0)).toBe(true);
  });

  it('pauses for as long as a slice while another request has no answer', async () => {
    const loop = new Loop();
    loop.work.began(loop.nowMs);
    void loop.start('export', 60);
    expect(await loop.idleBefore(4)).toEqual([0, 0, 0, 0]);
    const other = loop.nowMs;
    loop.work.began(other);
    expect(await loop.idleBefore(4)).toEqual([2, 2, 2, 2]);
    loop.work.ended(other);
    expect(await loop.idleBefore(3)).toEqual([0, 0, 0]);
  });

  it('pauses after a slice, not during it, if several pieces of work wait', async () => {
    const loop = new Loop();
    for (const name of ['a', 'b', 'c']) {
      loop.work.began(loop.nowMs);
      void loop.start(name, 3, 5);
    }
    loop.work.began(loop.nowMs);
    expect(await loop.idleBefore(6)).toEqual([2, 5, 5, 5, 5, 5]);
  });

  it('pauses for as long as a long slice took, for at most 20 ms', async () => {
    for (const [sliceMs, pauseMs] of [
      [1, 2],
      [13, 13],
      [40, 20],
    ] as const) {
      const loop = new Loop();
      void loop.start('clock', 3, sliceMs);
      loop.work.began(loop.nowMs);
      await loop.idleBefore(1);
      // A request has no answer for the whole time.
      loop.work.began(loop.nowMs);
      expect(await loop.idleBefore(1)).toEqual([pauseMs]);
    }
  });

  it('does not pause for the requests that a piece of work belongs to', async () => {
    const loop = new Loop();
    const own = new OpenRequests();
    for (let i = 0; i < 8; i += 1) {
      loop.work.began(loop.nowMs);
      own.began(loop.nowMs);
    }
    const before = async (): Promise<number> => {
      const turn = loop.work.next(loop.nowMs, own).then(() => loop.keep('orders', 7));
      const idle = await loop.idleBefore(1);
      await turn;
      return idle[0] ?? Number.NaN;
    };
    expect(await before()).toBe(0);
    const other = loop.nowMs;
    loop.work.began(other);
    expect(await before()).toBe(7);
    loop.work.ended(other);
    expect(await before()).toBe(0);
    // One of its own is answered, one of others begins.
    loop.work.ended(1000);
    own.ended(1000);
    loop.work.began(loop.nowMs);
    expect(await before()).toBe(7);
  });

  it('does not pause for a request that has waited for more than 100 ms, such as a stream', async () => {
    const loop = new Loop();
    void loop.start('follower', 200);
    await loop.idleBefore(50);
    loop.work.began(loop.nowMs);
    const idle = await loop.idleBefore(100);
    expect(idle.slice(0, 3)).toEqual([2, 2, 2]);
    expect(idle.slice(50).every((ms) => ms === 0)).toBe(true);
  });

  it('has slices of a tenth of the time between them, of 1 to 5 ms', async () => {
    const loop = new Loop();
    for (const [turnMs, sliceMs] of [
      [0, 1],
      [30, 3],
      [200, 5],
      [4, 1],
    ] as const) {
      const turn = loop.work.next(loop.nowMs);
      // The loop is full.
      loop.nowMs += turnMs;
      await loop.turn();
      await turn;
      expect(loop.work.sliceMs).toBe(sliceMs);
      loop.nowMs += sliceMs;
    }
  });

  it('begins with a short slice after a time without long work', async () => {
    const loop = new Loop();
    loop.nowMs += 60_000;
    const turn = loop.work.next(loop.nowMs);
    await loop.turn();
    await turn;
    expect(loop.work.sliceMs).toBe(1);
  });

  it('forgets how long a slice took that ended long ago', async () => {
    const loop = new Loop();
    void loop.start('import', 2, 40);
    await loop.idleBefore(1);
    // It has ended, and connections had a turn.
    for (let i = 0; i < 2; i += 1) await loop.turn();
    loop.nowMs += 1000;
    loop.work.began(loop.nowMs);
    loop.work.began(loop.nowMs);
    void loop.start('export', 2);
    expect(await loop.idleBefore(1)).toEqual([2]);
  });
});
