import type { RequirementDesk } from '../../engine/requirement-desk.js';
import { Answer } from '../answer.js';
import type { Handlers } from '../call.js';
import { imaginedBook, shownRequirement } from '../translate/requirements.js';

type MarginHandlers = Pick<Handlers, 'computeRequirements'>;

/** Requirements (D43). */
export function marginHandlers(desk: RequirementDesk): MarginHandlers {
  return {
    async computeRequirements({ simulation, body }) {
      const book = await simulation.read([], (brokerage) => {
        const now = simulation.now();
        return imaginedBook({ brokerage, now, today: brokerage.rules.calendar.dateOf(now) }, body);
      });
      return book instanceof Answer ? book : shownRequirement(await desk.requirementOf(book));
    },
  };
}
