/**
 * Long commands of one simulation (D169). The interleavings:
 *
 * - short commands are never delayed;
 * - after a long one, the next waits for connections, also while a short one would not;
 * - several wait: they stay in their order, and a later one does not overtake those that wait.
 */
import { describe, expect, it } from 'vitest';
import { LongCommands } from './long-commands.js';

/** Executes a command of this duration when it may be executed, and notes its name. */
async function execute(commands: LongCommands, name: string, ms: number, executed: string[]): Promise<void> {
  const turn = commands.next();
  if (turn !== undefined) await turn;
  executed.push(name);
  commands.took(ms);
}

describe('LongCommands', () => {
  it('delay no command while all are short', () => {
    const commands = new LongCommands();
    for (const ms of [0, 1, 2.9]) {
      expect(commands.next()).toBeUndefined();
      commands.took(ms);
    }
  });

  it('delay the command after a long one until connections had a turn', async () => {
    const commands = new LongCommands();
    commands.took(7);
    const order: string[] = [];
    const connections = new Promise<void>((resolve) =>
      setImmediate(() => {
        order.push('connections');
        resolve();
      }),
    );
    await Promise.all([execute(commands, 'next', 1, order), connections]);
    expect(order).toEqual(['connections', 'next']);
    expect(commands.next()).toBeUndefined();
  });

  it('stay in their order: a later command waits behind those that wait, although the last was short', async () => {
    const commands = new LongCommands();
    const executed: string[] = [];
    commands.took(7);
    const all = ['a', 'b', 'c'].map((name) => execute(commands, name, 1, executed));
    await all[0];
    const late = execute(commands, 'd', 1, executed);
    await Promise.all([...all, late]);
    expect(executed).toEqual(['a', 'b', 'c', 'd']);
  });
});
