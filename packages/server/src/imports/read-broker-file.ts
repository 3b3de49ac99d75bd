import { parse } from 'csv-parse';
import { readAlpaca } from './alpaca-file.js';
import { type FileAccount, type FileFormat, type InPieces, UnreadableFile } from './broker-file.js';
import { readFidelity } from './fidelity-file.js';
import { readIbkr } from './ibkr-file.js';
import { readSandpit } from './sandpit-file.js';
import { readSchwab } from './schwab-file.js';

export interface BrokerFile {
  readonly format: FileFormat;
  /** At least one. */
  readonly accounts: readonly FileAccount[];
}

type Table = readonly (readonly string[])[];

/** Characters of CSV that are parsed in one piece. */
const PIECE = 16_384;

/**
 * Reads a file of positions, of a stated format or of that which its text shows, in pieces: a file has tens of thousands of rows. Throws
 * `UnreadableFile`.
 */
export function* readBrokerFile(text: string, stated?: FileFormat): InPieces<BrokerFile> {
  const bare = text.replace(/^\uFEFF/, '').trim();
  if (stated === 'alpaca' || (stated === undefined && /^[[{]/.test(bare)))
    return { format: 'alpaca', accounts: yield* readAlpaca(bare) };
  const table = yield* tableOf(bare);
  const format = stated ?? (yield* formatOf(table));
  const accounts = yield* READERS[format](table);
  if (accounts.length === 0) throw new UnreadableFile(`file is not a positions file of ${format}`);
  return { format, accounts };
}

const READERS: Readonly<
  Record<Exclude<FileFormat, 'alpaca'>, (table: Table) => InPieces<readonly FileAccount[]>>
> = {
  sandpit: readSandpit,
  fidelity: readFidelity,
  schwab: readSchwab,
  ibkr: readIbkr,
};

/** Rows keep their numbers: blank lines are rows too. */
function* tableOf(text: string): InPieces<Table> {
  const table: string[][] = [];
  // The parser handles each piece where it is written.
  const parser = parse({ relax_column_count: true, relax_quotes: true, skip_empty_lines: false });
  let failure: unknown;
  parser.on('error', (error) => (failure = error));
  const collect = (): void => {
    for (let record: unknown = parser.read(); record !== null; record = parser.read())
      table.push(record as string[]);
    if (failure !== undefined) throw new UnreadableFile('file is not CSV');
  };
  for (let begin = 0; begin < text.length; begin += PIECE) {
    parser.write(text.slice(begin, begin + PIECE));
    collect();
    yield;
  }
  parser.end();
  collect();
  return table;
}

function* formatOf(table: Table): InPieces<Exclude<FileFormat, 'alpaca'>> {
  for (const record of table) {
    yield;
    const names = record.map((cell) => cell.trim().toLowerCase());
    const [first = ''] = names;
    if (first.startsWith('positions for account')) return 'schwab';
    if (first === 'open positions' && names[1] === 'header') return 'ibkr';
    if (names.includes('account number') && names.includes('symbol')) return 'fidelity';
    if (names.includes('symbol') || names.includes('optionsymbol')) return 'sandpit';
  }
  throw new UnreadableFile(
    'file is not recognized: name its format with format=sandpit, alpaca, fidelity, schwab or ibkr',
  );
}
