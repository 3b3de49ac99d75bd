import { join } from 'node:path';
import { DamagedJournal } from '../journal.js';
import { answerLookup, AnswerTable, findAnswer } from './journal/answer-table.js';
import { BlockTable } from './journal/block-table.js';
import { CommitLog } from './writer/commit-log.js';
import { all, asDamage, openConnection, Statements } from './database/connection.js';
import { JournalBlocks, recordLine } from './journal/journal-blocks.js';
import { JOURNAL_FILE } from './journal/journal-schema.js';
import { RegistryQueries, RegistryTables } from './registry/registry-tables.js';
import { tailHash } from './journal/row-sums.js';

/** Everything that a data directory's journal says, as text that can be compared. */
export type Image = readonly string[];

/** Lookups of stored answers, by which clients ask again. */
export type Lookups = readonly string[];

export type Examined = { readonly image: Image } | { readonly refused: string };

/**
 * Opens a data directory as a server does, without its threads, and reads everything in it: the registry, the records of every simulation,
 * these answers. `refused` is the message for the operator of a server; any other error is thrown.
 *
 * With `goesOn` it also commits something of each kind, and reads everything once more: existing data must be unchanged.
 */
export function examine(directory: string, lookups: Lookups = [], goesOn = false): Examined {
  try {
    const log = new CommitLog(directory);
    try {
      const image = readAll(directory, lookups);
      if (!goesOn) return { image };
      const added = addOne(log);
      return { image: readAll(directory, lookups).filter((line) => !line.includes(added)) };
    } finally {
      log.close();
    }
  } catch (error) {
    const named = asDamage(error);
    if (named instanceof DamagedJournal) return { refused: named.message };
    throw error;
  }
}

function readAll(directory: string, lookups: Lookups): Image {
  const database = openConnection(join(directory, JOURNAL_FILE), { readOnly: true });
  try {
    const statements = new Statements(database);
    const registry = new RegistryQueries(statements);
    const blocks = new JournalBlocks(statements);
    const image: string[] = [];
    for (const tenant of registry.tenants('true')) {
      image.push(JSON.stringify(tenant), JSON.stringify(registry.tenants('name = ?', tenant.name)));
      for (const key of registry.apiKeys('tenant = ?', tenant.id))
        image.push(JSON.stringify(registry.apiKeys('hash = ?', key.hash)));
    }
    for (const { name } of all<{ name: string }>(database.prepare('SELECT name FROM setting')))
      image.push(JSON.stringify([name, registry.setting(name)]));
    for (const { key, id } of all<{ key: number; id: string }>(
      database.prepare('SELECT key, id FROM simulation'),
    )) {
      const [entry] = registry.simulations('id = ?', id);
      image.push(JSON.stringify([key, entry]));
      if (entry?.deletedAt !== undefined) continue;
      for (const record of blocks.read(key, id, 0)) image.push(JSON.stringify(record));
    }
    // The blocks in the order in which a projector reads them: each of the live ones once.
    const inOrder = blocks.after(0, Infinity).filter(({ simulation }) => simulation !== ADDED_KEY);
    image.push(JSON.stringify(inOrder.map(({ k, last }) => [k, last])));
    for (const lookup of lookups) image.push(JSON.stringify(findAnswer(statements, lookup) ?? null));
    return image;
  } finally {
    database.close();
  }
}

const ADDED_KEY = 1_000_000;

/** Answers with what everything that was added has in it. */
function addOne(log: CommitLog): string {
  const mark = 'added-by-examine';
  const { database } = log;
  const registry = new RegistryTables(database);
  const blocks = new BlockTable(database, log.epoch);
  const answers = new AnswerTable(database);
  log.commit((draft) => {
    const key = ADDED_KEY;
    const simulation = { id: mark, tenantId: null, config: '{}', createdAt: 0 };
    registry.apply({ kind: 'create-simulation', key, simulation }, draft.state);
    registry.apply({ kind: 'save-setting', name: mark, value: mark }, draft.state);
    const answer = { tenantId: '', simulationId: '', route: '', key: mark, fingerprint: '', statusCode: 200 };
    answers.save(answerLookup('', '', '', mark), { ...answer, body: mark, expiresAt: 0 }, draft.answers);
    const data = Buffer.from(recordLine(1, 0, `{"filling":"${mark.repeat(200)}"}`));
    draft.lastK += 1;
    draft.state.toggle(tailHash(key, blocks.append(draft.lastK, key, 1, 1, data).after));
  });
  return mark;
}
