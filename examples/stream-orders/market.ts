/** A simulation for one test: its market moves when the test says so, its clock moves only when the test moves it. */
export interface Market {
  readonly token: string;
  readonly portfolioId: string;
  quote(symbol: string, bid: number, ask: number): Promise<void>;
  advance(by: string): Promise<void>;
  get<T>(path: string): Promise<T>;
}

/** Monday, 10:00 New York. With the seed fixed, ids, prices and times are the same in every run. */
export async function openMarket(baseUrl: string, token: string, cash = 10_000): Promise<Market> {
  const { token: own } = await call<{ readonly token: string }>(baseUrl, token, 'POST', '/v1/simulations', {
    feed: 'push',
    clock: 'manual',
    calendar: 'XNYS',
    start: '2026-01-05T10:00:00-05:00',
    seed: 1,
  });
  const { portfolioId } = await call<{ readonly portfolioId: string }>(
    baseUrl,
    own,
    'POST',
    '/v1/accounts/portfolios',
    {
      accountId: '00000000-0000-4000-8000-000000000001',
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      initialCash: cash,
    },
  );
  return {
    token: own,
    portfolioId,
    quote: async (symbol, bid, ask) => {
      await call(baseUrl, own, 'PUT', '/v1/simulation/quotes', { quotes: [{ symbol, bid, ask }] });
    },
    advance: async (by) => {
      await call(baseUrl, own, 'POST', '/v1/simulation/clock/advance', { by });
    },
    get: (path) => call(baseUrl, own, 'GET', path),
  };
}

async function call<T>(
  baseUrl: string,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<T> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}
