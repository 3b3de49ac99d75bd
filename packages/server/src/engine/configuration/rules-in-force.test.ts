import { describe, expect, it } from 'vitest';
import { DamagedJournal } from '../../store/journal.js';
import { startSimulations } from '../../testing/simulations.js';
import { differences, keepRules, rulesNamed } from './rules-in-force.js';

describe('Rules in force', () => {
  it('are restored from the journal', async () => {
    const { main, store } = await startSimulations({ feed: 'synthetic' });
    const { rules } = main.brokerage;
    const named = await keepRules(store.registry, rules);
    expect(rulesNamed(store.registry, JSON.parse(JSON.stringify(named)) as typeof named)).toEqual(rules);
    // A line in a journal, however long the lists are.
    expect(JSON.stringify(named).length).toBeLessThan(300);
  });

  it('are refused if a list is missing or changed', async () => {
    const { main, store } = await startSimulations();
    const named = await keepRules(store.registry, main.brokerage.rules);
    expect(() => rulesNamed(store.registry, { ...named, brokers: 'ab'.repeat(32) })).toThrow(DamagedJournal);
    await store.registry.saveSetting(`rules/${named.brokers}`, '[]');
    expect(() => rulesNamed(store.registry, named)).toThrow(DamagedJournal);
  });

  it('report their differences', async () => {
    const { main, store } = await startSimulations();
    const named = await keepRules(store.registry, main.brokerage.rules);
    expect(differences(named, named)).toEqual([]);
    expect(differences(named, { ...named, quoteMaxAgeMs: 60_000 })).toEqual([
      'quoteMaxAgeMs was not set, is 60000',
    ]);
  });
});
