import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { Chance } from '../chance.js';

/** Something that has happened to a copy of a data directory, in words. */
export type Damage = string;

/** Sources of files from another time or another installation. */
export interface Others {
  /** An earlier copy of the installation. */
  readonly earlier: string;
  readonly foreign: string;
}

const PAGE = 4096;
/** No data: SQLite creates the lock of its shared memory again. */
const NOT_DATA = /-shm$|demo-credentials/;

/** All files of a directory, with their folders. */
function filesOf(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !NOT_DATA.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

/** Does one thing to a directory; says what. */
export function damage(directory: string, others: Others, chance: Chance): Damage {
  for (;;) {
    const done = chance.pick(KINDS)(directory, others, chance);
    if (done !== undefined) return done;
  }
}

type DamageMaker = (directory: string, others: Others, chance: Chance) => Damage | undefined;

const KINDS: readonly DamageMaker[] = [
  flip, flip, flip, flip, flip,
  overwrite, overwrite,
  copyPage,
  truncate, truncate,
  remove, remove,
  appendGarbage,
  replaceBy('earlier'), replaceBy('earlier'),
  replaceBy('foreign'),
  exchange,
  changeRow, changeRow, changeRow, changeRow,
  deleteRow, deleteRow,
  exchangeRows,
]; // prettier-ignore

function someFile(
  directory: string,
  chance: Chance,
): { readonly file: string; readonly bytes: Buffer } | undefined {
  const file = chance.pick(filesOf(directory));
  const bytes = readFileSync(join(directory, file));
  return bytes.length === 0 ? undefined : { file, bytes };
}

/** Beginnings of files hold what matters most. */
const place = (length: number, chance: Chance): number =>
  chance.int(0, (chance.hits(0.3) ? Math.min(length, PAGE) : length) - 1);

function flip(directory: string, _: Others, chance: Chance): Damage | undefined {
  const found = someFile(directory, chance);
  if (found === undefined) return undefined;
  const { file, bytes } = found;
  const at = place(bytes.length, chance);
  const bit = chance.int(0, 7);
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
  writeFileSync(join(directory, file), bytes);
  return `bit ${bit} of byte ${at} of ${file} flipped`;
}

function overwrite(directory: string, _: Others, chance: Chance): Damage | undefined {
  const found = someFile(directory, chance);
  if (found === undefined) return undefined;
  const { file, bytes } = found;
  const size = chance.pick([16, 512, PAGE]);
  const at = Math.floor(place(bytes.length, chance) / size) * size;
  const end = Math.min(at + size, bytes.length);
  const isZero = chance.hits(0.5);
  for (let i = at; i < end; i++) bytes.writeUInt8(isZero ? 0 : chance.int(0, 255), i);
  writeFileSync(join(directory, file), bytes);
  return `bytes ${at} to ${end} of ${file} are ${isZero ? 'zero' : 'noise'}`;
}

function copyPage(directory: string, _: Others, chance: Chance): Damage | undefined {
  const found = someFile(directory, chance);
  if (found === undefined) return undefined;
  const { file, bytes } = found;
  const pages = Math.floor(bytes.length / PAGE);
  if (pages < 2) return undefined;
  const [from, to] = [chance.int(0, pages - 1), chance.int(0, pages - 1)];
  if (from === to) return undefined;
  bytes.copy(bytes, to * PAGE, from * PAGE, (from + 1) * PAGE);
  writeFileSync(join(directory, file), bytes);
  return `page ${from} of ${file} written over page ${to}`;
}

function truncate(directory: string, _: Others, chance: Chance): Damage | undefined {
  const found = someFile(directory, chance);
  if (found === undefined) return undefined;
  const { file, bytes } = found;
  const exact = chance.int(0, bytes.length - 1);
  const size = chance.pick([0, exact, Math.floor(exact / PAGE) * PAGE, bytes.length - 1]);
  truncateSync(join(directory, file), size);
  return `${file} cut from ${bytes.length} to ${size} bytes`;
}

function appendGarbage(directory: string, _: Others, chance: Chance): Damage | undefined {
  const found = someFile(directory, chance);
  if (found === undefined) return undefined;
  const { file, bytes } = found;
  const more = Buffer.from(Array.from({ length: chance.pick([1, 100, PAGE]) }, () => chance.int(0, 255)));
  writeFileSync(join(directory, file), Buffer.concat([bytes, more]));
  return `${more.length} bytes of noise after the end of ${file}`;
}

function remove(directory: string, _: Others, chance: Chance): Damage {
  const file = chance.pick(filesOf(directory));
  rmSync(join(directory, file));
  return `${file} deleted`;
}

function replaceBy(whose: keyof Others): DamageMaker {
  return (directory, others, chance) => {
    const files = filesOf(others[whose]).filter((file) => existsSync(join(directory, file)));
    if (files.length === 0) return undefined;
    const chosen = new Set([chance.pick(files), ...(chance.hits(0.3) ? [chance.pick(files)] : [])]);
    for (const file of chosen) copyFileSync(join(others[whose], file), join(directory, file));
    return `${[...chosen].join(' and ')} replaced by ${whose === 'earlier' ? 'an earlier one' : 'that of another installation'}`;
  };
}

function exchange(directory: string, _: Others, chance: Chance): Damage | undefined {
  const files = filesOf(directory);
  const [one, other] = [chance.pick(files), chance.pick(files)];
  if (one === other) return undefined;
  const aside = join(directory, 'aside');
  renameSync(join(directory, one), aside);
  renameSync(join(directory, other), join(directory, one));
  renameSync(aside, join(directory, other));
  return `${one} and ${other} exchanged`;
}

type Value = string | number | bigint | null | Uint8Array;
type Row = Record<string, Value>;

/** Changes one row of one table of one database, as a user with a shell could. */
function withRow(
  directory: string,
  chance: Chance,
  act: (
    database: InstanceType<typeof DatabaseSync>,
    table: string,
    row: Row,
    where: Where,
  ) => Damage | undefined,
): Damage | undefined {
  const file = chance.pick(filesOf(directory).filter((name) => name.endsWith('.db')));
  const database = new DatabaseSync(join(directory, file));
  try {
    const tables = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .all() as readonly { readonly name: string }[];
    if (tables.length === 0) return undefined;
    const { name } = chance.pick(tables);
    const row = someRow(database, name, chance);
    const done = row === undefined ? undefined : act(database, name, row, whereOf(row));
    return done === undefined ? undefined : `${file}: ${done}`;
  } catch {
    // The tables do not allow it.
    return undefined;
  } finally {
    database.close();
  }
}

function someRow(
  database: InstanceType<typeof DatabaseSync>,
  table: string,
  chance: Chance,
): Row | undefined {
  const { rows } = database.prepare(`SELECT count(*) AS rows FROM "${table}"`).get() as {
    readonly rows: number;
  };
  if (rows === 0) return undefined;
  return database.prepare(`SELECT * FROM "${table}" LIMIT 1 OFFSET ?`).get(chance.int(0, rows - 1)) as Row;
}

interface Where {
  readonly sql: string;
  readonly values: readonly Value[];
}

const whereOf = (row: Row): Where => ({
  sql: Object.keys(row)
    .map((column) => `"${column}" IS ?`)
    .join(' AND '),
  values: Object.values(row),
});

function deleteRow(directory: string, _: Others, chance: Chance): Damage | undefined {
  return withRow(directory, chance, (database, table, row, { sql, values }) => {
    database.prepare(`DELETE FROM "${table}" WHERE ${sql}`).run(...values);
    return `${shown(table, row)} deleted`;
  });
}

function changeRow(directory: string, _: Others, chance: Chance): Damage | undefined {
  return withRow(directory, chance, (database, table, row, { sql, values }) => {
    const column = chance.pick(Object.keys(row));
    const was = row[column] ?? null;
    const is = changed(was, chance);
    if (is === was) return undefined;
    database.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${sql}`).run(is, ...values);
    return `${column} of ${shown(table, row)} is ${String(is).slice(0, 40)}`;
  });
}

/** A column of two rows, the one's in the other. */
function exchangeRows(directory: string, _: Others, chance: Chance): Damage | undefined {
  return withRow(directory, chance, (database, table, row, one) => {
    const second = someRow(database, table, chance);
    if (second === undefined) return undefined;
    const column = chance.pick(Object.keys(row));
    const [mine, its] = [row[column] ?? null, second[column] ?? null];
    if (String(mine) === String(its)) return undefined;
    const other = whereOf(second);
    database.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${one.sql}`).run(its, ...one.values);
    database.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE ${other.sql}`).run(mine, ...other.values);
    return `${column} of ${shown(table, row)} exchanged with that of ${shown(table, second)}`;
  });
}

function changed(value: Value, chance: Chance): Value {
  if (value === null) return 1;
  if (typeof value === 'number') return value + chance.pick([-1, 1, 7]);
  if (typeof value === 'bigint') return value + 1n;
  if (value.length === 0) return typeof value === 'string' ? 'x' : new Uint8Array([1]);
  const at = chance.int(0, value.length - 1);
  if (typeof value !== 'string') {
    const bytes = Uint8Array.from(value);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.int(0, 7));
    return bytes;
  }
  // A digit becomes another digit: what is changed with care looks right.
  const digit = /\d/.exec(value.slice(at));
  const from = digit === null ? at : at + digit.index;
  const next = digit === null ? 'x' : String((Number(digit[0]) + 1) % 10);
  return value.slice(0, from) + next + value.slice(from + 1);
}

const shown = (table: string, row: Row): string =>
  `${table} ${JSON.stringify(Object.fromEntries(Object.entries(row).map(([column, value]) => [column, String(value).slice(0, 24)])))}`;
