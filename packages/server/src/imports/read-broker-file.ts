import { parse } from 'csv-parse/sync';
import { readAlpaca } from './alpaca-file.js';
import { type FileAccount, type FileFormat, UnreadableFile } from './broker-file.js';
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

/** Reads a file of positions, of a stated format or of that which its text shows. Throws `UnreadableFile`. */
export function readBrokerFile(text: string, stated?: FileFormat): BrokerFile {
  const bare = text.replace(/^\uFEFF/, '').trim();
  if (stated === 'alpaca' || (stated === undefined && /^[[{]/.test(bare)))
    return { format: 'alpaca', accounts: readAlpaca(bare) };
  const table = tableOf(bare);
  const format = stated ?? formatOf(table);
  const accounts = READERS[format](table);
  if (accounts.length === 0) throw new UnreadableFile(`file is not a positions file of ${format}`);
  return { format, accounts };
}

const READERS: Readonly<Record<Exclude<FileFormat, 'alpaca'>, (table: Table) => readonly FileAccount[]>> = {
  sandpit: readSandpit,
  fidelity: readFidelity,
  schwab: readSchwab,
  ibkr: readIbkr,
};

/** Rows keep their numbers: blank lines are rows too. */
function tableOf(text: string): Table {
  try {
    return parse(text, { relax_column_count: true, relax_quotes: true, skip_empty_lines: false });
  } catch {
    throw new UnreadableFile('file is not CSV');
  }
}

function formatOf(table: Table): Exclude<FileFormat, 'alpaca'> {
  for (const record of table) {
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
