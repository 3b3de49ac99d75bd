/** Named books for an empty simulation (D206). */
import type { Requester } from '@sandpit/core';
import type { FixtureBody } from '@sandpit/protocol';
import { FixtureRefused, FixtureRun } from '../../fixtures/fixture-run.js';
import { type FixtureName, FIXTURES, isEmpty } from '../../fixtures/fixtures.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { MAIN } from '../../engine/values/cell-names.js';
import { Answer, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import type { PendingAnswer } from '../idempotency.js';
import { isoOf } from '../translate/instants.js';

const NOT_FILLED = refuse(409, 'Only a created simulation with a manual clock can be filled with a fixture');
const NOT_EMPTY = refuse(409, 'Only an empty simulation can be filled with a fixture');

export const fixtureHandlers: Pick<Handlers, 'fillFixture' | 'listFixtures'> = {
  async fillFixture({ simulation, principal, body, status, pending }) {
    if (principal.simulationId === MAIN) return NOT_FILLED;
    return fillSimulation(simulation, principal.by, body, status, pending);
  },

  listFixtures: () => ({
    data: (Object.keys(FIXTURES) as FixtureName[]).map((name) => {
      const { description, holds } = FIXTURES[name];
      return { name, description, holds: [...holds] };
    }),
  }),
};

/** Fills a created simulation with a fixture. */
export async function fillSimulation(
  simulation: Simulation,
  by: Requester,
  body: FixtureBody,
  status: number,
  pending: PendingAnswer | undefined,
): Promise<Answer> {
  const isSteppable = simulation.market === simulation && simulation.clock().mode === 'manual';
  if (!isSteppable) return NOT_FILLED;
  if (!isEmpty(simulation)) return NOT_EMPTY;
  const step = await simulation.beginStep();
  const run = new FixtureRun(simulation, step, by);
  let answer: Answer;
  try {
    // Another request may have been first.
    if (!isEmpty(simulation)) return NOT_EMPTY;
    await step.open([]);
    const { fill, holds, symbols } = FIXTURES[body.name];
    // Checked before the first command, so that a refusal changes nothing.
    for (const symbol of symbols) run.price(symbol);
    await fill(run);
    const portfolios = [...simulation.brokerage.state.portfolios.values()].map(
      ({ terms: { portfolioId, accountId, name = '' } }) => ({ portfolioId, accountId, name }),
    );
    answer = Answer.json(status, { name: body.name, now: isoOf(step.now()), holds, portfolios });
    const kept = pending?.keep(answer);
    if (kept !== undefined) step.keep(kept);
  } catch (error) {
    if (!(error instanceof FixtureRefused)) throw error;
    answer = refuse(409, error.message);
  } finally {
    step.commit();
  }
  await step.durable();
  if (run.pushed.length > 0) simulation.feed.record(run.pushed);
  return answer;
}
