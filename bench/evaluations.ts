/**
 * Evaluations in the calling process (D210): 20 scenarios × 5 seeds × 4 entrants of one strategy over a month, ephemeral, and the pages of a
 * matrix of 10,000 cells. The strategy leaves a limit order open all day, so that every minute of the month is matched against it. One
 * thread: on a busy machine the CPU time is the better figure.
 *
 *   npx tsc -b && npx tsx bench/evaluations.ts      BENCH_SCENARIOS, BENCH_SEEDS, BENCH_ENTRANTS, BENCH_CELLS
 */
import { embedded } from '../packages/client/dist/embedded/index.js';
import { AnswerError, Sandpit } from '../packages/client/dist/index.js';
import { runAlone, sizeOf, stopwatch } from './measure.js';
import type { Row } from './measure.js';

const LEAVES_OUT = 'the time in which an agent thinks; network';
/** Rows on a page. */
const PAGE = 100;

const scenarioOf = (name: string, end: string, seeds: number) => ({
  name,
  market: {
    feed: 'synthetic',
    clock: 'manual',
    calendar: 'XNYS',
    start: '2026-01-05T14:30:00Z',
    end,
  } as const,
  rules: {
    initialCash: 100_000,
    portfolioType: 'CASH' as const,
    brokerId: 'default',
    assetClasses: ['EQUITY' as const],
    symbols: ['SPY'],
  },
  seeds: Array.from({ length: seeds }, (_, seed) => seed + 1),
});

/** Bids a little below the market each morning, until the market has ended. */
async function bid(cell: Sandpit, portfolioId: string): Promise<void> {
  for (;;) {
    const { price } = await cell.call('getQuote', { params: { symbol: 'SPY' } });
    await cell.call('createOrder', {
      body: {
        portfolioId,
        symbol: 'SPY',
        assetClass: 'EQUITY',
        orderType: 'LIMIT',
        limitPrice: Math.round(price * 98) / 100,
        positionIntent: 'BUY_TO_OPEN',
        quantity: 1,
        timeInForce: 'DAY',
      },
    });
    try {
      await cell.call('advanceClock', { body: { until: 'next-open' } });
      await cell.call('advanceClock', { body: { by: 'PT1M' } });
    } catch (error) {
      if (error instanceof AnswerError && error.status === 409) return;
      throw error;
    }
  }
}

async function measureEvaluations(): Promise<readonly Row[]> {
  const scenarios = sizeOf('SCENARIOS', 20);
  const seeds = sizeOf('SEEDS', 5);
  const entrants = sizeOf('ENTRANTS', 4);
  const cells = sizeOf('CELLS', 10_000);
  const broker = await embedded({ seed: 7, settings: { EPHEMERAL_MAX_BYTES: '17179869184' } });
  const { client: owner, fetch } = broker;
  const done = async (evaluationId: string): Promise<void> => {
    const params = { evaluationId };
    while ((await owner.call('getEvaluation', { params, query: { matrix: false } })).status === 'RUNNING')
      await new Promise((resolve) => setTimeout(resolve, 50));
  };

  const running = stopwatch();
  const { evaluationId } = await owner.call('createEvaluation', {
    body: {
      name: 'A month',
      scenarios: Array.from({ length: scenarios }, (_, index) =>
        scenarioOf(`market ${index}`, '2026-02-05T21:00:00Z', seeds),
      ),
      score: 'timeWeightedReturn',
      ephemeral: true,
    },
  });
  for (let entrant = 1; entrant <= entrants; entrant += 1) {
    const entry = await owner.call('enterEvaluation', {
      params: { evaluationId },
      body: { entrant: `bidder ${entrant}` },
    });
    for (const { token, portfolioId } of entry.cells)
      await bid(new Sandpit({ url: 'http://embedded', token }, { fetch }), portfolioId);
  }
  await done(evaluationId);
  const { wallMs, cpuMs } = running();
  const count = scenarios * seeds * entrants;
  await owner.call('deleteEvaluation', { params: { evaluationId } });

  const wide = await owner.call('createEvaluation', {
    body: {
      name: 'Many cells',
      scenarios: Array.from({ length: cells / 100 }, (_, index) =>
        scenarioOf(`market ${index}`, '2026-01-05T21:00:00Z', 100),
      ),
      score: 'timeWeightedReturn',
      baselines: ['noop'],
      ephemeral: true,
    },
  });
  const params = { evaluationId: wide.evaluationId };
  const isOver = async (): Promise<boolean> => {
    const { data } = await owner.call('getEvaluationMatrix', {
      params,
      query: { page: cells / PAGE, limit: PAGE },
    });
    return data.every(({ journalHash }) => journalHash !== undefined);
  };
  while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 200));
  const pages: { wallMs: number; cpuMs: number }[] = [];
  for (let page = 1; page <= cells / PAGE; page += 1) {
    const reading = stopwatch();
    const { data } = await owner.call('getEvaluationMatrix', { params, query: { page, limit: PAGE } });
    pages.push(reading());
    if (data.length !== PAGE) throw new Error(`page ${page} has ${data.length} rows`);
  }
  const slowest = Math.max(...pages.map((page) => page.wallMs));
  const cpu = pages.reduce((sum, page) => sum + page.cpuMs, 0) / pages.length;
  await broker.close();
  return [
    {
      measure: `Evaluation: ${count} cells of a month, ephemeral`,
      value: wallMs / 1000,
      unit: 's',
      aim: { atMost: 180 },
      details: `${scenarios} scenarios × ${seeds} seeds × ${entrants} entrants; CPU ${(cpuMs / 1000).toFixed(1)} s, ${(cpuMs / count).toFixed(0)} ms a cell`,
      leavesOut: LEAVES_OUT,
    },
    {
      measure: `Evaluation: a page of ${PAGE} of ${cells} cells`,
      value: slowest,
      unit: 'ms',
      aim: { atMost: 200 },
      details: `slowest of ${pages.length} pages; CPU ${cpu.toFixed(1)} ms each`,
      leavesOut: LEAVES_OUT,
    },
  ];
}

await runAlone(import.meta.url, measureEvaluations);
