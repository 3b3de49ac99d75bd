import { vi } from 'vitest';
import type { Store } from '../store/store.js';

const KINDS =
  /EntryAdded|EntryRemoved|PortfolioOpened|CompetitionBegun|CompetitionSettled|CompetitionPhaseChanged|CANCELED/g;

/**
 * Turns of the event loop in which the store received a write, by kind: the type of an event, `simulation` for a registration, or the first part
 * of the name of a setting of competitions and evaluations. Writes of one turn are one commit.
 */
export async function turnsOfWrites(
  { registry, journal }: Store,
  work: () => Promise<unknown>,
): Promise<ReadonlyMap<string, Set<number>>> {
  let turn = 0;
  let isCounting = true;
  const count = (): void => {
    turn += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const turns = new Map<string, Set<number>>();
  const seen = (kind: string): void => {
    turns.set(kind, (turns.get(kind) ?? new Set()).add(turn));
  };
  const seenSetting = (name: string): void => {
    if (/^(competition|evaluation)/.test(name)) seen(name.split('/')[0] ?? '');
  };
  const [save, remove, make, append] = [
    registry.saveSetting.bind(registry),
    registry.deleteSetting.bind(registry),
    registry.createSimulation.bind(registry),
    journal.append.bind(journal),
  ];
  const spies = [
    vi.spyOn(registry, 'saveSetting').mockImplementation((name, text) => {
      seenSetting(name);
      return save(name, text);
    }),
    vi.spyOn(registry, 'deleteSetting').mockImplementation((name) => {
      seenSetting(name);
      return remove(name);
    }),
    vi.spyOn(registry, 'createSimulation').mockImplementation((entry, begins) => {
      seen('simulation');
      return make(entry, begins);
    }),
    vi.spyOn(journal, 'append').mockImplementation((record, answer) => {
      for (const [type] of record.payload.matchAll(KINDS)) seen(type);
      return append(record, answer);
    }),
  ];
  await work();
  isCounting = false;
  for (const spy of spies) spy.mockRestore();
  return turns;
}
