import { parseArgs } from 'node:util';
import { standbyFrom } from './engine/recovery/checkpoint.js';
import type { ScoreRule } from './evaluations/definition.js';
import { UNVERIFIED, verifyEvaluation } from './evaluations/verify-evaluation.js';
import { evaluationReader } from './http/evaluation-reader.js';
import { openMemoryStore } from './store/sqlite/memory-store.js';
import { printUsage } from './usage.js';

const USAGE = `usage: sandpit eval verify FILE [--score SCORE]

Executes the journals of an exported evaluation again, grades and measures every cell, and compares rows, summary, pairs, digest and hashes with the
file. Exits 0 if everything agrees, 1 with the differences.

No journal has ${UNVERIFIED.join(', ')}.

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
  const { header, ranks, records, problems } = await verifyEvaluation(path, reader, score);
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
