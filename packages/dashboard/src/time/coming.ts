/** Scheduled and past events of a simulation, as markers of the timeline. */
import type {
  AnnouncedAction,
  MarginCall,
  Order,
  PortfolioUpdate,
  Settlement,
  Simulation,
} from '@sandpit/protocol';
import { symbolText } from '../option-legs.ts';
import type { Broker } from '../broker.ts';
import { change, money, price, quantity, words } from '../format.ts';
import { inNewYork } from './scale.ts';

export type MarkerKind = 'dividend' | 'split' | 'expiration' | 'settlement' | 'call' | 'fill' | 'snapshot';

export interface Marker {
  readonly key: string;
  readonly kind: MarkerKind;
  readonly atMs: number;
  readonly title: string;
  /** Name of the portfolio, with amounts and contracts. */
  readonly detail?: string;
  readonly portfolioId?: string;
}

/** Time at which expirations are over: a minute after the close. */
const AFTER_CLOSE = '16:01';
const OPENING = '09:00';

type Named = Pick<PortfolioUpdate, 'name' | 'portfolioId'>;

const nameOf = ({ name, portfolioId }: Named): string => name ?? portfolioId.slice(0, 8);

/** Effect of a corporate action on the shares of its symbol, after the symbol. */
export function actionText({ type, ratio, rate, newSymbol, cashPerShare }: AnnouncedAction): string {
  const isPair = typeof ratio === 'object';
  const rates = isPair ? `${ratio.new} for ${ratio.old}` : `${ratio ?? 0} for 1`;
  const each = isPair
    ? `${ratio.new} ${newSymbol ?? ''} for ${ratio.old}`
    : `${ratio ?? 0} ${newSymbol ?? ''} a share`;
  const forShares = newSymbol === undefined ? [] : [each];
  const forCash = cashPerShare === undefined ? [] : [`${money(cashPerShare)} a share`];
  switch (type) {
    case 'SPLIT':
      return `splits ${rates}`;
    case 'STOCK_DIVIDEND':
      return `pays a stock dividend of ${quantity((rate ?? 0) * 100)} %`;
    case 'SYMBOL_CHANGE':
      return `changes its symbol to ${newSymbol ?? ''}`;
    case 'SPIN_OFF':
      return `spins off ${forShares.join('')}`;
    case 'MERGER':
      return `is acquired for ${[...forShares, ...forCash].join(' and ')}`;
    case 'DELISTING':
      return cashPerShare === 0 ? 'is delisted as worthless' : `is delisted for ${forCash.join('')}`;
    case 'CASH_DIVIDEND':
    case 'SPECIAL_DIVIDEND':
      return 'dividend';
  }
}

export function actionMarkers(actions: readonly AnnouncedAction[]): readonly Marker[] {
  return actions.flatMap((action): readonly Marker[] => {
    const { actionId, symbol, effectiveAt, amountPerShare, cashPerShare, payDate, type } = action;
    const key = `action ${actionId}`;
    if (type !== 'CASH_DIVIDEND' && type !== 'SPECIAL_DIVIDEND')
      return [
        { key, kind: 'split', atMs: Date.parse(effectiveAt), title: `${symbol} ${actionText(action)}` },
      ];
    const kind = type === 'SPECIAL_DIVIDEND' ? 'special dividend' : 'dividend';
    const dividend = `${symbol} ${kind} of ${money(amountPerShare ?? cashPerShare)} a share`;
    return [
      { key, kind: 'dividend', atMs: Date.parse(effectiveAt), title: `${dividend}: ex-date` },
      ...(payDate === undefined
        ? []
        : [
            {
              key: `${key} paid`,
              kind: 'dividend' as const,
              atMs: inNewYork(payDate, OPENING),
              title: `${dividend}: payment`,
            },
          ]),
    ];
  });
}

/** Expiration dates of positions: one marker per day and portfolio. */
export function expirationMarkers(
  portfolio: Named & Pick<PortfolioUpdate, 'options' | 'futures'>,
): readonly Marker[] {
  const byDay = new Map<string, string[]>();
  const add = (date: string, text: string): void => {
    byDay.set(date, [...(byDay.get(date) ?? []), text]);
  };
  for (const one of portfolio.options)
    add(
      one.expiration,
      `${quantity(one.quantity)} ${one.symbol} ${price(one.strike)} ${one.optionType.toLowerCase()}`,
    );
  for (const one of portfolio.futures) add(one.lastTradeDate, `${quantity(one.quantity)} ${one.symbol}`);
  return [...byDay].map(([date, texts]) => ({
    key: `expiration ${portfolio.portfolioId} ${date}`,
    kind: 'expiration',
    atMs: inNewYork(date, AFTER_CLOSE),
    title: texts.length === 1 ? `${texts[0] ?? ''} expires` : `${texts.length} contracts expire`,
    detail: texts.length === 1 ? nameOf(portfolio) : `${nameOf(portfolio)}: ${texts.join(', ')}`,
    portfolioId: portfolio.portfolioId,
  }));
}

export const settlementMarkers = (portfolio: Named, settlements: readonly Settlement[]): readonly Marker[] =>
  settlements.map(({ date, cash, deliveries }) => {
    const shares = deliveries
      .filter((one) => one.quantity !== 0)
      .map((one) => `${quantity(one.quantity)} ${one.symbol}`)
      .join(', ');
    return {
      key: `settlement ${portfolio.portfolioId} ${date}`,
      kind: 'settlement',
      atMs: inNewYork(date, OPENING),
      title: cash === 0 ? `${shares} settle` : `${change(cash)} of cash settles`,
      detail: cash === 0 || shares === '' ? nameOf(portfolio) : `${nameOf(portfolio)}, with ${shares}`,
      portfolioId: portfolio.portfolioId,
    };
  });

export const callMarkers = (portfolio: Named, calls: readonly MarginCall[]): readonly Marker[] =>
  calls
    .filter(({ status }) => status === 'OPEN')
    .map(({ callId, type, amount, amountDue, dueAt }) => ({
      key: `call ${callId}`,
      kind: 'call',
      atMs: Date.parse(dueAt),
      title: `${words(type)} call of ${money(amountDue ?? amount)} is due`,
      detail: nameOf(portfolio),
      portfolioId: portfolio.portfolioId,
    }));

export const fillMarkers = (orders: readonly Order[]): readonly Marker[] =>
  orders.flatMap((order) => {
    const { orderId, executedAt, positionIntent, filledQuantity, symbol, averagePrice, portfolioId } = order;
    if (executedAt === undefined || filledQuantity === undefined || filledQuantity === 0) return [];
    const verb = positionIntent.startsWith('BUY') ? 'Bought' : 'Sold';
    return [
      {
        key: `fill ${orderId}`,
        kind: 'fill' as const,
        atMs: Date.parse(executedAt),
        title: `${verb} ${quantity(filledQuantity)} ${symbolText(symbol)} at ${price(averagePrice)}`,
        portfolioId,
      },
    ];
  });

/** All scheduled events: corporate actions, expirations, settlements and calls. */
export async function comingOf(
  broker: Broker,
  portfolios: readonly PortfolioUpdate[],
): Promise<readonly Marker[]> {
  const actions = broker.may('simulate') ? (await broker.call('listCorporateActions')).actions : [];
  const own = await Promise.all(
    portfolios.map(async (portfolio) => {
      const params = { portfolioId: portfolio.portfolioId };
      const isUnsettled =
        portfolio.pendingCash !== 0 ||
        portfolio.equities.some(({ pendingQuantity }) => pendingQuantity !== 0);
      const [settlements, calls] = await Promise.all([
        isUnsettled ? broker.call('listSettlements', { params }) : [],
        portfolio.marginCallActive
          ? broker.call('listMarginCalls', { params, query: { limit: 20 } })
          : undefined,
      ]);
      return [
        ...expirationMarkers(portfolio),
        ...settlementMarkers(portfolio, settlements),
        ...callMarkers(portfolio, calls?.data ?? []),
      ];
    }),
  );
  return [...actionMarkers(actions), ...own.flat()].sort((a, b) => a.atMs - b.atMs);
}

/** A simulation other than the one shown: a separate line on the timeline. */
export interface Branch {
  readonly simulationId: string;
  readonly name: string;
  readonly fromMs: number;
  readonly nowMs: number;
  readonly isParent: boolean;
  /** The record of the parent at which it left. */
  readonly sequence: number | undefined;
}

/** Number of a tenant's simulations searched for branches. */
const LOOKED_THROUGH = 500;
const BRANCHES = 20;

/** The parent of a simulation and its forks, newest first. */
export async function branchesOf(broker: Broker, simulation: Simulation): Promise<readonly Branch[]> {
  const { simulationId, parent } = simulation;
  const { data } = await broker.call('listSimulations', { query: { limit: LOOKED_THROUGH } });
  const forks = data.filter((one) => one.parent?.simulationId === simulationId).slice(0, BRANCHES);
  const ids = [
    ...(parent === undefined ? [] : [parent.simulationId]),
    ...forks.map((one) => one.simulationId),
  ];
  const found = await Promise.all(
    ids.map((id) => broker.call('getSimulation', { params: { simulationId: id } }).catch(() => undefined)),
  );
  return found.flatMap((one) =>
    one === undefined
      ? []
      : [
          {
            simulationId: one.simulationId,
            name: one.name ?? one.simulationId.slice(0, 8),
            fromMs: Date.parse(one.start ?? one.now ?? ''),
            nowMs: Date.parse(one.now ?? one.start ?? ''),
            isParent: one.simulationId === parent?.simulationId,
            sequence: one.parent?.sequence,
          },
        ],
  );
}
