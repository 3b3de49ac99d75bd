/** Rows of CSV from items of a list, by the schema of the list (D190). */
import { type Cell, csvLine } from './csv.js';

/** The parts of a JSON schema that determine rows. */
export interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

type Fields = Readonly<Record<string, unknown>>;

/** A column of plain values: its position in a line, and its path in an item. */
interface Column {
  readonly index: number;
  readonly path: readonly string[];
}

/** A list inside each item, whose elements are rows. */
interface Nested {
  readonly path: readonly string[];
  readonly columns: readonly Column[];
  /** A list of plain values has one column. */
  readonly plainAt?: number;
}

/**
 * Columns of the items of a list: fields by their names, fields of nested objects by `object.field`. The elements of a nested list are
 * rows, each with the other columns repeated; their fields are called `list.field`, or by their own names if the route says so and no other
 * column has them.
 */
export class CsvRows {
  readonly headings: string[] = [];
  readonly #columns: Column[] = [];
  readonly #nested: Nested[] = [];
  readonly #rowsOf: string | undefined;

  readonly #isLinePerItem: boolean;

  /** `rowsOf`: the nested list whose fields go by their own names. `isLinePerItem`: a nested list is one cell. */
  constructor(item: Shape, rowsOf?: string, isLinePerItem = false) {
    this.#rowsOf = rowsOf;
    this.#isLinePerItem = isLinePerItem;
    this.#addFields(item, [], '');
  }

  #addFields({ properties = {} }: Shape, path: readonly string[], prefix: string): void {
    for (const [name, shape] of Object.entries(properties)) {
      const at = [...path, name];
      const heading = prefix + name;
      if (shape.properties !== undefined) this.#addFields(shape, at, `${heading}.`);
      else if (shape.type === 'array' && !this.#isLinePerItem) this.#addList(shape.items ?? {}, at, heading);
      else this.#columns.push({ index: this.headings.push(heading) - 1, path: at });
    }
  }

  #addList(items: Shape, path: readonly string[], heading: string): void {
    if (items.properties === undefined) {
      this.#nested.push({ path, columns: [], plainAt: this.headings.push(heading) - 1 });
      return;
    }
    const columns = plainFields(items, []).map((path) => {
      const own = path.join('.');
      const isOwn = heading === this.#rowsOf && !this.headings.includes(own);
      return { index: this.headings.push(isOwn ? own : `${heading}.${own}`) - 1, path };
    });
    this.#nested.push({ path, columns });
  }

  /** The lines of an item: one, or as many as the longest of its lists has elements. */
  lines(item: unknown): string {
    const cells = new Array<Cell>(this.headings.length).fill(undefined);
    for (const { index, path } of this.#columns) cells[index] = cellOf(valueAt(item, path));
    let text = '';
    let row = 0;
    do {
      for (const { path, columns, plainAt } of this.#nested) {
        const list = valueAt(item, path);
        const element: unknown = Array.isArray(list) ? (list as readonly unknown[])[row] : undefined;
        if (plainAt !== undefined) cells[plainAt] = cellOf(element);
        for (const column of columns) cells[column.index] = cellOf(valueAt(element, column.path));
      }
      text += csvLine(cells);
      row += 1;
    } while (this.#nested.some(({ path }) => lengthAt(item, path) > row));
    return text;
  }
}

/** The fields of the elements of a list; a list in it is one cell. */
const plainFields = ({ properties = {} }: Shape, path: readonly string[]): readonly (readonly string[])[] =>
  Object.entries(properties).flatMap(([name, shape]) =>
    shape.properties === undefined ? [[...path, name]] : plainFields(shape, [...path, name]),
  );

function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Fields)[name];
  }
  return found;
}

function lengthAt(item: unknown, path: readonly string[]): number {
  const list = valueAt(item, path);
  return Array.isArray(list) ? list.length : 0;
}

function cellOf(value: unknown): Cell {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
}
