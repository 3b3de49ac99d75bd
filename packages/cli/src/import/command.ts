import type { Command } from 'commander';
import type { Output } from '../output.js';
import { LAYOUTS } from './layout.js';
import type { Flags } from './import-files.js';

/** `sandpit import`: vendors' files into the layout that `MARKET_FEED=replay` reads. Needs no server. */
export function addImport(
  program: Command,
  out: Output & { readonly complain: (text: string) => void },
): void {
  program
    .command('import <paths...>')
    .description(
      `Convert market data files of vendors for the replay feed: CSV, plain or gzip, with minutes, days or quotes, and with corporate actions. Layouts: ${Object.keys(LAYOUTS).join(', ')}.`,
    )
    .requiredOption('--to <directory>', 'directory for the converted files, for REPLAY_PATH')
    .option('--vendor <layout>', 'layout of the files (default: recognized by their headers)')
    .option('--layout <file>', 'JSON file with a layout of your own')
    .option('--symbol <symbol>', 'symbol of files that name none')
    .option('--bar <size>', 'size of the bars, 1m or 1d (default: found in the file)')
    .option('--as-traded', 'accept prices that are or may be adjusted as traded prices')
    .option('--bad-rows <percent>', 'share of rows in percent that may be unusable (default: 5)')
    .action(async (paths: string[], flags: Flags) => {
      // Other commands need not load the market's rules and a CSV library.
      const { importFiles } = await import('./import-files.js');
      await importFiles(paths, flags, out);
    });
}
