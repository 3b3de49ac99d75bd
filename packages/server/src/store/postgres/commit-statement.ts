import { rowsFrom } from './row-statement.js';

/**
 * A group commit: one statement, sent as one message, so that no lock is held while a node is slow (D199). It moves the heads whose epoch,
 * sequence and hash are the expected ones and inserts the blocks, the answers and the rows of the history of those cells, and of no others.
 *
 * Under READ COMMITTED an update that waits for a row reads the row again once it has it: of two statements that update the same head, the
 * later one sees the result of the earlier one, and does not find the expected epoch or sequence.
 */

const cells = (condition: string): string => `
  expected AS (
    SELECT * FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $22::bigint[])
      AS e (cell, epoch, seq, hash, new_seq, new_hash, wake_at)
  ), moved AS (
    UPDATE head SET seq = e.new_seq, hash = decode(e.new_hash, 'hex'), wake_at = e.wake_at FROM expected e${condition}
      WHERE head.cell = e.cell AND head.epoch = e.epoch AND head.seq = e.seq AND head.hash = decode(e.hash, 'hex')
      RETURNING head.cell
  )`;

const ROWS = `
  blocks AS (
    INSERT INTO block (cell, first, last, epoch, hash, data)
      SELECT b.cell, b.first, b.last, b.epoch, decode(b.hash, 'hex'), substring($12::bytea FROM b.begins FOR b.bytes)
        FROM unnest($7::integer[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $13::integer[], $14::integer[])
          AS b (cell, first, last, epoch, hash, begins, bytes)
        JOIN done ON done.cell = b.cell
  ), answers AS (
    INSERT INTO answer (cell, lookup, expires_at, fingerprint, status_code, body, checksum)
      SELECT a.cell, a.lookup, a.expires_at, a.fingerprint, a.status_code, a.body, decode(a.checksum, 'hex')
        FROM unnest($15::integer[], $16::text[], $17::bigint[], $18::text[], $19::integer[], $20::text[], $21::text[])
          AS a (cell, lookup, expires_at, fingerprint, status_code, body, checksum)
        WHERE a.cell = 0 OR a.cell IN (SELECT cell FROM done)
      ON CONFLICT (cell, lookup) DO UPDATE SET expires_at = excluded.expires_at, fingerprint = excluded.fingerprint,
        status_code = excluded.status_code, body = excluded.body, checksum = excluded.checksum
  )`;

const TOLD =
  'SELECT done.cell, told.cell IS NOT NULL AS told FROM done LEFT JOIN told ON told.cell = done.cell';

const commit = (history: string, answer: string): string =>
  `WITH ${cells('')}, done AS (SELECT cell FROM moved), ${ROWS}${history} ${answer}`;

/** Without changes of the registry. Returns the cells whose heads have moved. */
export const COMMIT = commit('', 'SELECT cell FROM done');

/** Commit statement with rows of the history (`rowValues`). `told`: the rows of the cell were written. */
export const COMMIT_WITH_HISTORY = commit(`, ${rowsFrom(23)}`, TOLD);

const commitWithRegistry = (history: string, answer: string): string => `
  WITH registered AS (
    UPDATE registry_head SET version = $24, stamp = $25, digest = $26 WHERE version = $23 RETURNING version
  ), entries AS (
    INSERT INTO registry (kind, name, value, version, stamp)
      SELECT r.kind, r.name, r.value, $24, $25 FROM unnest($27::text[], $28::text[], $29::text[]) AS r (kind, name, value)
        CROSS JOIN registered
      ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value, version = excluded.version, stamp = excluded.stamp
  ), ${cells(' CROSS JOIN registered')}, created AS (
    INSERT INTO head (cell, incarnation, epoch, seq, hash, wake_at)
      SELECT c.cell, $30, c.epoch, c.seq, decode(c.hash, 'hex'), c.wake_at
        FROM unnest($31::integer[], $32::bigint[], $33::bigint[], $34::text[], $36::bigint[])
          AS c (cell, epoch, seq, hash, wake_at) CROSS JOIN registered
      RETURNING cell
  ), removed AS (
    DELETE FROM head USING registered WHERE cell = ANY($35::integer[])
  ), done AS (SELECT cell FROM moved UNION ALL SELECT cell FROM created), ${ROWS}${history}
  ${answer}`;

/**
 * With changes of the registry, which are one group with the cells: all of them or, if another node has changed the registry, none, and no
 * cell moves (D231). Returns cell 0 if they were made.
 */
export const COMMIT_WITH_REGISTRY = commitWithRegistry(
  '',
  'SELECT cell FROM done UNION ALL SELECT 0 FROM registered',
);

export const COMMIT_WITH_BOTH = commitWithRegistry(
  `, ${rowsFrom(37)}`,
  `${TOLD} UNION ALL SELECT 0, false FROM registered`,
);

/** A cell of a group commit: its new and its current head. */
export interface CellMove {
  readonly key: number;
  readonly epoch: number;
  readonly seq: number;
  readonly hash: Uint8Array;
  readonly newSeq: number;
  readonly newHash: Uint8Array;
  /** Next wake-up, real time in ms; null = none. */
  readonly wakeAt: number | null;
  /** This commit creates it: there is no head yet. */
  readonly isNew: boolean;
  readonly blocks: readonly NewBlock[];
  readonly answers: readonly NewAnswer[];
}

interface NewBlock {
  readonly first: number;
  readonly last: number;
  readonly hash: Uint8Array;
  readonly data: Buffer;
}

export interface NewAnswer {
  readonly lookup: string;
  readonly expiresAt: number;
  readonly fingerprint: string;
  readonly statusCode: number;
  readonly body: string;
  readonly checksum: Uint8Array;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** The values of `COMMIT` for these cells. `others`: answers that are of no cell. */
export function commitValues(moves: readonly CellMove[], others: readonly NewAnswer[]): unknown[] {
  const there = moves.filter(({ isNew }) => !isNew);
  const blocks = moves.flatMap((move) => move.blocks.map((block) => ({ ...block, of: move })));
  const answers = [
    ...moves.flatMap(({ key, answers: mine }) => mine.map((answer) => ({ ...answer, key }))),
    ...others.map((answer) => ({ ...answer, key: 0 })),
  ];
  const begins: number[] = [];
  let size = 0;
  for (const { data } of blocks) {
    begins.push(size + 1);
    size += data.length;
  }
  return [
    there.map(({ key }) => key),
    there.map(({ epoch }) => epoch),
    there.map(({ seq }) => seq),
    there.map(({ hash }) => hex(hash)),
    there.map(({ newSeq }) => newSeq),
    there.map(({ newHash }) => hex(newHash)),
    blocks.map(({ of }) => of.key),
    blocks.map(({ first }) => first),
    blocks.map(({ last }) => last),
    blocks.map(({ of }) => of.epoch),
    blocks.map(({ hash }) => hex(hash)),
    Buffer.concat(
      blocks.map(({ data }) => data),
      size,
    ),
    begins,
    blocks.map(({ data }) => data.length),
    answers.map(({ key }) => key),
    answers.map(({ lookup }) => lookup),
    answers.map(({ expiresAt }) => expiresAt),
    answers.map(({ fingerprint }) => fingerprint),
    answers.map(({ statusCode }) => statusCode),
    answers.map(({ body }) => body),
    answers.map(({ checksum }) => hex(checksum)),
    there.map(({ wakeAt }) => wakeAt),
  ];
}
