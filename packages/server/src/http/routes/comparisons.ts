/** Comparisons of simulations under other rules (D173). */
import { type Money, Price, Quantity } from '@sandpit/core';
import type { Comparison as ShownComparison, ComparisonBody, ComparisonRow } from '@sandpit/protocol';
import { isLive } from '../../feeds/live-feed.js';
import type { ComparedRow, Difference, JournalPoint, Variant } from '../../engine/comparisons/comparison.js';
import {
  type Comparison,
  type Comparisons,
  TooManyComparisons,
} from '../../engine/comparisons/comparisons.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { Simulations } from '../../engine/directory/simulations.js';
import { MAIN, MARKET, mainOf } from '../../engine/values/cell-names.js';
import { isMadeBy } from '../admission.js';
import { Answer, refuse, refuseCoded, SIMULATION_NOT_FOUND, SNAPSHOT_NOT_FOUND } from '../answer.js';
import type { Principal } from '../auth.js';
import { notOverYet, type Places } from '../competition-refusals.js';
import type { RecordingsInUse } from '../recordings-in-use.js';
import type { Handlers } from '../call.js';
import { type Columns, sendCsv, wantsCsv } from '../csv.js';
import { shownDrawdown } from '../translate/drawdown.js';
import { instantOf, isoOfMs } from '../translate/instants.js';
import { moneyNumber, priceNumber, quantityNumber } from '../translate/numbers.js';
import { seedNumber } from '../translate/simulations.js';

const COMPARISON_NOT_FOUND = refuse(404, 'Comparison not found');
const OF_A_COMPETITION = refuse(409, 'A simulation of a competition cannot be compared; a fork of it can');
const TOO_MANY = refuse(409, 'At most 10 comparisons of a tenant can wait');
const IS_LIVE = refuse(
  409,
  'A simulation on a live feed cannot be compared: its market is not recorded (set RECORD_DIR)',
);
const IS_ELSEWHERE = refuse(
  409,
  'The first records of this simulation followed the market of another installation: name a later `from`',
);
const NOT_DONE = refuse(409, 'Only a comparison that is DONE has rows');
const NO_READ = refuseCoded('INSUFFICIENT_SCOPE', 'The token lacks the scope read', {
  requiredScope: 'read',
});

export function comparisonHandlers(
  simulations: Simulations,
  comparisons: Comparisons,
  places: Places,
  recordings: RecordingsInUse,
): Pick<Handlers, 'createComparison' | 'getComparison' | 'cancelComparison'> {
  const find = ({ agent, tenantId }: Principal, id: string): Comparison | Answer => {
    const found = comparisons.find(id, tenantId);
    if (found === undefined) return COMPARISON_NOT_FOUND;
    const isSeen = agent === undefined || isMadeBy(simulations.entries, agent, found.simulationId, tenantId);
    return isSeen ? found : COMPARISON_NOT_FOUND;
  };
  return {
    async createComparison({ principal, params, body }) {
      const { tenantId, agent, scopes } = principal;
      const { simulationId } = params;
      if (!scopes.has('read')) return NO_READ;
      if (agent !== undefined && !isMadeBy(simulations.entries, agent, simulationId, tenantId))
        return SIMULATION_NOT_FOUND;
      const place = places.placeOf(simulationId);
      if (place !== undefined && simulations.entries.info(simulationId, tenantId) !== undefined)
        return place.isOver ? OF_A_COMPETITION : notOverYet(place);
      const base = simulations.entries.comparedAs(simulationId, tenantId);
      const simulation = base && (await simulations.directory.find(simulationId, tenantId));
      if (base === undefined || simulation === undefined) return SIMULATION_NOT_FOUND;
      // The history that a comparison repeats must be durable.
      await simulation.read([principal], () => undefined);
      await simulation.durable();
      const lastSequence = simulation.published;
      const problems: string[] = [];
      const named = (wanted: ComparisonBody['from']): ComparisonBody['from'] | Answer => {
        if (wanted?.snapshotId === undefined) return wanted;
        const snapshot = simulations.snapshots.find(simulation.id, wanted.snapshotId);
        return snapshot === undefined ? SNAPSHOT_NOT_FOUND : { sequence: snapshot.sequence };
      };
      const [begin, end] = [named(body.from), named(body.until)];
      if (begin instanceof Answer) return begin;
      if (end instanceof Answer) return end;
      const from = pointOf(begin, 'from', simulation, problems) ?? { sequence: 0, at: Infinity };
      const until = pointOf(end, 'until', simulation, problems) ?? {
        sequence: lastSequence,
        at: simulation.now(),
      };
      if (
        (Number.isFinite(from.sequence) && from.sequence > until.sequence) ||
        (Number.isFinite(from.at) && from.at > until.at)
      )
        problems.push('until must not be before from');
      const variants = variantsOf(body.variants, simulation, problems);
      if (problems.length > 0) return refuse(400, problems);
      const began =
        from.sequence === Infinity ? await simulation.journal.lastAt(simulation.id, from.at) : from.sequence;
      const repeated = base.stretches.filter(({ upTo }) => upTo > began);
      if (repeated.some(({ isLive }) => isLive)) return IS_LIVE;
      const followsMarket = repeated.some((stretch) => stretch.followsMarket);
      if (followsMarket && base.isImported) return IS_ELSEWHERE;
      const { marketSeq = 0, isImported: _, ...compared } = base;
      const { feed } = simulations.market;
      if (isLive(feed)) feed.saveRecording();
      try {
        return shown(
          comparisons.start({
            tenantId,
            simulationId,
            storeId: simulationId === MAIN ? mainOf(tenantId) : simulationId,
            ...(followsMarket && { market: { id: MARKET, until: marketSeq } }),
            task: {
              ...compared,
              from,
              until,
              lastSequence,
              lastOrder: simulation.brokerage.state.counters.order,
              variants,
            },
          }),
        );
      } catch (error) {
        if (error instanceof TooManyComparisons) return TOO_MANY;
        throw error;
      }
    },

    async getComparison({ principal, params, query, request, reply }) {
      const first = find(principal, params.comparisonId);
      if (!('id' in first)) return first;
      const inUse = recordings.readingRefusal(principal.tenantId, first.simulationId);
      if (inUse !== undefined) return inUse;
      const gone = new AbortController();
      request.raw.once('close', () => gone.abort());
      await comparisons.wait(first.id, (query.wait ?? 0) * 1000, gone.signal);
      const found = find(principal, params.comparisonId);
      if (!('id' in found)) return found;
      if (!wantsCsv(request)) return shown(found);
      const { base, variants } = shown(found);
      return base === undefined
        ? NOT_DONE
        : sendCsv({ request, reply }, COLUMNS, [base, ...(variants ?? [])]);
    },

    cancelComparison({ principal, params }) {
      const first = find(principal, params.comparisonId);
      if (!('id' in first)) return first;
      comparisons.cancel(first.id);
      const found = find(principal, params.comparisonId);
      return 'id' in found ? shown(found) : found;
    },
  };
}

/** The point that a body names, if it does. */
function pointOf(
  wanted: ComparisonBody['from'],
  path: string,
  simulation: Simulation,
  problems: string[],
): JournalPoint | undefined {
  if (wanted === undefined) return undefined;
  const { at, sequence } = wanted;
  if (at !== undefined) {
    const instant = instantOf(at, simulation.brokerage.rules.calendar);
    if (instant > simulation.now()) problems.push(`${path}.at must not be later than now`);
    return { sequence: Infinity, at: instant };
  }
  if (sequence === undefined) return undefined;
  if (sequence > simulation.published)
    problems.push(`${path}.sequence must not be greater than ${simulation.published}, the last record`);
  return { sequence, at: Infinity };
}

function variantsOf(
  wanted: ComparisonBody['variants'],
  { brokerage }: Simulation,
  problems: string[],
): readonly Variant[] {
  const brokers = [...brokerage.rules.brokers.keys()];
  if (wanted === 'all-brokers') return brokers.map((brokerId) => ({ name: brokerId, brokerId }));
  return wanted.map(({ seed, ...variant }, i) => {
    const unknown = (id: string | undefined): boolean => id !== undefined && !brokers.includes(id);
    const expected = `must be one of ${brokers.join(', ')}`;
    if (unknown(variant.brokerId)) problems.push(`variants.${i}.brokerId ${expected}`);
    for (const [portfolioId, id] of Object.entries(variant.brokers ?? {})) {
      if (!brokerage.state.portfolios.has(portfolioId))
        problems.push(`variants.${i}.brokers.${portfolioId} must name a portfolio of the simulation`);
      if (unknown(id)) problems.push(`variants.${i}.brokers.${portfolioId} ${expected}`);
    }
    if (wanted.findIndex(({ name }) => name === variant.name) < i)
      problems.push(`variants.${i}.name must not be that of another variant`);
    return { ...variant, ...(seed !== undefined && { seed: seedNumber(seed) }) };
  });
}

function shown({ id, simulationId, status, progress, reason, result }: Comparison): ShownComparison {
  return {
    comparisonId: id,
    simulationId,
    status,
    progress,
    ...(reason !== undefined && { reason }),
    ...(result !== undefined && {
      baseMatches: result.baseMatches,
      ...(result.baseDifference !== undefined && { baseDifference: moneyNumber(result.baseDifference) }),
      base: rowOf(result.base),
      variants: result.variants.map(rowOf),
    }),
  };
}

const MONEY = [
  'totalEquity',
  'difference',
  'realizedPnl',
  'unrealizedPnl',
  'commissions',
  'regulatoryFees',
  'interest',
  'borrowFees',
  'dividends',
] as const;

function rowOf(row: ComparedRow): ComparisonRow {
  if (row.status === 'FAILED') return row;
  const { name, status, maxDrawdown, firstDifference } = row;
  const money = Object.fromEntries(MONEY.map((field) => [field, moneyNumber(row[field])]));
  return {
    name,
    status,
    ...money,
    orders: row.orders,
    executions: row.executions,
    requests: row.requests,
    marginCalls: row.marginCalls,
    liquidations: row.liquidations,
    ...(maxDrawdown !== undefined && { maxDrawdown: shownDrawdown(maxDrawdown) }),
    ...(firstDifference !== undefined && { firstDifference: differenceOf(firstDifference) }),
  };
}

function differenceOf({
  at,
  orderId,
  kind,
  base,
  variant,
}: Difference): NonNullable<ComparisonRow['firstDifference']> {
  const value = (figure: number | string): number | string => {
    if (typeof figure === 'string') return figure;
    if (kind === 'PRICE') return priceNumber(Price.ofUnits(figure));
    return kind === 'QUANTITY' ? quantityNumber(Quantity.ofUnits(figure)) : moneyNumber(figure as Money);
  };
  return { at: isoOfMs(at), orderId, kind, base: value(base), variant: value(variant) };
}

const COLUMNS: Columns<ComparisonRow> = {
  name: ({ name }) => name,
  status: ({ status }) => status,
  reason: ({ reason }) => reason,
  ...Object.fromEntries(MONEY.map((field) => [field, (row: ComparisonRow) => row[field]])),
  maxDrawdownFraction: ({ maxDrawdown }) => maxDrawdown?.fraction,
  maxDrawdownAmount: ({ maxDrawdown }) => maxDrawdown?.amount,
  maxDrawdownPeakAt: ({ maxDrawdown }) => maxDrawdown?.peakAt,
  maxDrawdownTroughAt: ({ maxDrawdown }) => maxDrawdown?.troughAt,
  maxDrawdownRecoveredAt: ({ maxDrawdown }) => maxDrawdown?.recoveredAt,
  ordersAccepted: ({ orders }) => orders?.accepted,
  ordersRejected: ({ orders }) => orders?.rejected,
  ordersFilled: ({ orders }) => orders?.filled,
  ordersCanceled: ({ orders }) => orders?.canceled,
  executions: ({ executions }) => executions,
  requestsRepeated: ({ requests }) => requests?.repeated,
  requestsRefused: ({ requests }) => requests?.refused,
  requestsSkipped: ({ requests }) => requests?.skipped,
  marginCalls: ({ marginCalls }) => marginCalls,
  liquidations: ({ liquidations }) => liquidations,
  firstDifferenceAt: ({ firstDifference }) => firstDifference?.at,
  firstDifferenceOrderId: ({ firstDifference }) => firstDifference?.orderId,
  firstDifferenceKind: ({ firstDifference }) => firstDifference?.kind,
  firstDifferenceBase: ({ firstDifference }) => firstDifference?.base,
  firstDifferenceVariant: ({ firstDifference }) => firstDifference?.variant,
};
