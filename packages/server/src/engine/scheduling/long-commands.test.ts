/**
 * Long commands of one simulation (D169). The interleavings:
 *
 * - short commands are never delayed, nor is the one after a single long one;
 * - after several long ones, each waits for connections, one after the other;
 * - several wait and the first of them is short: all others may be executed at once, in their order;
 * - a command arrives while those are about to continue: it does not overtake them;
 * - all requests without an answer are those of the simulation: nothing pauses. One is of another: long commands do.
 */
import { describe, expect, it, vi } from 'vitest';
import { LONG_WORK } from './long-work.js';
import { LongCommands } from './long-commands.js';

const LONG_MS = 8;

/** Commands of a simulation, and how often connections had a turn before each. */
class Commands {
  readonly commands = new LongCommands();
  readonly executed: string[] = [];
  readonly turnsBefore: number[] = [];
  #turns = 0;
  #isOver = false;

  constructor() {
    const count = (): void => {
      this.#turns += 1;
      if (!this.#isOver) setImmediate(count);
    };
    setImmediate(count);
  }

  /** The last commands of the simulation were long. */
  slow(): this {
    for (let i = 0; i < 8; i += 1) this.commands.took(LONG_MS);
    return this;
  }

  /** Executes a command of this duration when it may be executed. */
  async execute(name: string, ms: number): Promise<void> {
    const turn = this.commands.next();
    if (turn !== undefined) await turn;
    this.executed.push(name);
    this.turnsBefore.push(this.#turns);
    this.commands.took(ms);
  }

  end(): void {
    this.#isOver = true;
  }
}

describe('LongCommands', () => {
  it('delay no command while all are short, or after a single one that is not', () => {
    const commands = new LongCommands();
    for (const ms of [0, 1, 1.9, 6, 0.1, 0.1]) {
      expect(commands.next()).toBeUndefined();
      commands.took(ms);
    }
  });

  it('have a slice each, with a turn for connections between them', async () => {
    const long = new Commands().slow();
    await Promise.all(['a', 'b', 'c'].map((name) => long.execute(name, LONG_MS)));
    long.end();
    expect(long.executed).toEqual(['a', 'b', 'c']);
    const [a = 0, b = 0, c = 0] = long.turnsBefore;
    expect(a).toBeGreaterThan(0);
    expect(b).toBeGreaterThan(a);
    expect(c).toBeGreaterThan(b);
  });

  it('release all that wait once they are short again', async () => {
    const long = new Commands();
    long.commands.took(LONG_MS + 1);
    await Promise.all(Array.from({ length: 64 }, (_, index) => long.execute(String(index), 0)));
    long.end();
    expect(long.executed).toEqual(Array.from({ length: 64 }, (_, index) => String(index)));
    expect(new Set(long.turnsBefore).size).toBe(1);
    expect(long.commands.next()).toBeUndefined();
  });

  it('are not overtaken by a command that arrives while they are about to continue', async () => {
    const long = new Commands();
    long.commands.took(LONG_MS + 1);
    const waiting = ['a', 'b', 'c'].map((name) => long.execute(name, 0));
    const first = waiting[0];
    const late = first?.then(() => long.execute('late', 0));
    await Promise.all([...waiting, late]);
    long.end();
    expect(long.executed).toEqual(['a', 'b', 'c', 'late']);
  });

  it.each([
    ['never pause for requests of their own simulation', false],
    ['pause for a request of another simulation', true],
  ])('%s', async (_, isOther) => {
    const later = vi.spyOn(globalThis, 'setTimeout');
    // Requests are counted for 50 to 100 ms, which a slow machine could exceed.
    const beganMs = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(beganMs);
    const long = new Commands().slow();
    const names = ['a', 'b', 'c', 'd'];
    names.forEach(() => {
      LONG_WORK.began(beganMs);
      long.commands.began(beganMs);
    });
    if (isOther) LONG_WORK.began(beganMs);
    await Promise.all(names.map((name) => long.execute(name, LONG_MS)));
    long.end();
    expect(later.mock.calls.length > 0).toBe(isOther);
    for (let requests = names.length + (isOther ? 1 : 0); requests > 0; requests -= 1)
      LONG_WORK.ended(beganMs);
    clock.mockRestore();
    later.mockRestore();
  });
});
