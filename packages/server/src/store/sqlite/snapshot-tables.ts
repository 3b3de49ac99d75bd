import type { Price, PortfolioSnapshot } from '@sandpit/core';
import type { HistoryChange, MinuteMark, SnapshotMinute, SnapshotRow } from '../history.js';
import { BulkInsert } from './bulk-insert.js';
import { all, one, Statements } from './connection.js';
import type { Database } from './connection.js';
import { DamagedHistory, sound, sumOf } from './history-rows.js';
import type { MarkRow, StoredSnapshot } from './history-rows.js';

type Change<Name extends HistoryChange['change']> = Extract<HistoryChange, { change: Name }>;

/** A minute of a portfolio: one that this transaction adds or changes, or the last there is. */
interface MinuteDraft {
  readonly owner: number;
  readonly minute: number;
  readonly n: number;
  hasMoved: boolean;
  standing: PortfolioSnapshot;
  /** Whether its row is there already. */
  isStored: boolean;
  isChanged: boolean;
}

/** Portfolios whose last minute is remembered between transactions. */
const MOST_REMEMBERED = 50_000;

/** Writes what portfolios had, minute by minute, and what pushed quotes marked: what curves are made of (D149). */
export class SnapshotTables {
  readonly #statements: Statements;
  readonly #insertStandings: BulkInsert<StoredSnapshot>;
  /** By owner, oldest first. */
  readonly #minutes = new Map<number, MinuteDraft[]>();
  /** Those of `#minutes` that this transaction changes. */
  readonly #changed = new Set<MinuteDraft[]>();
  readonly #marks = new Map<string, MarkRow>();

  constructor(database: Database) {
    this.#statements = new Statements(database);
    this.#insertStandings = new BulkInsert(database, 'standing', [
      'owner',
      'minute',
      'n',
      'holding',
      'moved',
      'standing',
      'sum',
    ]);
  }

  /** What a portfolio has, with what has been applied and is not written. */
  now(owner: number): PortfolioSnapshot | undefined {
    return this.#minutesOf(owner).at(-1)?.standing;
  }

  /** `countOne` gives the ordinal of one more minute. */
  changed(owner: number, { minute, hasMoved, standing }: Change<'standing'>, countOne: () => number): void {
    const minutes = this.#minutesOf(owner);
    this.#changed.add(minutes);
    const last = minutes.at(-1);
    if (last?.minute !== minute) {
      minutes.push({ owner, minute, n: countOne(), hasMoved, standing, isStored: false, isChanged: true });
      return;
    }
    last.standing = standing;
    last.isChanged = true;
    last.hasMoved ||= hasMoved;
  }

  marked(simulation: number, { symbol, minute, price }: Change<'mark'>): void {
    this.#marks.set(`${simulation} ${symbol} ${minute}`, { simulation, symbol, minute, price, sum: 0 });
  }

  #minutesOf(owner: number): MinuteDraft[] {
    let minutes = this.#minutes.get(owner);
    if (minutes === undefined) {
      const sql = 'SELECT * FROM standing WHERE owner = ? ORDER BY minute DESC LIMIT 1';
      const row = one<StoredSnapshot>(this.#statements.of(sql), owner);
      minutes = row === undefined ? [] : [draftOf(sound('standing', row))];
      this.#minutes.set(owner, minutes);
    }
    return minutes;
  }

  write(): void {
    const added: StoredSnapshot[] = [];
    for (const minutes of this.#changed)
      for (const draft of minutes) {
        if (!draft.isChanged) continue;
        const row = rowOf(draft);
        if (draft.isStored) this.#update(row);
        else added.push(row);
      }
    added.sort((a, b) => a.owner - b.owner || a.minute - b.minute);
    this.#insertStandings.run(added);
    for (const { simulation, symbol, minute, price } of this.#marks.values()) {
      const sum = sumOf.mark({ simulation, symbol, minute, price });
      const sql =
        'INSERT OR REPLACE INTO mark (simulation, symbol, minute, price, sum) VALUES (?, ?, ?, ?, ?)';
      this.#statements.of(sql).run(simulation, symbol, minute, price, sum);
    }
    this.#marks.clear();
    this.#keepLast();
  }

  #keepLast(): void {
    for (const minutes of this.#changed) {
      minutes.splice(0, minutes.length - 1);
      for (const last of minutes) {
        last.isStored = true;
        last.isChanged = false;
      }
    }
    this.#changed.clear();
    if (this.#minutes.size > MOST_REMEMBERED) this.#minutes.clear();
  }

  #update({ owner, minute, holding, moved, standing, sum }: StoredSnapshot): void {
    const sql =
      'UPDATE standing SET holding = ?, moved = ?, standing = ?, sum = ? WHERE owner = ? AND minute = ?';
    this.#statements.of(sql).run(holding, moved, standing, sum, owner, minute);
  }

  /** After a transaction that did not happen. */
  forget(): void {
    this.#minutes.clear();
    this.#changed.clear();
    this.#marks.clear();
  }
}

const draftOf = ({ owner, minute, n, moved, standing }: StoredSnapshot): MinuteDraft => ({
  owner,
  minute,
  n,
  hasMoved: moved === 1,
  standing: JSON.parse(standing) as PortfolioSnapshot,
  isStored: true,
  isChanged: false,
});

function rowOf({ owner, minute, n, hasMoved, standing }: MinuteDraft): StoredSnapshot {
  const row = {
    owner,
    minute,
    n,
    holding: Object.keys(standing.held).length > 0 ? 1 : 0,
    moved: hasMoved ? 1 : 0,
    standing: JSON.stringify(standing),
  };
  return { ...row, sum: sumOf.standing(row) };
}

const minuteOf = ({ minute, holding, moved }: StoredSnapshot): SnapshotMinute => ({
  minute,
  isHolding: holding === 1,
  hasMoved: moved === 1,
});

/** All minutes of a portfolio, oldest first. `count` is how many there must be. */
export function snapshotMinutes(statements: Statements, owner: number, count: number): SnapshotMinute[] {
  const sql = 'SELECT * FROM standing WHERE owner = ? ORDER BY minute';
  const rows = all<StoredSnapshot>(statements.of(sql), owner);
  if (rows.length !== count || rows.some(({ n }, index) => n !== index + 1)) throw missing();
  return rows.map((row) => minuteOf(sound('standing', row)));
}

/** What a portfolio has had from one minute until before another, oldest first. */
export function snapshotsBetween(
  statements: Statements,
  owner: number,
  from: number,
  to: number,
): SnapshotRow[] {
  const before = 'SELECT * FROM standing WHERE owner = ? AND minute < ? ORDER BY minute DESC LIMIT 1';
  const between = 'SELECT * FROM standing WHERE owner = ? AND minute >= ? AND minute < ? ORDER BY minute';
  const rows = [
    ...all<StoredSnapshot>(statements.of(before), owner, from),
    ...all<StoredSnapshot>(statements.of(between), owner, from, to),
  ];
  if (rows.some(({ n }, index) => index > 0 && n !== (rows[index - 1]?.n ?? 0) + 1)) throw missing();
  return rows.map((row) => ({ ...minuteOf(row), standing: sound('standing', row).standing }));
}

/** What pushed quotes marked a symbol at, in the same way. */
export function marksBetween(
  statements: Statements,
  simulation: number,
  symbol: string,
  from: number,
  to: number,
): MinuteMark[] {
  const of = 'SELECT * FROM mark WHERE simulation = ? AND symbol = ?';
  const rows = [
    ...all<MarkRow>(
      statements.of(`${of} AND minute < ? ORDER BY minute DESC LIMIT 1`),
      simulation,
      symbol,
      from,
    ),
    ...all<MarkRow>(
      statements.of(`${of} AND minute >= ? AND minute < ? ORDER BY minute`),
      simulation,
      symbol,
      from,
      to,
    ),
  ];
  return rows.map((row) => ({ minute: row.minute, price: sound('mark', row).price as Price }));
}

const missing = (): DamagedHistory => new DamagedHistory('Rows of the history are missing');
