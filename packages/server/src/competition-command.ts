import { parseArgs } from 'node:util';
import type { Scoring } from './competitions/leaderboard.js';
import { UNVERIFIED, verifyCompetition } from './competitions/verify-competition.js';
import { settingsFiled } from './http/translate/competitions.js';
import { printUsage } from './usage.js';

const SCORINGS: readonly string[] = ['TOTAL_RETURN', 'SHARPE', 'SORTINO', 'CALMAR'];

const USAGE = `usage: sandpit competition verify FILE [--scoring SCORING]

Executes the journals of an exported competition again, recomputes its leaderboard and compares the first line of the file with both: market, rules,
scoring, draw, entries and result. Exits 0 if everything agrees, 1 with the differences.

No journal has ${UNVERIFIED.join(', ')}.

  --scoring SCORING   rank by another scoring as well: TOTAL_RETURN, SHARPE, SORTINO or CALMAR`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { scoring: { type: 'string' } },
  });
  const [verb, path, ...more] = positionals;
  const { scoring } = values;
  if (verb !== 'verify' || path === undefined || more.length > 0) throw new Error(USAGE);
  if (scoring !== undefined && !SCORINGS.includes(scoring))
    throw new Error(`--scoring must be one of ${SCORINGS.join(', ')}`);
  const { header, rows, records, problems } = await verifyCompetition(
    path,
    settingsFiled,
    scoring as Scoring | undefined,
  );
  for (const row of rows)
    console.log(
      [
        String(row.rank).padStart(5),
        row.totalEquity.toFixed(2).padStart(16),
        `${(row.return * 100).toFixed(3)} %`.padStart(12),
        row.score === undefined ? ''.padStart(10) : row.score.toFixed(4).padStart(10),
        row.status.padEnd(12),
        row.displayName,
      ].join('  '),
    );
  for (const problem of problems) console.error(problem);
  const entries = header.entries.length;
  console.log(
    `${entries} ${entries === 1 ? 'entry' : 'entries'}, ${records} records, hash ${header.result.journalHash}`,
  );
  console.log(`not verified, because no journal has them: ${UNVERIFIED.join(', ')}`);
  console.log(problems.length === 0 ? 'the result holds' : 'THE RESULT DOES NOT HOLD');
  return problems.length === 0 ? 0 : 1;
}

try {
  process.exitCode = printUsage(USAGE) ? 0 : await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
