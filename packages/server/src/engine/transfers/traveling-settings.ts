/** Settings of a simulation that its file has (D170): snapshots, and the watchlists and configurations of the Alpaca dialect. */
import { Instant } from '@sandpit/core';
import { settingsOf } from '../../store/registry.js';
import type { Registry } from '../../store/registry.js';
import {
  closedObject,
  isRecord,
  listOf,
  matching,
  optionally,
  requireFields,
  requirePlain,
  textUpTo,
  when,
  wholeNumber,
} from './file-fields.js';
import { foldedName } from '../values/folded-name.js';
import { ImportRefused } from './import-refused.js';
import { MOST_SNAPSHOTS } from '../forks/snapshots.js';
import type { Snapshot } from '../forks/snapshots.js';

const TRAVELING = ['alpaca/', 'snapshot/'];

/** Characters of all settings of one simulation in a file. */
const MOST_CHARACTERS = 16 * 1024 * 1024;
/** Watchlists of a portfolio and symbols of one, as the dialect limits them. */
const MOST_WATCHLISTS = 200;
const MOST_SYMBOLS = 500;
const LONGEST_SYMBOL = 32;
/** Settings of one simulation: a few for each portfolio. */
const MOST_SETTINGS = 5000;
/** Watchlists in one line of a file, which is then shorter than a line may be. */
const WATCHLISTS_IN_LINE = 10;
const LONGEST_NAME = 256;
const MOST_FIELDS = 32;

const SNAPSHOT = /^snapshot\/([0-9a-f-]{36})$/;
const WATCHLISTS = /^alpaca\/[0-9a-f-]{36}\/watchlists$/;
const CONFIGURATION = /^alpaca\/[0-9a-f-]{36}\/configuration$/;

/** A setting of a simulation, by its name within it. */
export type ArrivedSetting = readonly [name: string, value: string];

/** Settings for the file of a simulation. Watchlists of a portfolio may be in several lines. */
export function travelingSettings(registry: Registry, simulationId: string): readonly ArrivedSetting[] {
  const own = settingsOf(simulationId);
  return TRAVELING.flatMap((prefix) =>
    registry.settings(own + prefix).flatMap(([whole, value]): readonly ArrivedSetting[] => {
      const name = whole.slice(own.length);
      return WATCHLISTS.test(name) ? inLines(name, JSON.parse(value) as readonly unknown[]) : [[name, value]];
    }),
  );
}

function inLines(name: string, watchlists: readonly unknown[]): readonly ArrivedSetting[] {
  const lines: ArrivedSetting[] = [];
  for (let i = 0; i === 0 || i < watchlists.length; i += WATCHLISTS_IN_LINE)
    lines.push([name, JSON.stringify(watchlists.slice(i, i + WATCHLISTS_IN_LINE))]);
  return lines;
}

const text = textUpTo(LONGEST_NAME);
const count = wholeNumber(0, Number.MAX_SAFE_INTEGER);

/** The end of the year 9999. */
const LATEST_REAL_MS = 253_402_300_799_999;
const CONTROL = /[\u0000-\u001f\u007f]/;
const isShownName = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LONGEST_NAME && value.trim() !== '' && !CONTROL.test(value);

/** `stateHash` is computed from the records when the simulation is opened. */
const snapshotFields = closedObject<Snapshot>({
  snapshotId: matching(/^[0-9a-f-]{36}$/),
  name: optionally(when(isShownName)),
  at: wholeNumber(Instant.first, Instant.last),
  sequence: count,
  stateHash: optionally(text),
  createdAt: wholeNumber(0, LATEST_REAL_MS),
});

const watchlists = listOf(
  MOST_WATCHLISTS,
  closedObject<Record<'id' | 'name' | 'createdAt' | 'updatedAt' | 'symbols', unknown>>({
    id: text,
    name: text,
    createdAt: count,
    updatedAt: count,
    symbols: listOf(MOST_SYMBOLS, textUpTo(LONGEST_SYMBOL)),
  }),
);

const isPlain = (value: unknown): boolean =>
  ['boolean', 'number'].includes(typeof value) || text(value) === undefined;

const configuration = when(
  (value) =>
    isRecord(value) && Object.keys(value).length <= MOST_FIELDS && Object.values(value).every(isPlain),
);

/**
 * Settings in the file of a simulation. Anybody can write a file: a setting that no server has written would break the reader of its kind
 * later.
 */
export class ArrivingSettings {
  readonly #settings = new Map<string, string>();
  readonly #watchlists = new Map<string, unknown[]>();
  readonly #snapshotNames = new Set<string>();
  #characters = 0;
  #snapshots = 0;
  #lastSequence = 0;
  /** Instant of the earliest snapshot of each record that has one. */
  readonly #earliest = new Map<number, number>();

  /** The settings so far. */
  get all(): readonly ArrivedSetting[] {
    return [
      ...this.#settings,
      ...[...this.#watchlists].map(([name, all]) => [name, JSON.stringify(all)] as const),
    ];
  }

  /** Throws `ImportRefused`. */
  take(name: string, value: string): void {
    this.#characters += name.length + value.length;
    if (this.#characters > MOST_CHARACTERS || this.#settings.size + this.#watchlists.size > MOST_SETTINGS)
      throw new ImportRefused('the settings are too large');
    if (this.#settings.has(name)) throw new ImportRefused('a setting is there twice');
    const content = contentOf(value);
    const snapshotId = SNAPSHOT.exec(name)?.[1];
    if (snapshotId !== undefined) this.#settings.set(name, this.#snapshot(snapshotId, content));
    else if (WATCHLISTS.test(name)) this.#takeWatchlists(name, content);
    else if (CONFIGURATION.test(name)) {
      requireFields(content, configuration, 'a setting');
      this.#settings.set(name, value);
    } else throw new ImportRefused('a setting is not usable here');
  }

  #takeWatchlists(name: string, content: unknown): void {
    const given: readonly unknown[] = Array.isArray(content) ? content : [content];
    const all = [...(this.#watchlists.get(name) ?? []), ...given];
    requireFields(all, watchlists, 'a setting');
    this.#watchlists.set(name, all);
  }

  #snapshot(snapshotId: string, content: unknown): string {
    requireFields(content, snapshotFields, 'a snapshot');
    const { name, at, sequence, createdAt, ...given } = content as Snapshot;
    if (given.snapshotId !== snapshotId) throw new ImportRefused('a snapshot is not usable here');
    this.#snapshots += 1;
    if (this.#snapshots > MOST_SNAPSHOTS)
      throw new ImportRefused(`a simulation has at most ${MOST_SNAPSHOTS.toLocaleString('en-US')} snapshots`);
    if (name !== undefined && this.#snapshotNames.has(foldedName(name)))
      throw new ImportRefused('a snapshot is not usable here: another one has its name');
    if (name !== undefined) this.#snapshotNames.add(foldedName(name));
    this.#lastSequence = Math.max(this.#lastSequence, sequence);
    this.#earliest.set(sequence, Math.min(this.#earliest.get(sequence) ?? Infinity, at));
    return JSON.stringify({ snapshotId, ...(name !== undefined && { name }), at, sequence, createdAt });
  }

  /** Checks the snapshots of a record against its instant. Throws `ImportRefused`. */
  record(sequence: number, at: number): void {
    if ((this.#earliest.get(sequence) ?? Infinity) < at)
      throw new ImportRefused('a snapshot is older than its record');
  }

  /** Checks the settings against the records that follow them. Throws `ImportRefused`. */
  end(records: number): void {
    if (this.#lastSequence > records) throw new ImportRefused('a snapshot is of a record that is not there');
  }
}

function contentOf(value: string): unknown {
  requirePlain(value, 'a setting');
  try {
    return JSON.parse(value);
  } catch {
    throw new ImportRefused('a setting is not usable here');
  }
}
