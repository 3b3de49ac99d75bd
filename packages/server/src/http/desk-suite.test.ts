/** The suite `desk`: each task is solved by one script, and failed by three, whatever the prices are (D211). */
import { calendarById, Instant } from '@sandpit/core';
import { EvaluationTask, validateBody } from '@sandpit/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listsFor, rulesNamed } from '../engine/configuration/rules-in-force.js';
import { type KeptConfig, originOf } from '../engine/configuration/simulation-config.js';
import { assertionTimes, taskProblems } from './translate/evaluation-tasks.js';
import { DESK_SCRIPTS, type DeskScript, DeskTrader } from '../testing/desk-scripts.js';
import { openPortfolio, TestApp } from '../testing/test-app.js';
import type { Task } from '../evaluations/assertion.js';
import type { ShownScenario, TaskResult } from '../evaluations/definition.js';
import { gradeJournal } from '../evaluations/grade-journal.js';
import { DESK } from '../evaluations/desk.js';

let test: TestApp;

beforeAll(async () => {
  test = await TestApp.open({ settings: { RATE_LIMIT_DEFAULT: '100000' } });
});
afterAll(() => test.close());

const XNYS = calendarById('XNYS');
const at = (text: unknown): Instant => Instant.ofMs(Date.parse(String(text)));

/** Plays a script in a simulation like a cell of the scenario, and grades it. */
async function played(scenario: ShownScenario, script: DeskScript, seed: number): Promise<TaskResult> {
  const { market, rules, fixture, tasks = [] } = scenario;
  const { start, end } = market;
  const made = await test
    .as({ tier: 'ENTERPRISE' })
    .post('/v1/simulations', { feed: 'synthetic', clock: 'manual', start, seed });
  expect(made.status, made.text).toBe(201);
  const client = test.withToken(made.body.token as string);
  const { initialCash, portfolioType, brokerId } = rules;
  const opened = await openPortfolio(client, { initialCash, portfolioType, brokerId });
  const portfolioId = opened.portfolioId as string;
  if (typeof fixture === 'object') {
    const filled = await client.post(`/v1/accounts/portfolios/${portfolioId}/import`, fixture.import);
    expect(filled.status, filled.text).toBe(201);
  }
  const simulationId = made.body.simulationId as string;
  const { journal, registry } = test.store;
  const preparedBy = journal.lastSeq(simulationId);
  await script(new DeskTrader(client, portfolioId));
  await client.post('/v1/simulation/clock/advance', { to: end });
  const origin = originOf(JSON.parse(registry.simulation(simulationId)?.config ?? '') as KeptConfig);
  let applied = 0;
  const { tasks: results } = await gradeJournal(
    {
      records: journal.read(simulationId, 0),
      rules: rulesNamed(listsFor(registry, simulationId), origin.rules),
      origin,
    },
    tasks as readonly Task[],
    {
      startsAt: at(start),
      endsAt: at(end),
      calendar: XNYS,
      instantsOf: assertionTimes(XNYS),
      isPrepared: () => ++applied >= preparedBy,
    },
  );
  const [result] = results;
  if (result === undefined) throw new Error('there is no result');
  return result;
}

const CASES = DESK.scenarios.map((scenario, index) => ({ scenario, name: scenario.name, seed: index + 1 }));

describe('desk', () => {
  it('has ten tasks with scripts for each', () => {
    expect(DESK.scenarios).toHaveLength(10);
    expect(Object.keys(DESK_SCRIPTS)).toEqual(DESK.scenarios.map(({ name }) => name));
    for (const { wrong } of Object.values(DESK_SCRIPTS)) expect(wrong).toHaveLength(3);
  });

  it.each(CASES)('$name: is a valid task', ({ scenario: { tasks = [], market } }) => {
    for (const task of tasks) {
      const checked = validateBody(EvaluationTask, task);
      expect(checked.ok ? [] : checked.messages).toEqual([]);
      const terms = { startsAt: at(market['start']), endsAt: at(market['end']), calendar: XNYS };
      if (checked.ok) expect(taskProblems([checked.value], '', terms)).toEqual([]);
    }
  });

  it.each(CASES)('$name: is not passed by doing nothing', async ({ scenario, seed }) => {
    expect((await played(scenario, () => Promise.resolve(), seed)).passed).toBe(false);
  });

  it.each(CASES)('$name: is passed by its solution', async ({ scenario, name, seed }) => {
    const solution = DESK_SCRIPTS[name]?.solution ?? (() => Promise.reject(new Error('no script')));
    expect(await played(scenario, solution, seed)).toEqual({ name, passed: true });
  });

  it.each(
    CASES.flatMap((one) =>
      (DESK_SCRIPTS[one.name]?.wrong ?? []).map((wrong) => ({ ...one, wrong, how: wrong.name })),
    ),
  )('$name: is failed by a script that $how', async ({ scenario, seed, wrong }) => {
    const { script, assertion, got } = wrong;
    const result = await played(scenario, script, seed);
    expect(result).toMatchObject({
      passed: false,
      why: { assertion, ...(got !== undefined && { got }) },
    });
  });
});
