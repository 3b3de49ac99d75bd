import { execute, type Handlers } from '../call.js';
import type { HttpSettings } from '../settings.js';
import { ledgerEntryOf } from '../translate/history.js';
import { moneyNumber, moneyOf } from '../translate/numbers.js';
import {
  closedDetail,
  closedEligibility,
  createdPortfolio,
  eligibilityOf,
  equityPositions,
  futurePositions,
  optionPositions,
  portfolioDetail,
  wholePortfolio,
} from '../translate/portfolios.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { readPortfolio } from './owned.js';

type PortfolioHandlers = Pick<
  Handlers,
  | 'createPortfolio'
  | 'getPortfolio'
  | 'closePortfolio'
  | 'listEquityPositions'
  | 'listOptionPositions'
  | 'listFuturePositions'
  | 'getMarginEligibility'
  | 'upgradeMargin'
  | 'switchBroker'
  | 'resetPortfolio'
  | 'transferCash'
>;

export function portfolioHandlers(settings: HttpSettings): PortfolioHandlers {
  return {
    createPortfolio(call) {
      const { initialCash, marginType, portfolioMarginEngineType, name, fillModel, ...body } = call.body;
      return execute<'OpenPortfolio'>(
        call,
        {
          type: 'OpenPortfolio',
          by: call.principal.by,
          ...body,
          ...(marginType !== undefined && { marginType }),
          ...(portfolioMarginEngineType !== undefined && { portfolioMarginEngineType }),
          ...(name !== undefined && { name }),
          fillModel: fillModel ?? 'quote',
          initialCash: initialCash === undefined ? settings.initialCash : moneyOf(initialCash),
          proAccounts: settings.proAccounts,
        },
        ({ result }) =>
          isRejection(result) ? answerTo(result) : createdPortfolio(call.simulation.brokerage, result),
      );
    },

    getPortfolio: (call) => readPortfolio(call, portfolioDetail, closedDetail),

    closePortfolio: (call) =>
      execute<'ClosePortfolio'>(
        call,
        { type: 'ClosePortfolio', by: call.principal.by, portfolioId: call.params.portfolioId },
        ({ result }) =>
          isRejection(result)
            ? answerTo(result)
            : { portfolioId: call.params.portfolioId, message: 'Portfolio closed successfully' },
      ),

    // Only what is empty can be closed.
    listEquityPositions: (call) => readPortfolio(call, equityPositions, () => []),
    listOptionPositions: (call) => readPortfolio(call, optionPositions, () => []),
    listFuturePositions: (call) => readPortfolio(call, futurePositions, () => []),

    getMarginEligibility: (call) => readPortfolio(call, eligibilityOf, closedEligibility),

    upgradeMargin(call) {
      const { marginType, portfolioMarginEngineType, addPromotionalCash } = call.body;
      return execute<'UpgradeMargin'>(
        call,
        {
          type: 'UpgradeMargin',
          by: call.principal.by,
          portfolioId: call.params.portfolioId,
          marginType,
          ...(portfolioMarginEngineType !== undefined && { portfolioMarginEngineType }),
          addPromotionalCash: addPromotionalCash ?? false,
        },
        ({ result }) => {
          if (isRejection(result)) return answerTo(result);
          const { portfolio, promotionalCashAdded } = result;
          const engine = portfolio.settings.portfolioMarginEngineType;
          return {
            success: true,
            portfolio: {
              portfolioId: portfolio.terms.portfolioId,
              marginType,
              ...(engine !== undefined && { portfolioMarginEngineType: engine }),
              settledCash: portfolioDetail(call.simulation.brokerage, portfolio).settledCash,
            },
            message: `Portfolio upgraded to ${marginType} margin`,
            promotionalCashAdded: moneyNumber(promotionalCashAdded),
          };
        },
      );
    },

    switchBroker: (call) =>
      execute<'SwitchBroker'>(
        call,
        {
          type: 'SwitchBroker',
          by: call.principal.by,
          portfolioId: call.params.portfolioId,
          brokerId: call.body.brokerId,
        },
        ({ result }) =>
          isRejection(result)
            ? answerTo(result, { brokerId: call.body.brokerId })
            : wholePortfolio(call.simulation.brokerage, result),
      ),

    resetPortfolio: (call) =>
      execute<'ResetPortfolio'>(
        call,
        { type: 'ResetPortfolio', by: call.principal.by, portfolioId: call.params.portfolioId },
        ({ result }) => {
          if (isRejection(result)) return answerTo(result);
          return {
            success: true,
            portfolioId: call.params.portfolioId,
            message: 'Portfolio reset successfully',
            resetSummary: {
              positionsClosed: result.positionsClosed,
              ordersCancelled: result.ordersCancelled,
              newCashBalance: moneyNumber(result.newCashBalance),
              oldCashBalance: moneyNumber(result.oldCashBalance),
              realizedPnL: moneyNumber(result.realizedPnl),
            },
          };
        },
      ),

    transferCash(call) {
      const { amount, reason } = call.body;
      return execute<'TransferCash'>(
        call,
        {
          type: 'TransferCash',
          by: call.principal.by,
          portfolioId: call.params.portfolioId,
          amount: moneyOf(amount),
          ...(reason !== undefined && { reason }),
        },
        ({ result }) => {
          if (isRejection(result)) return answerTo(result);
          const { ids, now } = call.simulation.brokerage.state;
          return ledgerEntryOf(ids, result, now);
        },
      );
    },
  };
}
