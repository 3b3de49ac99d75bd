/** Permissions of tokens for the simulations of a competition, on every entry point (D195). */
import type { OperationId } from '@sandpit/protocol';
import type { Competitions } from '../competitions/competitions.js';
import { type Answer, refuseCoded } from './answer.js';

/** Operations that read a market. */
const OF_THE_MARKET = [
  'getQuote',
  'getQuotes',
  'getTrade',
  'getBars',
  'getMarketHours',
  'getExchangeHours',
  'isMarketOpen',
  'listOptionExpirations',
  'getOptionChain',
  'listInstruments',
  'getTradingCalendar',
  'listBrokers',
  'getHealth',
  'getReadiness',
  'createStreamTicket',
  'streamQuotes',
  'listCompetitions',
  'getCompetition',
  'getLeaderboard',
  'streamLeaderboard',
  'getLeaderboardCurves',
] as const satisfies OperationId[];

/** The token of an entry trades its portfolio, and reads that and its market. */
const OF_ENTRIES: ReadonlySet<OperationId> = new Set([
  ...OF_THE_MARKET,
  'createOrder',
  'previewOrder',
  'createOrders',
  'listOrders',
  'getOrder',
  'updateOrder',
  'cancelOrder',
  'listExecutions',
  'listAccountOrders',
  'cancelAccountOrders',
  'listPortfolioOrders',
  'listFilledToday',
  'computeRequirements',
  'exerciseOption',
  'doNotExerciseOption',
  'getOwnEntry',
  'listAccounts',
  'getAccount',
  'listAccountPortfolios',
  'listPortfolios',
  'getPortfolio',
  'listEquityPositions',
  'listOptionPositions',
  'listFuturePositions',
  'listDayTrades',
  'getMarginEligibility',
  'listActivities',
  'listLedgerEntries',
  'getEquityCurve',
  'getPortfolioMargin',
  'listSettlements',
  'listMarginCalls',
  'listSma',
  'listTrades',
  'getPerformance',
  'getReport',
  'getExecutionQuality',
  'getOrderExecutionQuality',
  'listTaxLots',
  'listRealizedGains',
  'createKeyPair',
  'listKeyPairs',
  'revokeKeyPair',
  'streamOrders',
  'streamPortfolios',
] satisfies OperationId[]);

/** The token of a market drives it, and its competition. */
const OF_MARKETS: ReadonlySet<OperationId> = new Set([
  ...OF_THE_MARKET,
  'pushQuotes',
  'getClock',
  'setClock',
  'advanceClock',
  'putInstruments',
  'addCorporateActions',
  'listCorporateActions',
  'withdrawCorporateAction',
  'haltTrading',
  'listHalts',
  'liftHalt',
  'updateCompetition',
  'exportCompetition',
  'cancelCompetition',
  'startCompetition',
  'pauseCompetition',
  'finishCompetition',
  'listEntries',
  'disqualifyEntry',
] satisfies OperationId[]);

const NOT_FOR_ENTRIES = refuseCoded(
  'ENTRY_TOKEN',
  'The token of an entry trades its portfolio and reads its market, and nothing else',
  {},
);
const NOT_FOR_MARKETS = refuseCoded(
  'ENTRY_TOKEN',
  'The token of the market of a competition drives the market, and nothing else',
  {},
);

/** Reason why a token for a simulation of a competition may not perform an operation; undefined if it may. */
export function competitionRefusal(
  competitions: Pick<Competitions, 'placeOf'>,
  simulationId: string,
  id: OperationId,
): Answer | undefined {
  const place = competitions.placeOf(simulationId);
  if (place === undefined) return undefined;
  if (place.role === 'ENTRY') return OF_ENTRIES.has(id) ? undefined : NOT_FOR_ENTRIES;
  return OF_MARKETS.has(id) ? undefined : NOT_FOR_MARKETS;
}

export const NOT_OVER_YET = refuseCoded(
  'COMPETITION_NOT_FINISHED',
  'The simulations of a competition cannot be forked, exported, stepped or deleted before it is over',
  {},
);
