import { type Call, execute, type Handlers } from '../call.js';
import { symbolIn } from '../listed.js';
import type { HttpSettings } from '../settings.js';
import { brokerOf } from '../translate/brokers.js';
import { ledgerEntryOf } from '../translate/history.js';
import { moneyNumber, moneyOf, quantityNumber, quantityOf } from '../translate/numbers.js';
import { pageOfAll } from '../translate/pages.js';
import {
  closedDetail,
  closedEligibility,
  closedSummary,
  createdPortfolio,
  eligibilityOf,
  equityPositions,
  exerciseResult,
  futurePositions,
  optionPositions,
  portfolioDetail,
  portfolioSummary,
  settlementsOf,
  wholePortfolio,
} from '../translate/portfolios.js';
import { answerTo, isRejection } from '../translate/rejections.js';
import { holdingsOf, ownPortfolios, readPortfolio } from '../owned.js';

/** Portfolios with their positions and margin types. */
export const portfolioHandlers = (settings: HttpSettings) => ({
  ...ownPortfolioHandlers(settings),
  ...portfolioChangeHandlers,
  ...positionHandlers,
  ...marginTypeHandlers,
});

function ownPortfolioHandlers(
  settings: HttpSettings,
): Pick<Handlers, 'listPortfolios' | 'listBrokers' | 'createPortfolio' | 'getPortfolio' | 'closePortfolio'> {
  return {
    async listPortfolios({ simulation, principal, query }) {
      const { accountId, brokerId } = query;
      const mine = await ownPortfolios(simulation, query.status);
      const page = pageOfAll(
        mine.filter(
          (one) =>
            (accountId === undefined || one.accountId === accountId) &&
            (brokerId === undefined || one.brokerId === brokerId),
        ),
        query,
        ({ portfolioId }) => portfolioId,
        (one) => one,
      );
      const { portfolios } = simulation.brokerage.state;
      return simulation.read(
        [principal],
        (brokerage) => ({
          ...page,
          data: page.data.flatMap(({ portfolioId, closed }) => {
            if (closed !== undefined) return closedSummary(brokerage, closed);
            // One closed in this instant is omitted.
            const portfolio = brokerage.state.portfolios.get(portfolioId);
            return portfolio === undefined ? [] : portfolioSummary(brokerage, portfolio);
          }),
        }),
        holdingsOf(page.data.map(({ portfolioId }) => portfolios.get(portfolioId))),
      );
    },

    listBrokers: ({ simulation }) => ({
      data: [...simulation.brokerage.rules.brokers.values()].map(brokerOf),
    }),

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
  };
}

const portfolioChangeHandlers: Pick<
  Handlers,
  'updatePortfolio' | 'switchBroker' | 'resetPortfolio' | 'transferCash'
> = {
  updatePortfolio: (call) =>
    execute<'RenamePortfolio'>(
      call,
      {
        type: 'RenamePortfolio',
        by: call.principal.by,
        portfolioId: call.params.portfolioId,
        ...(call.body.name !== null && { name: call.body.name }),
      },
      ({ result }) =>
        isRejection(result) ? answerTo(result) : wholePortfolio(call.simulation.brokerage, result),
    ),

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

const positionHandlers: Pick<
  Handlers,
  | 'listEquityPositions'
  | 'listOptionPositions'
  | 'listFuturePositions'
  | 'listSettlements'
  | 'exerciseOption'
  | 'doNotExerciseOption'
> = {
  // Only an empty portfolio can be closed.
  listEquityPositions: (call) => readPortfolio(call, equityPositions, () => []),
  listOptionPositions: (call) => readPortfolio(call, optionPositions, () => []),
  listFuturePositions: (call) => readPortfolio(call, futurePositions, () => []),
  listSettlements: (call) => readPortfolio(call, settlementsOf, () => []),

  exerciseOption(call) {
    const symbol = symbolIn(call.simulation, call.params.optionSymbol);
    return execute<'ExerciseOption'>(
      call,
      { type: 'ExerciseOption', ...contractsOf(call, symbol) },
      ({ result }) => (isRejection(result) ? answerTo(result, { symbol }) : exerciseResult(result)),
    );
  },

  doNotExerciseOption(call) {
    const symbol = symbolIn(call.simulation, call.params.optionSymbol);
    return execute<'DoNotExercise'>(
      call,
      { type: 'DoNotExercise', ...contractsOf(call, symbol) },
      ({ result }) =>
        isRejection(result)
          ? answerTo(result, { symbol })
          : { optionSymbol: result.symbol, quantity: quantityNumber(result.quantity) },
    );
  },
};

const marginTypeHandlers: Pick<Handlers, 'getMarginEligibility' | 'upgradeMargin'> = {
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
};

type ContractsCall = Pick<Call<'exerciseOption' | 'doNotExerciseOption'>, 'principal' | 'params' | 'body'>;

/** Contracts of a request. */
const contractsOf = ({ principal, params, body }: ContractsCall, symbol: string) => ({
  by: principal.by,
  portfolioId: params.portfolioId,
  symbol,
  ...(body.quantity !== undefined && { quantity: quantityOf(body.quantity) }),
});
