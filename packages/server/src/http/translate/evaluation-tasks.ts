/** Tasks of evaluations between JSON and the grader (D211). */
import type { Calendar, Instant } from '@sandpit/core';
import type { EvaluationTask } from '@sandpit/protocol';
import type { GradingTerms } from '../../evaluations/grader.js';
import { endOf, instantOf, isoOf } from './instants.js';

/** Times of an assertion, by a calendar. A date as `until` counts as a whole. */
export const assertionTimes =
  (calendar: Calendar): GradingTerms['instantsOf'] =>
  ({ from, until }) => ({
    ...(from !== undefined && { from: instantOf(from, calendar) }),
    ...(until !== undefined && { until: endOf(until, calendar) }),
  });

/** Problems of tasks that their schema cannot see. `path`: of the scenario, such as `scenarios.0.`. */
export function taskProblems(
  tasks: readonly EvaluationTask[],
  path: string,
  { startsAt, endsAt, calendar }: Pick<GradingTerms, 'startsAt' | 'endsAt' | 'calendar'>,
): string[] {
  const timesOf = assertionTimes(calendar);
  const isOutside = (at: Instant | undefined): boolean => at !== undefined && (at < startsAt || at > endsAt);
  const names = new Set<string>();
  return tasks.flatMap(({ name, assert }, index) => {
    const task = `${path}tasks.${index}`;
    const problems: string[] = names.has(name) ? [`${task}.name must not be that of another task`] : [];
    names.add(name);
    assert.forEach((assertion, place) => {
      const { from, until } = timesOf(assertion);
      for (const [field, at] of Object.entries({ from, until }))
        if (isOutside(at))
          problems.push(
            `${task}.assert.${place}.${field} must lie in the market, from ${isoOf(startsAt)} to ${isoOf(endsAt)}`,
          );
      if (from !== undefined && until !== undefined && from > until)
        problems.push(`${task}.assert.${place}.until must not be before from`);
    });
    return problems;
  });
}
