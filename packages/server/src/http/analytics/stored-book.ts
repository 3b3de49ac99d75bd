/** A portfolio's book as bytes: its rows by column, so that a hundred thousand trades are read in a fraction of a second. */
import type { StoredRoundTrips, StoredRows } from '@sandpit/analytics';
import type { StoredRecorder } from './portfolio-record.js';

/** Grows with each change of what is derived from a history, which a test notices: bytes of any other format are not used. */
export const FORMAT = 4;

const NEWLINE = 10;

/** The parts of a book. */
export interface StoredBook {
  /** Items of the lists `activities` and `equity` that it contains. */
  readonly activities: number;
  readonly closes: number;
  readonly texts: readonly string[];
  readonly recorder: StoredRecorder;
  readonly trips: StoredRoundTrips;
}

/** A number of rows, and the numbers of bytes of their columns. */
type Sizes = readonly [length: number, columns: readonly number[]];

interface Head extends Pick<StoredBook, 'activities' | 'closes'> {
  readonly format: number;
  readonly state: StoredRecorder['state'];
  readonly lots: StoredRoundTrips['lots'];
  /** Bytes of the texts, as JSON. */
  readonly texts: number;
  /** Tables in the order of their columns in the file. */
  readonly tables: readonly [events: Sizes, posted: Sizes, orders: Sizes, trips: Sizes];
}

/** The bytes of a book, in parts. */
export function bookBytes({ activities, closes, texts, recorder, trips }: StoredBook): readonly Uint8Array[] {
  const { state, events, posted, orders } = recorder;
  const text = Buffer.from(JSON.stringify(texts));
  const head: Head = {
    format: FORMAT,
    activities,
    closes,
    state,
    lots: trips.lots,
    texts: text.length,
    tables: [sizesOf(events), sizesOf(posted), sizesOf(orders), sizesOf(trips)],
  };
  const columns = [events, posted, orders, trips].flatMap((table) => table.columns);
  return [Buffer.from(`${JSON.stringify(head)}\n`), text, ...columns];
}

/** The book that `bookBytes` gave these bytes of; undefined for another format. */
export function bookOfBytes(bytes: Uint8Array): StoredBook | undefined {
  const end = bytes.indexOf(NEWLINE);
  const head = jsonOf(bytes.subarray(0, end)) as Head;
  if (head.format !== FORMAT) return undefined;
  let offset = end + 1;
  const next = (length: number): Uint8Array => bytes.subarray(offset, (offset += length));
  const texts = jsonOf(next(head.texts)) as readonly string[];
  const tableOf = ([length, columns]: Sizes): StoredRows => ({ length, columns: columns.map(next) });
  const [events, posted, orders, trips] = head.tables;
  const { activities, closes, state, lots } = head;
  return {
    activities,
    closes,
    texts,
    recorder: { state, events: tableOf(events), posted: tableOf(posted), orders: tableOf(orders) },
    trips: { lots, ...tableOf(trips) },
  };
}

const sizesOf = ({ length, columns }: StoredRows): Sizes => [
  length,
  columns.map(({ byteLength }) => byteLength),
];

const jsonOf = ({ buffer, byteOffset, byteLength }: Uint8Array): unknown =>
  JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString());
