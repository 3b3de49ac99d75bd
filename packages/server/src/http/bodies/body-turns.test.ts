import { describe, expect, it } from 'vitest';
import { BodyTurns, type BodyWork } from './body-turns.js';
import { HeldBytes, type HeldBody } from './held-bytes.js';

/** Work of steps that note their turn. */
function* steps(name: string, count: number, log: string[]): BodyWork {
  for (let i = 0; i < count; i += 1) {
    yield 200_000;
    log.push(name);
  }
  return name;
}

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('BodyTurns', () => {
  it('an owner with many bodies has one step before a step of another', async () => {
    const turns = new BodyTurns();
    const log: string[] = [];
    let ended = 0;
    for (let i = 0; i < 20; i += 1) turns.add('a', 1000, steps('a', 3, log), () => (ended += 1));
    turns.add('b', 1000, steps('b', 3, log), () => (ended += 1));
    while (!log.includes('b')) await later();
    expect(log.indexOf('b')).toBeLessThanOrEqual(1);
    while (ended < 21) await later();
    expect(log.lastIndexOf('b')).toBeLessThanOrEqual(6);
  });

  it('at most one step of 256 KiB in a turn of the event loop', async () => {
    const turns = new BodyTurns();
    const log: string[] = [];
    let most = 0;
    let seen = 0;
    // Once in each turn; a timer would miss turns on a busy machine.
    const look = (): NodeJS.Immediate => {
      most = Math.max(most, log.length - seen);
      seen = log.length;
      return (looking = setImmediate(look));
    };
    let looking = setImmediate(look);
    await new Promise<void>((resolve) => void turns.add('a', 1000, steps('a', 20, log), () => resolve()));
    clearImmediate(looking);
    expect(log).toHaveLength(20);
    expect(most).toBeLessThanOrEqual(2);
  });

  it('short bodies are parsed on arrival, 64 KiB in a turn', async () => {
    const turns = new BodyTurns();
    expect(turns.mayParse('a', 60_000)).toBe(true);
    expect(turns.mayParse('b', 10_000)).toBe(false);
    await later();
    expect(turns.mayParse('b', 10_000)).toBe(true);
  });

  it('a body waits while 16 MiB of its owner have no answer', async () => {
    const turns = new BodyTurns();
    const log: string[] = [];
    const [large, ended] = [9_000_000, [] as string[]];
    turns.add('a', large, steps('1', 1, log), () => ended.push('1'));
    turns.add('a', large, steps('2', 1, log), () => ended.push('2'));
    turns.add('b', large, steps('3', 1, log), () => ended.push('3'));
    while (ended.length < 2) await later();
    for (let i = 0; i < 5; i += 1) await later();
    expect(ended).toEqual(['1', '3']);
    turns.answered('a', large);
    while (ended.length < 3) await later();
    expect(ended).toEqual(['1', '3', '2']);
  });

  it('a body that is given up has no turn', async () => {
    const turns = new BodyTurns();
    const log: string[] = [];
    const giveUp = turns.add('a', 1, steps('a', 1, log), () => log.push('done'));
    expect(giveUp()).toBe(true);
    expect(giveUp()).toBe(false);
    for (let i = 0; i < 5; i += 1) await later();
    expect(log).toEqual([]);
  });

  it('an error ends one body, and not the turns', async () => {
    const turns = new BodyTurns();
    const log: string[] = [];
    function* failing(): BodyWork {
      throw new Error('no');
    }
    const ended: unknown[] = [];
    turns.add('a', 1, failing(), (error) => ended.push(error?.message));
    turns.add('a', 1, steps('a', 1, log), (_, value) => ended.push(value));
    while (ended.length < 2) await later();
    expect(ended).toEqual(['no', 'a']);
  });
});

describe('HeldBytes', () => {
  it('beyond the limit: the largest body of the owner with the most is given up', () => {
    const held = new HeldBytes(100);
    const gone: string[] = [];
    const body = (owner: string, name: string): HeldBody => ({
      owner,
      heldBytes: 0,
      giveUp: () => gone.push(name),
    });
    const [a1, a2, b1] = [body('a', 'a1'), body('a', 'a2'), body('b', 'b1')];
    held.hold(a1, 20);
    held.hold(a2, 35);
    held.hold(b1, 40);
    expect(gone).toEqual([]);
    held.hold(b1, 46);
    expect(gone).toEqual(['a2']);
    expect(held.total).toBe(66);
    held.hold(b1, 90);
    expect(gone).toEqual(['a2', 'b1']);
    held.hold(a1, 0);
    expect(held.total).toBe(0);
  });
});
