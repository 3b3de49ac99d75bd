import { withClassRequirements } from '../../engine/scheduling/class-requirements.js';
import type { RequirementWorkers } from '../../engine/scheduling/requirement-workers.js';
import { Answer } from '../answer.js';
import type { Handlers } from '../call.js';
import {
  closedMargin,
  hypotheticalBook,
  portfolioMargin,
  shownRequirement,
} from '../translate/requirements.js';
import { orderRequestOf } from '../translate/orders.js';
import { orderPreview } from '../translate/preview.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { readPortfolio } from '../owned.js';

type MarginHandlers = Pick<Handlers, 'computeRequirements' | 'getPortfolioMargin' | 'previewOrder'>;

/** Requirements, of imagined books and of portfolios (D43, D121). */
export function marginHandlers(desk: RequirementWorkers): MarginHandlers {
  return {
    async computeRequirements({ simulation, body }) {
      const book = await simulation.read([], (brokerage) => {
        const now = simulation.now();
        return hypotheticalBook({ brokerage, now, today: brokerage.rules.calendar.dateOf(now) }, body);
      });
      return book instanceof Answer ? book : shownRequirement(await desk.requirementOf(book));
    },

    async previewOrder({ simulation, principal, body }) {
      const { brokerage, rows } = simulation;
      const { calendar } = brokerage.rules;
      const { by } = principal;
      const order = orderRequestOf(body, body.portfolioId, calendar, simulation.now());
      const command = { type: 'SubmitOrder', by, order } as const;
      if (!rows.isReadyFor(command)) await rows.readyFor(command);
      return withClassRequirements(desk, (within) =>
        simulation.read(
          [principal],
          (current) =>
            within(current, () => {
              const estimate = current.preview(by, order);
              // Rejections from the past count too: a closed portfolio, an earlier order with the same client id.
              const past = rows.refusal(command);
              const { ids } = current.state;
              if (!isRejection(estimate)) {
                const rejections = past === undefined ? estimate.rejections : [past, ...estimate.rejections];
                return orderPreview(ids, order.symbol, { ...estimate, rejections });
              }
              return answerTo(past ?? estimate, { symbol: order.symbol, ids });
            }),
          brokerage.symbolsRead(command, simulation.now()),
        ),
      );
    },

    getPortfolioMargin: (call) =>
      withClassRequirements(desk, (within) =>
        readPortfolio(
          call,
          (brokerage, portfolio) => within(brokerage, () => portfolioMargin(brokerage, portfolio)),
          closedMargin,
        ),
      ),
  };
}
