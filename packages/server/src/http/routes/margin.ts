import type { RequirementDesk } from '../../engine/requirement-desk.js';
import { Answer } from '../answer.js';
import type { Handlers } from '../call.js';
import { closedMargin, imaginedBook, portfolioMargin, shownRequirement } from '../translate/requirements.js';
import { orderRequestOf } from '../translate/orders.js';
import { orderPreview } from '../translate/preview.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { readPortfolio } from './owned.js';

type MarginHandlers = Pick<Handlers, 'computeRequirements' | 'getPortfolioMargin' | 'previewOrder'>;

/** Requirements, of imagined books and of portfolios (D43, D121). */
export function marginHandlers(desk: RequirementDesk): MarginHandlers {
  return {
    async computeRequirements({ simulation, body }) {
      const book = await simulation.read([], (brokerage) => {
        const now = simulation.now();
        return imaginedBook({ brokerage, now, today: brokerage.rules.calendar.dateOf(now) }, body);
      });
      return book instanceof Answer ? book : shownRequirement(await desk.requirementOf(book));
    },

    previewOrder({ simulation, principal, body }) {
      const { brokerage } = simulation;
      const { calendar } = brokerage.rules;
      const order = orderRequestOf(body, body.portfolioId, calendar, simulation.now());
      const symbols = brokerage.symbolsRead(
        { type: 'SubmitOrder', by: principal.by, order },
        simulation.now(),
      );
      return simulation.read(
        [principal],
        (current) => {
          const estimate = current.preview(principal.by, order);
          return isRejection(estimate)
            ? answerTo(estimate, { symbol: order.symbol, ids: current.state.ids })
            : orderPreview(current.state.ids, order.symbol, estimate);
        },
        symbols,
      );
    },

    getPortfolioMargin: (call) => readPortfolio(call, portfolioMargin, closedMargin),
  };
}
