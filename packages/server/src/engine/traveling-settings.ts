/** Settings of a simulation that its file has (D170): snapshots, and the watchlists and configurations of the Alpaca dialect. */
import { settingsOf } from '../store/registry.js';
import type { Registry } from '../store/registry.js';
import { ImportRefused } from './import-refused.js';
import type { Snapshot } from './snapshots.js';

const TRAVELING = ['alpaca/', 'snapshot/'];

/** Characters of all settings of one simulation in a file. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
const LONGEST_NAME = 1000;

const SNAPSHOT = /^snapshot\/([0-9a-f-]{36})$/;
const WATCHLISTS = /^alpaca\/[0-9a-f-]{36}\/watchlists$/;
const CONFIGURATION = /^alpaca\/[0-9a-f-]{36}\/configuration$/;

type Setting = readonly [name: string, value: string];

/** Settings for the file of a simulation, by their names within it. */
export function travelingSettings(registry: Registry, simulationId: string): readonly Setting[] {
  const own = settingsOf(simulationId);
  return TRAVELING.flatMap((prefix) =>
    registry.settings(own + prefix).map(([name, value]): Setting => [name.slice(own.length), value]),
  );
}

/**
 * Settings in the file of a simulation. Anybody can write a file: a setting that no server has written would break the reader of its kind
 * later.
 */
export class ArrivingSettings {
  #characters = 0;
  #lastSequence = 0;

  /** The setting to store. Throws `ImportRefused`. */
  take(name: string, value: string): { readonly name: string; readonly value: string } {
    this.#characters += name.length + value.length;
    if (this.#characters > MOST_CHARACTERS) throw new ImportRefused('the settings are too large');
    const content = contentOf(value);
    const snapshotId = SNAPSHOT.exec(name)?.[1];
    if (snapshotId !== undefined && isRecord(content)) {
      const snapshot = snapshotIn(snapshotId, content);
      this.#lastSequence = Math.max(this.#lastSequence, snapshot.sequence);
      return { name, value: JSON.stringify(snapshot) };
    }
    const isUsable =
      (WATCHLISTS.test(name) && Array.isArray(content) && content.every(isWatchlist)) ||
      (CONFIGURATION.test(name) && isRecord(content) && Object.values(content).every(isPlain));
    if (!isUsable) throw new ImportRefused('a setting is not usable here');
    return { name, value };
  }

  /** Checks the settings against the records that follow them. Throws `ImportRefused`. */
  end(records: number): void {
    if (this.#lastSequence > records) throw new ImportRefused('a snapshot is of a record that is not there');
  }
}

function contentOf(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new ImportRefused('a setting is not usable here');
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPlain = (value: unknown): boolean => ['boolean', 'number', 'string'].includes(typeof value);

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST_NAME;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** A snapshot without its state hash, which is computed from the records when the simulation is opened. */
function snapshotIn(snapshotId: string, fields: Readonly<Record<string, unknown>>): Snapshot {
  const { name, at, sequence, createdAt } = fields;
  const isUsable =
    fields.snapshotId === snapshotId &&
    (name === undefined || isText(name)) &&
    Number.isSafeInteger(at) &&
    isCount(sequence) &&
    isCount(createdAt);
  if (!isUsable) throw new ImportRefused('a snapshot is not usable here');
  return { snapshotId, ...(name !== undefined && { name }), at: at as number, sequence, createdAt };
}

function isWatchlist(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { id, name, createdAt, updatedAt, symbols } = value;
  const isTimed = isCount(createdAt) && isCount(updatedAt);
  return isText(id) && isText(name) && isTimed && Array.isArray(symbols) && symbols.every(isText);
}
