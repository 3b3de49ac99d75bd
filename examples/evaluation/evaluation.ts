/**
 * Evaluates two built-in strategies and an agent that uses the tools of MCP on five synthetic weeks, with the baseline `hold`, and writes a
 * report. In the markets nothing predicts prices (`no-edge`): whatever an entrant earns there beyond its costs is luck, and the intervals show it.
 *
 *   npx tsx examples/evaluation/evaluation.ts [--report FILE]
 *
 * It starts a server of its own. Programs and agents take part without code: `sandpit eval run`.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Sandpit } from '@sandpit/client';
import { sandbox } from '@sandpit/client/testing';
import { playByTools } from './mcp-agent.js';
import { STRATEGIES, type Strategy } from './strategies.js';

const POLL_MS = 100;

export type Result = Awaited<ReturnType<typeof resultOf>>;

const resultOf = (owner: Sandpit, evaluationId: string) =>
  owner.call('getEvaluation', { params: { evaluationId } });

/** Plays every cell of every strategy. Resolves with the result. */
export async function evaluate(owner: Sandpit): Promise<Result> {
  const { evaluationId } = await owner.call('createEvaluation', {
    body: {
      name: 'Momentum, reversal and tools',
      scenarios: [
        {
          name: 'a week',
          market: {
            feed: 'synthetic',
            clock: 'manual',
            start: '2026-01-05T14:30:00Z',
            end: '2026-01-09T21:00:00Z',
            regime: 'no-edge',
          },
          rules: {
            initialCash: 100_000,
            portfolioType: 'CASH',
            brokerId: 'default',
            assetClasses: ['EQUITY'],
            symbols: ['SPY'],
          },
          seeds: [1, 2, 3, 4, 5],
        },
      ],
      baselines: ['hold'],
      score: 'timeWeightedReturn',
    },
  });
  const url = owner.transport.baseUrl;
  const byTools: Strategy = ({ transport }, portfolioId) =>
    transport.token().then((token) => playByTools(`${url}/mcp`, token ?? '', portfolioId));
  for (const [entrant, strategy] of Object.entries({ ...STRATEGIES, tools: byTools })) {
    const entry = await owner.call('enterEvaluation', { params: { evaluationId }, body: { entrant } });
    for (const { token, portfolioId } of entry.cells)
      await strategy(new Sandpit({ url, token }), portfolioId);
  }
  let result = await resultOf(owner, evaluationId);
  while (result.status !== 'DONE') {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    result = await resultOf(owner, evaluationId);
  }
  return result;
}

const percent = (fraction: number | undefined): string =>
  fraction === undefined ? '' : `${(fraction * 100).toFixed(3)} %`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** The result as a page of Markdown. */
export const reportOf = ({ name, digest, summary, paired, matrix }: Result): string =>
  [
    `# ${name}`,
    `Definition \`${digest}\``,
    table(
      ['Entrant', 'Cells', 'Mean return', '95 % interval'],
      summary.map(({ entrant, cells, mean, ci95 }) => [
        entrant,
        String(cells),
        percent(mean),
        ci95 === undefined ? '' : `${percent(ci95[0])} to ${percent(ci95[1])}`,
      ]),
    ),
    table(
      ['Pair', 'Mean difference', 'Wins', 'Losses', 'Ties'],
      paired.map(({ a, b, mean, wins, losses, ties }) => [
        `${a} − ${b}`,
        percent(mean),
        String(wins),
        String(losses),
        String(ties),
      ]),
    ),
    table(
      ['Entrant', 'Seed', 'Return'],
      matrix.map(({ entrant, seed, score }) => [entrant, String(seed), percent(score)]),
    ),
    '',
  ].join('\n\n');

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { report: { type: 'string', default: 'evaluation-report.md' } } });
  await using server = await sandbox({ server: true });
  const report = reportOf(await evaluate(server.client));
  writeFileSync(values.report, report);
  console.log(report);
}
