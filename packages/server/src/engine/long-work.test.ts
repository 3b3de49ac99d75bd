/** Slices of long work and requests that compete for the event loop (D169), forced by a clock and a loop of the test's own. */
import { describe, expect, it } from 'vitest';
import { LongWork } from './long-work.js';

const SLICE_MS = 2;

/** An event loop that turns when the test says so; every slice of work keeps it for 2 ms. */
class Loop {
  nowMs = 1000;
  readonly slices: string[] = [];
  readonly work = new LongWork({
    nowMs: () => this.nowMs,
    afterConnections: (then) => this.#due.push({ at: this.nowMs, then }),
    later: (ms, then) => this.#due.push({ at: this.nowMs + ms, then }),
  });
  readonly #due: { readonly at: number; readonly then: () => void }[] = [];

  /** Starts a piece of work of so many slices. */
  async start(name: string, slices: number): Promise<void> {
    const startedMs = this.nowMs;
    for (let i = 0; i < slices; i += 1) {
      this.slices.push(name);
      this.nowMs += SLICE_MS;
      await this.work.next(startedMs);
    }
  }

  /** Runs what is due next, and returns the time for which the loop was idle before it. */
  async turn(): Promise<number> {
    const next = this.#due.shift();
    if (next === undefined) throw new Error('nothing is due');
    const idleMs = Math.max(0, next.at - this.nowMs);
    this.nowMs += idleMs;
    next.then();
    for (let i = 0; i < 10; i += 1) await Promise.resolve();
    return idleMs;
  }

  /** Idle times before each of so many slices. */
  async turns(count: number): Promise<number[]> {
    const idle: number[] = [];
    for (let i = 0; i < count; i += 1) idle.push(await this.turn());
    return idle;
  }
}

describe('LongWork', () => {
  it('gives pieces of work a slice each in turn', async () => {
    const loop = new Loop();
    for (const name of ['a', 'b', 'c']) void loop.start(name, 3);
    await loop.turns(6);
    expect(loop.slices.join('')).toBe('abcabcabc');
  });

  it('never pauses without another request', async () => {
    const loop = new Loop();
    loop.work.began(loop.nowMs);
    loop.work.began(loop.nowMs);
    void loop.start('export', 60);
    void loop.start('import', 60);
    const idle = await loop.turns(118);
    expect(idle.every((ms) => ms === 0)).toBe(true);
  });

  it('pauses for as long as a slice while another request has no answer', async () => {
    const loop = new Loop();
    loop.work.began(loop.nowMs);
    void loop.start('export', 60);
    expect(await loop.turns(4)).toEqual([0, 0, 0, 0]);
    const other = loop.nowMs;
    loop.work.began(other);
    expect(await loop.turns(4)).toEqual([0, 2, 2, 2]);
    loop.work.ended(other);
    expect(await loop.turns(3)).toEqual([2, 0, 0]);
  });

  it('does not pause for a request that has waited for more than 100 ms, such as a stream', async () => {
    const loop = new Loop();
    void loop.start('follower', 200);
    await loop.turns(50);
    loop.work.began(loop.nowMs);
    const idle = await loop.turns(100);
    expect(idle.slice(0, 3)).toEqual([0, 2, 2]);
    expect(idle.slice(50).every((ms) => ms === 0)).toBe(true);
  });
});
