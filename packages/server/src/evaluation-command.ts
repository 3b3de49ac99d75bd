import { parseArgs } from 'node:util';
import { standbyFrom } from './engine/recovery/checkpoint.js';
import type { ScoreRule } from './evaluations/definition.js';
import { UNVERIFIED, UNVERIFIED_IN_FORMAT_1, verifyEvaluation } from './evaluations/verify-evaluation.js';
import { evaluationReader } from './http/evaluation-reader.js';
import { openMemoryStore } from './store/sqlite/memory-store.js';
import { printUsage } from './usage.js';

const USAGE = `usage: sandpit eval verify FILE [--score SCORE]

Executes the journals of an exported evaluation again, grades and measures every cell, and compares rows, summary, pairs, digest and hashes with the
file. Exits 0 if everything agrees, 1 with the differences.

The file cannot prove ${UNVERIFIED.join(', ')}, which no journal has; a file of format 1 neither ${UNVERIFIED_IN_FORMAT_1.join(', ')}.

  --score SCORE   rank by another score: a figure such as sharpe or maxDrawdown.fraction, tasksPassed, or weights as JSON`;

function scoreOf(text: string): ScoreRule {
  return text.startsWith('{') ? (JSON.parse(text) as Readonly<Record<string, number>>) : text;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { score: { type: 'string' } },
  });
  const [verb, path, ...more] = positionals;
  if (verb !== 'verify' || path === undefined || more.length > 0) throw new Error(USAGE);
  const score = values.score === undefined ? undefined : scoreOf(values.score);
  const reader = evaluationReader(() => openMemoryStore({ standbyFrom }));
  const { header, unverified, ranks, records, problems } = await verifyEvaluation(path, reader, score);
  for (const row of ranks)
    console.log(
      [
        String(row.rank).padStart(5),
        row.score.toFixed(6).padStart(14),
        (row.stderr === undefined ? '' : `± ${row.stderr.toFixed(6)}`).padStart(14),
        (row.tasksPassed === undefined ? '' : `${(row.tasksPassed * 100).toFixed(1)} %`).padStart(8),
        row.entrant,
      ].join('  '),
    );
  for (const problem of problems) console.error(problem);
  const cells = header.entries.reduce((sum, entry) => sum + entry.cells.length, 0);
  console.log(`${cells} ${cells === 1 ? 'cell' : 'cells'}, ${records} records, hash ${header.resultHash}`);
  console.log(`not verified, because no journal of the file has them: ${unverified.join(', ')}`);
  console.log(problems.length === 0 ? 'the result holds' : 'THE RESULT DOES NOT HOLD');
  return problems.length === 0 ? 0 : 1;
}

try {
  process.exitCode = printUsage(USAGE) ? 0 : await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
