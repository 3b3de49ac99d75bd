import { StoreUnavailable } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { payloadOf } from './record-text.js';
import { listsOf, listText } from './rules-in-force.js';
import {
  headerLine,
  LineChain,
  listLine,
  recordLineOf,
  settingLine,
  trailerLine,
} from './simulation-file.js';
import { originOf } from './simulation-config.js';
import type { KeptConfig } from './simulation-config.js';
import { Slice } from './slice.js';

/** Characters of a piece of a file. */
const PIECE = 65_536;

const RULES_CHANGE = '{"command":{"type":"ChangeRules"';

export interface ExportedSimulation {
  readonly id: string;
  /** Id of the simulation in the file. */
  readonly shownId: string;
  readonly config: KeptConfig;
  /** Sequence of the last record to export. */
  readonly upTo: number;
  /** Its settings, by their names within it. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
}

/**
 * The file of a simulation, piece by piece, in constant memory. The event loop runs between pieces. Throws if the journal ends before the
 * requested record: the simulation was deleted meanwhile.
 */
export async function* exportSimulation(
  { journal, registry }: Pick<Store, 'journal' | 'registry'>,
  { id, shownId, config, upTo, settings = [] }: ExportedSimulation,
  chain = new LineChain(),
): AsyncGenerator<string> {
  const slice = new Slice();
  const listed = new Set<string>();
  let piece = '';
  const add = (line: string): void => {
    chain.take(line);
    piece += `${line}\n`;
  };
  const addLists = (digests: readonly string[]): void => {
    for (const digest of digests) {
      if (listed.has(digest)) continue;
      listed.add(digest);
      add(listLine(digest, listText(registry, digest)));
    }
  };
  // The retention here does not apply there.
  const { madeBy: _, ttl: __, ...kept } = config;
  add(headerLine({ simulationId: shownId, config: kept }));
  addLists(listsOf(originOf(config).rules));
  addLists(listsOf(config.rules));
  for (const [name, value] of settings) add(settingLine(name, value));
  let last = 0;
  if (upTo > 0)
    for await (const record of journal.read(id, 0)) {
      if (record.payload.startsWith(RULES_CHANGE)) {
        const { command } = payloadOf(record);
        if (command.type === 'ChangeRules') addLists(listsOf(command.rules));
      }
      add(recordLineOf(record));
      last = record.seq;
      if (piece.length >= PIECE) {
        yield piece;
        piece = '';
      }
      await slice.breathe();
      if (last === upTo) break;
    }
  if (last !== upTo) throw new StoreUnavailable('the simulation was deleted');
  yield `${piece}${trailerLine(last, chain.hash)}\n`;
}
