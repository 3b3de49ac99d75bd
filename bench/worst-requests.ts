/** The worst single requests that a tenant can send to each route whose work grows with something, for `neighbors.ts`. */
import { keepFull } from './measure.js';

/** A competition on a synthetic market with a scaled clock. */
const competitionBody = (entrants: number): object => ({
  name: 'Bench',
  market: {
    feed: 'synthetic',
    clock: 'scaled',
    speed: 1,
    calendar: 'always-open',
    start: '2026-01-05T15:00:00Z',
    end: '2026-01-06T15:00:00Z',
  },
  rules: {
    initialCash: 100_000,
    portfolioType: 'MARGIN',
    brokerId: 'default',
    assetClasses: ['EQUITY'],
    entriesPerTenant: entrants,
    maxPositionPercent: 50,
  },
  scoring: 'TOTAL_RETURN',
  entry: 'OPEN',
  visibility: 'PUBLIC',
});

const LIST = 500;
const ACCOUNTS = 500;
const ORDERS = 3000;
const STEPPED = 20;
const ENTRIES = 50;

export type Caller = (
  method: string,
  path: string,
  body?: object | string,
  accept?: string,
) => Promise<{ [name: string]: unknown }>;

/** The worst requests by name, for a tenant with many objects. */
export async function worstRequests(
  url: string,
  busy: Caller,
): Promise<Record<string, () => Promise<unknown>>> {
  const ids = Array.from({ length: ACCOUNTS }, (_, index) => idOf(index));
  await keepFull(ACCOUNTS, 32, async (index) => {
    await openPortfolio(busy, ids[index] ?? '');
  });
  const created = await busy('POST', '/v1/simulations', {
    feed: 'synthetic',
    clock: 'manual',
    start: '2026-01-05T10:00:00-05:00',
    seed: 1,
  });
  const simulation = callerWith(url, String(created.token));
  const portfolioId = String(
    (await openPortfolio(simulation, idOf(0), { portfolioType: 'MARGIN', initialCash: 10_000_000 }))
      .portfolioId,
  );
  const symbols = ['AAPL', 'MSFT', 'NVDA', 'SPY'];
  await keepFull(ORDERS, 32, async (index) => {
    const limits = index % 2 === 0 ? { limitPrice: 1 } : { orderType: 'MARKET', limitPrice: undefined };
    await simulation(
      'POST',
      '/v1/orders',
      order(portfolioId, {
        symbol: symbols[index % 4],
        quantity: 1,
        timeInForce: index % 2 === 0 ? 'GTC' : 'DAY',
        ...limits,
      }),
    );
  });
  const { text } = await simulation('GET', `/v1/simulations/${String(created.simulationId)}/export`);
  const strikes = Array.from({ length: 40 }, (_, index) => 100 + index * 5);
  const holdings = strikes.flatMap((strike) =>
    ['C', 'P'].map((type, index) => ({
      symbol: `AAPL260320${type}${String(strike * 1000).padStart(8, '0')}`,
      quantity: index === 0 ? -1 : 1,
    })),
  );
  const simulationPath = `/v1/simulations/${String(created.simulationId)}`;
  const portfolioPath = `/v1/accounts/portfolios/${portfolioId}`;
  const stepped = await Promise.all(
    Array.from({ length: STEPPED }, (_, index) => createdSimulation(busy, { seed: index })),
  );
  const leveraged = await portfolioOfOptions(url, busy, strikes);
  const competition = await competitionOf(busy);
  const lots = Array.from({ length: 1000 }, (_, index) => ({
    symbol: symbols[index % 4],
    quantity: 1,
    price: 100,
    acquiredAt: '2024-03-01',
  }));
  const quotes = Array.from({ length: 1000 }, (_, index) => quote(`ZZ${letters(index)}`, 10));
  return {
    'a batch of 500 accounts': () =>
      busy('POST', '/v1/orders/batch', {
        accountIds: ids,
        orderData: { ...order('', { limitPrice: 50 }), portfolioId: undefined },
      }),
    'a clock that is moved by a month with 1,500 open orders': () =>
      simulation('POST', '/v1/simulation/clock/advance', { by: 'P1M' }),
    'a push of 1,000 quotes': () => busy('PUT', '/v1/simulation/quotes', { quotes }),
    'requirements of 80 options': () =>
      leveraged.caller('POST', '/v1/margin/requirements', {
        marginType: 'REG_T',
        brokerId: 'default',
        positions: holdings,
        prices: Object.fromEntries([
          ['AAPL', 200],
          ...holdings.map(({ symbol }, index) => [symbol, 1 + index / 10] as const),
        ]) as Record<string, number>,
      }),
    'an option chain': () => simulation('GET', '/v1/market-data/options/SPY/chain'),
    'a list of 500 orders': () => simulation('GET', `/v1/orders?portfolioId=${portfolioId}&limit=${LIST}`),
    'a list of 500 ledger entries': () =>
      simulation('GET', `/v1/accounts/portfolios/${portfolioId}/ledger?limit=${LIST}`),
    performance: () => simulation('GET', `/v1/accounts/portfolios/${portfolioId}/performance`),
    'round trips': () => simulation('GET', `/v1/accounts/portfolios/${portfolioId}/trades?limit=${LIST}`),
    'an equity curve by the minute': () => simulation('GET', `${portfolioPath}/history?interval=1m`),
    'bars of a year by the minute': () =>
      simulation('GET', '/v1/market-data/bars/AAPL?timeframe=1Min&limit=1000'),
    'canceling all orders of an account': () => simulation('DELETE', `/v1/orders/account/${idOf(0)}`),
    'a CSV list of all orders': () =>
      simulation('GET', `/v1/orders?portfolioId=${portfolioId}`, undefined, 'text/csv'),
    'tax lots': () => simulation('GET', `${portfolioPath}/tax-lots`),
    'realized gains': () => simulation('GET', `${portfolioPath}/realized-gains?limit=${LIST}`),
    'a report': () => simulation('GET', `${portfolioPath}/report.html`),
    'execution quality': () => simulation('GET', `${portfolioPath}/execution-quality`),
    activities: () => simulation('GET', `${portfolioPath}/activities?limit=${LIST}`),
    'portfolio margin of 80 options': () =>
      leveraged.caller('GET', `/v1/accounts/portfolios/${leveraged.portfolioId}/margin`),
    'a preview beside 80 options': () =>
      leveraged.caller('POST', '/v1/orders/preview', order(leveraged.portfolioId, { limitPrice: 100 })),
    'an order beside 80 options': () =>
      leveraged.caller(
        'POST',
        '/v1/orders',
        order(leveraged.portfolioId, { limitPrice: 100, timeInForce: 'IOC' }),
      ),
    'an import of 1,000 lots': async () => {
      const { portfolioId: empty } = await openPortfolio(simulation, idOf(0));
      const path = `/v1/accounts/portfolios/${String(empty)}/import`;
      await simulation('POST', path, { cash: 0, positions: lots });
    },
    'a snapshot and a fork of it': async () => {
      const { snapshotId } = await busy('POST', `${simulationPath}/snapshots`, {});
      const fork = await busy('POST', `${simulationPath}/forks`, { from: { snapshotId } });
      await busy('DELETE', `/v1/simulations/${String(fork.simulationId)}`);
      await busy('DELETE', `${simulationPath}/snapshots/${String(snapshotId)}`);
    },
    'a comparison of all brokers': async () => {
      const { comparisonId } = await busy('POST', `${simulationPath}/comparisons`, {
        variants: 'all-brokers',
      });
      await busy('GET', `/v1/comparisons/${String(comparisonId)}?wait=30`);
    },
    [`a day's step of ${STEPPED} simulations`]: () =>
      busy('POST', '/v1/simulations/step', {
        steps: stepped.map((simulationId) => ({ simulationId, advance: { by: 'P1D' } })),
      }),
    'the fixture with the most work': async () => {
      const own = await busy('POST', '/v1/simulations', MANUAL);
      await callerWith(url, String(own.token))('POST', '/v1/simulation/fixtures', { name: 'active-trader' });
      await busy('DELETE', `/v1/simulations/${String(own.simulationId)}`);
    },
    [`a leaderboard of ${ENTRIES} entries`]: () =>
      busy('GET', `/v1/competitions/${competition}/leaderboard?limit=${LIST}`),
    'the curves of a leaderboard': () => busy('GET', `/v1/competitions/${competition}/leaderboard/curves`),
    'a new competition': async () => {
      const { competitionId } = await busy('POST', '/v1/competitions', competitionBody(1));
      await busy('DELETE', `/v1/competitions/${String(competitionId)}`);
    },
    'an export': () => simulation('GET', `/v1/simulations/${String(created.simulationId)}/export`),
    'an import': () => busy('POST', '/v1/simulations/import', String(text)),
  };
}

const MANUAL = { feed: 'synthetic', clock: 'manual', start: '2026-01-05T10:00:00-05:00', seed: 1 };

const createdSimulation = async (busy: Caller, more: object): Promise<string> =>
  String((await busy('POST', '/v1/simulations', { ...MANUAL, ...more })).simulationId);

/**
 * A portfolio with portfolio margin and 80 different options, in a simulation whose clock runs: each request values them at another instant,
 * and they do not expire.
 */
async function portfolioOfOptions(
  url: string,
  busy: Caller,
  strikes: readonly number[],
): Promise<{ readonly caller: Caller; readonly portfolioId: string }> {
  const { token } = await busy('POST', '/v1/simulations', { ...MANUAL, clock: 'scaled', speed: 1 });
  const own = callerWith(url, String(token));
  const { portfolioId } = await openPortfolio(own, idOf(0), {
    portfolioType: 'MARGIN',
    brokerId: 'broker_03',
    initialCash: 10_000_000,
  });
  const path = `/v1/accounts/portfolios/${String(portfolioId)}`;
  await own('PUT', `${path}/margin-upgrade`, { marginType: 'PORTFOLIO', portfolioMarginEngineType: 'TIMS' });
  const positions = strikes.flatMap((strike) =>
    ['C', 'P'].map((type) => ({
      symbol: `AAPL260320${type}${String(strike * 1000).padStart(8, '0')}`,
      quantity: 1,
      price: 5,
      acquiredAt: '2025-12-01',
    })),
  );
  await own('POST', `${path}/import`, { cash: 0, positions });
  return { caller: own, portfolioId: String(portfolioId) };
}

async function competitionOf(busy: Caller): Promise<string> {
  const { competitionId } = await busy('POST', '/v1/competitions', competitionBody(ENTRIES));
  const id = String(competitionId);
  await keepFull(ENTRIES, 8, async (index) => {
    await busy('POST', `/v1/competitions/${id}/entries`, { displayName: `entry ${index}` });
  });
  await busy('POST', `/v1/competitions/${id}/start`);
  return id;
}

const letters = (index: number): string =>
  [index / 676, index / 26, index].map((part) => String.fromCharCode(65 + (Math.floor(part) % 26))).join('');

/** Sends requests with a token. A refused request throws: it would measure a refusal. */
export function callerWith(url: string, token: string): Caller {
  return async (method, path, body, accept = 'application/json') => {
    const isFile = typeof body === 'string';
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        accept,
        ...(body !== undefined && { 'content-type': isFile ? 'application/x-ndjson' : 'application/json' }),
      },
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    if (response.headers.get('content-type')?.startsWith('application/json') !== true) return { text };
    return JSON.parse(text) as { [name: string]: unknown };
  };
}

export const idOf = (index: number): string => `11111111-1111-4111-8111-${String(index).padStart(12, '0')}`;

export const openPortfolio = (caller: Caller, accountId: string, more: object = {}) =>
  caller('POST', '/v1/accounts/portfolios', {
    accountId,
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: 1_000_000,
    ...more,
  });

export const quote = (symbol: string, last: number): object => ({ symbol, bid: last - 0.1, ask: last, last });

export const order = (portfolioId: string, more: object): object => ({
  portfolioId,
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'LIMIT',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 1,
  timeInForce: 'DAY',
  ...more,
});
