import type { Instant } from '@sandpit/core';
import { BadReplayFile } from './bad-replay-file.js';
import { rowBatches } from './recorded-file.js';
import type { RecordedFile } from './recorded-file.js';
import { checkedSymbolOf, startOf } from './rows.js';

/** Figures of contracts that were open, with the instants at which they became known. Held in memory: a figure per contract and day. */
export class OpenInterest {
  private readonly figures = new Map<string, { readonly at: Instant[]; readonly open: number[] }>();

  /** Reads a file, its rows in the order of time. */
  async read(file: RecordedFile): Promise<void> {
    for await (const { rows } of rowBatches(file)) {
      for (const row of rows) {
        const text = row.cells[2] ?? '';
        const open = Number(text);
        if (text === '' || !Number.isSafeInteger(open) || open < 0)
          throw new BadReplayFile(file.path, row.line, `not a number of contracts: "${text}"`);
        const symbol = checkedSymbolOf(file, row);
        let figures = this.figures.get(symbol);
        if (figures === undefined) this.figures.set(symbol, (figures = { at: [], open: [] }));
        figures.at.push(startOf(file, row));
        figures.open.push(open);
      }
    }
  }

  /** The latest figure known at an instant. */
  of(symbol: string, at: Instant): number | undefined {
    const figures = this.figures.get(symbol);
    return figures?.open[figures.at.findLastIndex((known) => known <= at)];
  }
}
