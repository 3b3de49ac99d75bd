/** Position files of brokers, read into one form (D206). Pure: text in, rows out. */

export type FileFormat = 'sandpit' | 'alpaca' | 'fidelity' | 'schwab' | 'ibkr';

/** A lot or a position as a file has it. Numbers are decimal text without signs of currency. */
export interface FileRow {
  /** Position in the file: `row 7`. */
  readonly row: string;
  /** Symbol in this brokerage's form, as far as the text alone determines it. */
  readonly symbol: string;
  /** Negative = short. */
  readonly quantity: string;
  /** Dollars per share or unit. */
  readonly price?: string;
  /** Dollars in all; wins over `price`, which files round. */
  readonly cost?: string;
  /** ISO 8601 date, or date and time in New York. */
  readonly acquiredAt?: string;
}

/** A row that cannot be imported. */
export interface UnsupportedRow {
  readonly row: string;
  readonly symbol: string;
  readonly reason: string;
}

/** Contents of a file for one account. */
export interface FileAccount {
  /** Number or name by which `?account=` chooses it; the first one is shown. */
  readonly names: readonly string[];
  /** Dollars, decimal text. */
  readonly cash: readonly string[];
  readonly rows: readonly FileRow[];
  readonly unsupported: readonly UnsupportedRow[];
}

/** A file that cannot be read, with the reason as the message. */
export class UnreadableFile extends Error {}

/** Work that pauses after each row. */
export type InPieces<Result> = Generator<undefined, Result>;

/** Collects an account while a file is read. */
export class AccountDraft implements FileAccount {
  readonly names: string[];
  readonly cash: string[] = [];
  readonly rows: FileRow[] = [];
  readonly unsupported: UnsupportedRow[] = [];

  constructor(...names: string[]) {
    this.names = names;
  }

  /** Adds a row unless its symbol shows that it cannot be imported. */
  add(row: Omit<FileRow, 'symbol' | 'quantity'> & { symbol: string; quantity: string | undefined }): void {
    const { row: place, symbol, quantity } = row;
    const reason = reasonAgainst(symbol) ?? (quantity === undefined ? 'the row has no quantity' : undefined);
    if (reason !== undefined || quantity === undefined)
      this.refuse({ row: place, symbol, reason: reason ?? '' });
    else if (Number(quantity) !== 0) this.rows.push({ ...row, quantity });
  }

  refuse(row: UnsupportedRow): void {
    this.unsupported.push(row);
  }
}

const FUND = /^[A-Z]{4}X$/;
const CUSIP = /^(?=.*\d)[0-9A-Z]{8}\d$/;

function reasonAgainst(symbol: string): string | undefined {
  if (FUND.test(symbol)) return 'mutual funds cannot be held';
  if (CUSIP.test(symbol)) return 'bonds and other CUSIPs cannot be held';
  return undefined;
}

/**
 * A number of a file as plain decimal text; undefined for placeholders of brokers (empty, `--`, `n/a`). Reads `$1,234.50`,
 * `+5%` and `(12.30)` for −12.30.
 */
export function decimalOf(text: string | undefined): string | undefined {
  const bare = (text ?? '').replace(/[$,+%\s"']/g, '');
  const [, inParentheses] = /^\(([\d.]+)\)$/.exec(bare) ?? [];
  const number = inParentheses === undefined ? bare : `-${inParentheses}`;
  return /^-?(\d+\.?\d*|\.\d+)$/.test(number)
    ? number.replace(/^(-?)\./, '$10.').replace(/\.$/, '')
    : undefined;
}

/** Decimal text rounded half up (away from zero) to a number of places. */
export function rounded(decimal: string, places: number): string {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  if (fraction.length <= places) return decimal;
  const units = BigInt(whole + fraction.slice(0, places)) + (Number(fraction[places]) >= 5 ? 1n : 0n);
  const digits = units.toString().padStart(places + 1, '0');
  return `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** Decimal text cut off after a number of places. */
export function truncated(decimal: string, places: number): string {
  const [, whole = decimal, fraction = ''] = /^(-?\d+)\.(\d+)$/.exec(decimal) ?? [];
  return fraction.length <= places ? decimal : `${whole}.${fraction.slice(0, places)}`;
}

/** Cells of a table by their column's name, in lower case. */
export type Cells = (column: string) => string | undefined;

/** Names of the columns of each header. */
const NAMES = new WeakMap<readonly string[], readonly string[]>();

/** Looks cells up under a header. A column is found by its whole name, or by a prefix written `qty…`. */
export function cellsUnder(header: readonly string[], record: readonly string[]): Cells {
  let names = NAMES.get(header);
  if (names === undefined) {
    names = header.map((name) => name.trim().toLowerCase());
    NAMES.set(header, names);
  }
  const named = names;
  return (column) => {
    const at = column.endsWith('…')
      ? named.findIndex((name) => name.startsWith(column.slice(0, -1)))
      : named.indexOf(column);
    const cell = at === -1 ? undefined : record[at]?.trim();
    return cell === '' ? undefined : cell;
  };
}
