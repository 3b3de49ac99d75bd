import { calendarById } from '@sandpit/core';
import { ReplayArchive } from './archive.js';
import { actionRows } from './recorded-actions.js';
import { rowBatches } from './recorded-file.js';
import type { RecordedFile, Row } from './recorded-file.js';
import { dailyRowOf, priceBarOf, quoteRowOf, tickOf, tradeRowOf } from './rows.js';

export { BadReplayFile } from './bad-replay-file.js';

/** Checks a recording as a server does at its start, and every cell that a replay would reach. Throws `BadReplayFile`. */
export async function checkRecording(path: string): Promise<void> {
  const archive = await ReplayArchive.open({ path, calendar: calendarById('XNYS') });
  for (const file of archive.files)
    for await (const { rows } of rowBatches(file)) for (const row of rows) checkRow(file, row);
}

/** Checks each row of a file of corporate actions, whatever its name; the import compares rows with each other. Throws `BadReplayFile`. */
export async function checkActions(path: string): Promise<void> {
  const rows = actionRows({ path, kind: 'actions', rowMs: 0 });
  while ((await rows.next()).done !== true);
}

function checkRow(file: RecordedFile, row: Row): unknown {
  switch (file.kind) {
    case 'daily':
      return dailyRowOf(file, row);
    case 'trades':
      return tradeRowOf(file, row);
    case 'quotes':
      return quoteRowOf(file, row);
    case 'index':
      return priceBarOf(file, row, 2);
    case 'ticks':
      return tickOf(file, row);
    default:
      return undefined;
  }
}
