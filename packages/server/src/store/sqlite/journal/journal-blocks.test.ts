import { afterAll, describe, expect, it } from 'vitest';
import { recordOf } from '../../fixtures.contract.js';
import { DamagedJournal } from '../../journal.js';
import { newDirectory, removeDirectories } from '../data-directory.contract.js';
import { all, Statements } from '../database/connection.js';
import type { Select } from '../database/connection.js';
import { JournalBlocks, recordsOf } from './journal-blocks.js';
import type { Block } from './journal-blocks.js';
import { TestJournal } from './journal-file.contract.js';

afterAll(removeDirectories);

const seqsOf = (blocks: readonly Block[]): readonly (readonly number[])[] =>
  blocks.map((block) => recordsOf(block).map(({ seq }) => seq));

/** Two simulations in turn: blocks 1, 3 and 5 are of the first. */
function twoSimulations(): TestJournal {
  const journal = new TestJournal(newDirectory());
  const [a, b] = [journal.createSimulation('a'), journal.createSimulation('b')];
  journal.append(a, recordOf('a', 1), recordOf('a', 2));
  journal.append(b, recordOf('b', 1));
  journal.append(a, recordOf('a', 3));
  journal.append(b, recordOf('b', 2), recordOf('b', 3));
  journal.append(a, recordOf('a', 4), recordOf('a', 5));
  return journal;
}

describe('Blocks of the journal', () => {
  it('are returned in commit order, up to a number of bytes', () => {
    const blocks = twoSimulations().blocks();
    expect(seqsOf(blocks.after(0, 1e6))).toEqual([[1, 2], [1], [3], [2, 3], [4, 5]]);
    expect(blocks.after(0, 1).map(({ k }) => k)).toEqual([1]);
    expect(blocks.after(3, 1e6).map(({ k }) => k)).toEqual([4, 5]);
    expect(blocks.after(5, 1e6)).toEqual([]);
  });

  it('after a position are read without a search through the earlier ones', () => {
    const { database } = twoSimulations();
    const texts: string[] = [];
    class Noted extends Statements {
      override of<Row>(sql: string): Select<Row> {
        texts.push(sql);
        return super.of<Row>(sql);
      }
    }
    expect(new JournalBlocks(new Noted(database)).after(3, 1e6)).toHaveLength(2);
    const plans = texts.map((sql) => {
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`);
      return all<{ detail: string }>(steps).map(({ detail }) => detail);
    });
    expect(plans.flat()).toContain('SEARCH block USING INTEGER PRIMARY KEY (rowid>?)');
    expect(plans.flat().join()).not.toContain('TEMP B-TREE');
  });

  it('are all returned if the limit allows it', () => {
    const journal = new TestJournal(newDirectory());
    const simulation = journal.createSimulation();
    for (let seq = 1; seq <= 100; seq += 1) journal.append(simulation, recordOf('', seq));
    expect(journal.blocks().after(0, 1e9)).toHaveLength(100);
  });

  it('exclude deleted simulations, purged or not', () => {
    const journal = twoSimulations();
    journal.deleteSimulation(1);
    journal.database.exec('DELETE FROM block WHERE k IN (1, 5)');
    const blocks = journal.blocks();
    expect(seqsOf(blocks.after(0, 1e6))).toEqual([[1], [2, 3]]);
  });

  it('are found by record number and return the record as appended', () => {
    const blocks = twoSimulations().blocks();
    expect(blocks.holding(1, 4)).toMatchObject({ k: 5, first: 4, last: 5 });
    const { at, payload } = recordOf('a', 5);
    expect(recordsOf(blocks.holding(1, 5))[1]).toEqual({ seq: 5, at, ...(JSON.parse(payload) as object) });
    expect(() => blocks.holding(1, 6)).toThrow('Record 6 of simulation 1 is missing');
    expect(() => blocks.holding(9, 1)).toThrow(DamagedJournal);
  });

  it('are read as records, starting inside a block too', () => {
    const blocks = twoSimulations().blocks();
    expect([...blocks.read(1, 'a', 0)]).toEqual([1, 2, 3, 4, 5].map((seq) => recordOf('a', seq)));
    expect([...blocks.read(1, 'a', 1)]).toEqual([2, 3, 4, 5].map((seq) => recordOf('a', seq)));
    expect([...blocks.read(1, 'a', 5)]).toEqual([]);
    expect([...blocks.read(7, 'nowhere', 0)]).toEqual([]);
  });

  it('report the last record of a simulation', () => {
    const blocks = twoSimulations().blocks();
    expect(blocks.tail(1)).toEqual({ seq: 5, hash: blocks.holding(1, 5).hash });
    expect(blocks.tail(9).seq).toBe(0);
  });

  it('prove a record by the hash of its block, and no record that is not there', () => {
    const blocks = twoSimulations().blocks();
    const hex = (simulation: number, seq: number): string =>
      Buffer.from(blocks.holding(simulation, seq).hash).toString('hex');
    expect(blocks.proofOf(1, 5)).toBe(hex(1, 5));
    expect(blocks.proofOf(1, 4)).toBe(hex(1, 5));
    expect(blocks.proofOf(1, 3)).not.toBe(blocks.proofOf(1, 5));
    expect(blocks.proofOf(1, 0)).toBe('');
    expect(blocks.proofOf(1, 6)).toBeUndefined();
    expect(blocks.proofOf(9, 1)).toBeUndefined();
  });
});

describe('A damaged block of the journal', () => {
  it.each([
    ['data', `UPDATE block SET data = CAST(replace(data, '"seq":3', '"seq":4') AS BLOB) WHERE k = 3`],
    ['epoch', 'UPDATE block SET epoch = 2 WHERE k = 3'],
    ['end', 'UPDATE block SET last = 4 WHERE k = 3'],
    ['hash', `UPDATE block SET hash = x'00' WHERE k = 3`],
    ['simulation', 'UPDATE block SET simulation = 2, first = 9 WHERE k = 3'],
    ['missing block', 'DELETE FROM block WHERE k = 3'],
  ])('fails every read that includes it: %s', (_, sql) => {
    const journal = twoSimulations();
    journal.database.exec(sql);
    const blocks = journal.blocks();
    expect(() => blocks.after(0, 1e6)).toThrow(DamagedJournal);
    expect(() => [...blocks.read(1, 'a', 0)]).toThrow(DamagedJournal);
    expect(() => blocks.holding(1, 3)).toThrow(DamagedJournal);
  });
});
