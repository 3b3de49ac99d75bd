/** Rows of plain values, kept by column: a fifth of the memory of objects, and encoded without a look at each of them. */

/** Contents of a column: numbers, texts, or other values as JSON. A value may be absent in any of them. */
export type ColumnKind = 'number' | 'text' | 'json';

type Values = Float64Array | Uint32Array;
type Fields = Record<string, unknown>;

/** Texts by number, each of them once; 0 = none. */
export class Texts {
  readonly #texts: string[];
  /** Built when a text is first looked up. */
  #codes: Map<string, number> | undefined;

  constructor(texts: Iterable<string> = []) {
    this.#texts = [...texts];
  }

  /** All texts, that with the number 1 first. */
  get all(): readonly string[] {
    return this.#texts;
  }

  /** The number of a text, which is added when it is new. */
  codeOf(text: string): number {
    this.#codes ??= new Map(this.#texts.map((known, index) => [known, index + 1]));
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    const code = this.#texts.push(text);
    this.#codes.set(text, code);
    return code;
  }

  textOf(code: number): string | undefined {
    return this.#texts[code - 1];
  }
}

/** Rows as they can be stored. */
export interface StoredRows {
  readonly length: number;
  /** Bytes of each column; none of a column without a value. */
  readonly columns: readonly Uint8Array[];
}

const FIRST_CAPACITY = 64;

export class Rows<Row extends object> {
  readonly #texts: Texts;
  readonly #names: readonly string[];
  readonly #kinds: readonly ColumnKind[];
  #columns: Values[];
  #length: number;

  /** `stored`: rows to begin with. */
  constructor(fields: Readonly<Record<string, ColumnKind>>, texts: Texts, stored?: StoredRows) {
    this.#texts = texts;
    this.#names = Object.keys(fields);
    this.#kinds = Object.values(fields);
    this.#length = stored?.length ?? 0;
    this.#columns = this.#kinds.map((kind, i) => valuesOf(kind, this.#length, stored?.columns[i]));
  }

  get length(): number {
    return this.#length;
  }

  /** Numbers must not be NaN. */
  add(row: Row): void {
    const index = this.#length;
    if (index === (this.#columns[0]?.length ?? 0)) this.#grow();
    const fields = row as Fields;
    for (let i = 0; i < this.#names.length; i += 1) {
      const value = fields[this.#names[i] ?? ''];
      (this.#columns[i] as Values)[index] = this.#encoded(this.#kinds[i], value);
    }
    this.#length += 1;
  }

  /** A copy of a row. */
  at(index: number): Row {
    const row: Fields = {};
    for (let i = 0; i < this.#names.length; i += 1) {
      const value = (this.#columns[i] as Values)[index] ?? 0;
      const kind = this.#kinds[i];
      if (kind === 'number') {
        if (!Number.isNaN(value)) row[this.#names[i] ?? ''] = value;
      } else if (value !== 0) {
        const text = this.#texts.textOf(value) ?? '';
        row[this.#names[i] ?? ''] = kind === 'text' ? text : (JSON.parse(text) as unknown);
      }
    }
    return row as Row;
  }

  *[Symbol.iterator](): Generator<Row, void, undefined> {
    for (let index = 0; index < this.#length; index += 1) yield this.at(index);
  }

  /** Values of a column, until rows are added: numbers, NaN = absent, or numbers of texts in `Texts`, 0 = absent. */
  column(name: keyof Row & string): ArrayLike<number> {
    return this.#columns[this.#names.indexOf(name)] ?? [];
  }

  /** The number of a text in columns of texts. */
  codeOf(text: string): number {
    return this.#texts.codeOf(text);
  }

  /** The text of a number in columns of texts. */
  textOf(code: number): string | undefined {
    return this.#texts.textOf(code);
  }

  /** Replaces a number of a row. */
  set(index: number, name: keyof Row & string, value: number): void {
    (this.#columns[this.#names.indexOf(name)] as Values)[index] = value;
  }

  /** The rows as they can be stored, until more are added. */
  stored(): StoredRows {
    const columns = this.#columns.map((values) => {
      const used = values.subarray(0, this.#length);
      return isEmpty(used) ? new Uint8Array() : new Uint8Array(used.buffer, 0, used.byteLength);
    });
    return { length: this.#length, columns };
  }

  #encoded(kind: ColumnKind | undefined, value: unknown): number {
    if (kind === 'number') return (value as number | undefined) ?? Number.NaN;
    if (value === undefined) return 0;
    return this.#texts.codeOf(kind === 'text' ? (value as string) : JSON.stringify(value));
  }

  #grow(): void {
    const capacity = Math.max(FIRST_CAPACITY, Math.ceil(this.#length * 1.5));
    this.#columns = this.#columns.map((values) => {
      const larger = values instanceof Float64Array ? new Float64Array(capacity) : new Uint32Array(capacity);
      larger.set(values);
      return larger;
    });
  }
}

/** The values of a stored column. */
function valuesOf(kind: ColumnKind, length: number, bytes: Uint8Array = new Uint8Array()): Values {
  if (bytes.byteLength === 0)
    return kind === 'number' ? new Float64Array(length).fill(Number.NaN) : new Uint32Array(length);
  // Copied: values of eight bytes must begin at a multiple of eight.
  const part = new Uint8Array(bytes).buffer;
  return kind === 'number' ? new Float64Array(part) : new Uint32Array(part);
}

/** True if all values are absent. */
const isEmpty = (values: Values): boolean =>
  values instanceof Float64Array
    ? values.every((value) => Number.isNaN(value))
    : values.every((code) => code === 0);
