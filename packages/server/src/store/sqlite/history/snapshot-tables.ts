import type { PortfolioSnapshot } from '@sandpit/core';
import type { HistoryChange, SnapshotMinute } from '../../history.js';
import { BulkInsert } from '../database/bulk-insert.js';
import { all, one, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import type { MarkRow, PastSnapshotRow, StoredSnapshot } from './history-rows.js';
import type { PastRecords } from './past-records.js';

type Change<Name extends HistoryChange['change']> = Extract<HistoryChange, { change: Name }>;

/** A minute of a portfolio: one that this transaction adds or changes, or the last there is. */
interface MinuteDraft {
  readonly owner: number;
  readonly minute: number;
  readonly n: number;
  hasMoved: boolean;
  standing: PortfolioSnapshot;
  readonly first: number;
  seq: number;
  /** Its last kept version ends before this record. */
  keptUntil: number;
  /** True when its row is there already. */
  isStored: boolean;
  isChanged: boolean;
}

/** Records within a minute after which a portfolio's snapshot is kept as a version: forks may begin in between. */
const VERSION_AFTER_RECORDS = 1000;

/** A portfolio, and the last minute that it has from a fork's ancestors. */
export interface SnapshotOwner {
  readonly k: number;
  readonly inherited: () => StoredSnapshot | undefined;
}

/** Portfolios whose last minute is remembered between transactions. */
const MOST_REMEMBERED = 50_000;

/** Writes the data of equity curves: portfolio snapshots minute by minute, and marks of pushed quotes (D149). */
export class SnapshotTables {
  readonly #statements: Statements;
  readonly #insertStandings: BulkInsert<StoredSnapshot>;
  /** By owner, oldest first. */
  readonly #minutes = new Map<number, MinuteDraft[]>();
  /** Entries of `#minutes` that this transaction changes. */
  readonly #changed = new Set<MinuteDraft[]>();
  readonly #marks = new Map<string, MarkRow>();
  #versions: PastSnapshotRow[] = [];
  readonly #insertVersions: BulkInsert<PastSnapshotRow>;

  constructor(database: Database) {
    this.#statements = new Statements(database);
    this.#insertVersions = new BulkInsert(database, 'past_standing', [
      'owner',
      'minute',
      'seq',
      'until',
      'moved',
      'standing',
    ]);
    this.#insertStandings = new BulkInsert(database, 'standing', [
      'owner',
      'minute',
      'n',
      'holding',
      'moved',
      'standing',
      'first',
      'seq',
    ]);
  }

  /** Current snapshot of a portfolio, including applied changes that are not written yet. */
  now(owner: SnapshotOwner): PortfolioSnapshot | undefined {
    return this.#minutesOf(owner).at(-1)?.standing;
  }

  /** `countOne` returns the ordinal of the next minute. */
  changed(
    owner: SnapshotOwner,
    seq: number,
    { minute, hasMoved, standing }: Change<'standing'>,
    countOne: () => number,
  ): void {
    const minutes = this.#minutesOf(owner);
    this.#changed.add(minutes);
    const last = minutes.at(-1);
    if (last?.minute !== minute) {
      minutes.push({
        owner: owner.k,
        minute,
        n: countOne(),
        hasMoved,
        standing,
        first: seq,
        seq,
        keptUntil: seq,
        isStored: false,
        isChanged: true,
      });
      return;
    }
    if (seq - last.keptUntil >= VERSION_AFTER_RECORDS) this.#keepVersion(last, seq);
    last.standing = standing;
    last.seq = seq;
    last.isChanged = true;
    last.hasMoved ||= hasMoved;
  }

  #keepVersion(draft: MinuteDraft, until: number): void {
    const { owner, minute, seq, hasMoved, standing } = draft;
    const standingText = JSON.stringify(standing);
    this.#versions.push({ owner, minute, seq, until, moved: hasMoved ? 1 : 0, standing: standingText });
    draft.keptUntil = until;
  }

  marked(simulation: number, seq: number, { symbol, minute, price }: Change<'mark'>): void {
    const name = `${simulation} ${symbol} ${minute}`;
    const sql = 'SELECT * FROM mark WHERE simulation = ? AND symbol = ? AND minute = ?';
    const before =
      this.#marks.get(name) ?? one<MarkRow>(this.#statements.of(sql), simulation, symbol, minute);
    this.#marks.set(name, { simulation, symbol, minute, price, first: before?.first ?? seq, seq });
  }

  #minutesOf({ k: owner, inherited: find }: SnapshotOwner): MinuteDraft[] {
    let minutes = this.#minutes.get(owner);
    if (minutes === undefined) {
      const sql = 'SELECT * FROM standing WHERE owner = ? ORDER BY minute DESC LIMIT 1';
      const row = one<StoredSnapshot>(this.#statements.of(sql), owner);
      const inherited = row === undefined ? find() : undefined;
      minutes =
        row !== undefined
          ? [draftOf(row, true, this.#keptUntil(row))]
          : inherited !== undefined
            ? [draftOf({ ...inherited, owner }, false, inherited.seq)]
            : [];
      this.#minutes.set(owner, minutes);
    }
    return minutes;
  }

  #keptUntil({ owner, minute, first }: StoredSnapshot): number {
    const sql = 'SELECT max(until) AS until FROM past_standing WHERE owner = ? AND minute = ?';
    const kept = one<{ until: number | null }>(this.#statements.of(sql), owner, minute)?.until;
    return kept ?? first;
  }

  write(): void {
    this.#insertVersions.run(this.#versions);
    this.#versions = [];
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
    for (const row of this.#marks.values()) {
      const { simulation, symbol, minute, price, first, seq } = row;
      const sql =
        'INSERT OR REPLACE INTO mark (simulation, symbol, minute, price, first, seq) VALUES (?, ?, ?, ?, ?, ?)';
      this.#statements.of(sql).run(simulation, symbol, minute, price, first, seq);
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

  #update({ owner, minute, holding, moved, standing, seq }: StoredSnapshot): void {
    const sql =
      'UPDATE standing SET holding = ?, moved = ?, standing = ?, seq = ? WHERE owner = ? AND minute = ?';
    this.#statements.of(sql).run(holding, moved, standing, seq, owner, minute);
  }

  /** After a transaction that did not happen. */
  forget(): void {
    this.#minutes.clear();
    this.#changed.clear();
    this.#marks.clear();
    this.#versions = [];
  }
}

const draftOf = (
  { owner, minute, n, moved, standing, first, seq }: StoredSnapshot,
  isStored: boolean,
  keptUntil: number,
): MinuteDraft => ({
  owner,
  minute,
  n,
  hasMoved: moved === 1,
  standing: JSON.parse(standing) as PortfolioSnapshot,
  first,
  seq,
  keptUntil,
  isStored,
  isChanged: false,
});

function rowOf({ owner, minute, n, hasMoved, standing, first, seq }: MinuteDraft): StoredSnapshot {
  return {
    owner,
    minute,
    n,
    holding: Object.keys(standing.held).length > 0 ? 1 : 0,
    moved: hasMoved ? 1 : 0,
    standing: JSON.stringify(standing),
    first,
    seq,
  };
}

const MINUTE_MS = 60_000;

/** The minute of an instant, since 1970. */
export const minuteOf = (at: number): number => Math.floor(at / MINUTE_MS);

/** The last minute of an owner by a record, as its row is now. */
export function snapshotAsOf(
  statements: Statements,
  records: PastRecords,
  owner: number,
  upTo: number,
): StoredSnapshot | undefined {
  if (upTo === 0) return undefined;
  const sql = 'SELECT * FROM standing WHERE owner = ? AND minute <= ? ORDER BY minute DESC LIMIT 2';
  const minute = upTo === Infinity ? Number.MAX_SAFE_INTEGER : minuteOf(records.at(upTo));
  return all<StoredSnapshot>(statements.of(sql), owner, minute).find((row) => row.first <= upTo);
}

export const shownMinute = ({ minute, holding, moved }: StoredSnapshot): SnapshotMinute => ({
  minute,
  isHolding: holding === 1,
  hasMoved: moved === 1,
});
