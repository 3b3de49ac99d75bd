import { AccountDraft, decimalOf, type FileAccount, type InPieces, UnreadableFile } from './broker-file.js';
import { symbolInFile } from './file-symbols.js';

/** The JSON of `GET /v2/positions`: https://docs.alpaca.markets/reference/getallopenpositions */
export function* readAlpaca(text: string): InPieces<readonly FileAccount[]> {
  let positions: unknown;
  try {
    positions = JSON.parse(text);
  } catch {
    throw new UnreadableFile('file is not JSON');
  }
  if (!Array.isArray(positions)) throw new UnreadableFile('file is not a list of Alpaca positions');
  const account = new AccountDraft('alpaca');
  for (const [index, position] of (positions as readonly unknown[]).entries()) {
    yield;
    const row = `row ${index + 1}`;
    if (typeof position !== 'object' || position === null)
      throw new UnreadableFile(`file: ${row} is not a position`);
    const field = (name: string): string | undefined => {
      const value = (position as Readonly<Record<string, unknown>>)[name];
      return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
    };
    const symbol = symbolInFile(field('symbol') ?? '');
    if (symbol === '') throw new UnreadableFile(`file: ${row} has no symbol`);
    const assetClass = field('asset_class') ?? 'us_equity';
    if (assetClass !== 'us_equity' && assetClass !== 'us_option') {
      account.refuse({ row, symbol, reason: `assets of class ${assetClass} cannot be held` });
      continue;
    }
    const size = decimalOf(field('qty'))?.replace('-', '');
    const isShort = field('side') === 'short' || field('qty')?.startsWith('-') === true;
    const price = decimalOf(field('avg_entry_price'));
    account.add({
      row,
      symbol,
      quantity: size === undefined ? undefined : `${isShort ? '-' : ''}${size}`,
      ...(price !== undefined && { price }),
    });
  }
  return [account];
}
