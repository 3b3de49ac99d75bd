/**
 * Holds two ESZ13, the E-mini S&P 500 of December 2013, from Wednesday 2013-12-18 to their last settlement on Friday: recorded quotes and
 * trades, through the public API. Nothing but `fetch`. The server has been started with `REPLAY_PATH=samples/options-and-futures`.
 *
 *   npx tsx examples/replay-future/hold.ts --base-url http://127.0.0.1:3000 --token "$TOKEN"
 *
 * Nothing is paid for a future but commission and fees. Every day at 16:00 New York its variation becomes cash, at the mark of that
 * instant: that of Thursday, which was not recorded, is Wednesday evening's mark. On Friday at 09:30 it is settled for the last time.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const SYMBOL = 'ESZ13';
const CONTRACTS = 2;
const INITIAL_CASH = 50_000;

/** Cash after each settlement, in dollars. */
export interface Result {
  readonly bought: number;
  readonly wednesday: number;
  readonly thursday: number;
  readonly friday: number;
}

/** A call of the API with a token. */
function client(baseUrl: string, token: string) {
  return async function call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
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
  };
}

export async function holdToTheEnd(
  baseUrl: string,
  token: string,
  tell: (line: string) => void = () => undefined,
): Promise<Result> {
  const owner = client(baseUrl, token);
  const simulation = await owner<{ readonly simulationId: string; readonly token: string }>(
    'POST',
    '/v1/simulations',
    {
      ...{ name: 'ESZ13 to the end', feed: 'replay', replay: SYMBOL, clock: 'manual', calendar: 'XNYS' },
      ...{ start: '2013-12-18T10:30:00-05:00', seed: 1 },
    },
  );
  const api = client(baseUrl, simulation.token);
  const { portfolioId } = await api<{ readonly portfolioId: string }>('POST', '/v1/accounts/portfolios', {
    accountId: '00000000-0000-4000-8000-000000002013',
    ...{ portfolioType: 'MARGIN', accountType: 'INDIVIDUAL', brokerId: 'broker_01' },
    initialCash: INITIAL_CASH,
  });
  const path = `/v1/accounts/portfolios/${portfolioId}`;

  const order = await api<{ readonly orderId: string }>('POST', '/v1/orders', {
    ...{ portfolioId, symbol: SYMBOL, assetClass: 'FUTURE', orderType: 'MARKET' },
    ...{ positionIntent: 'BUY_TO_OPEN', quantity: CONTRACTS, timeInForce: 'DAY' },
  });
  const { status, averagePrice } = await api<{ readonly status: string; readonly averagePrice?: number }>(
    'GET',
    `/v1/orders/${order.orderId}`,
  );
  if (status !== 'FILLED' || averagePrice === undefined) throw new Error(`the order is ${status}`);
  tell(`bought ${CONTRACTS} ${SYMBOL} at ${averagePrice}`);

  const cashAt = async (to: string): Promise<number> => {
    await api('POST', '/v1/simulation/clock/advance', { to });
    const { settledCash, pendingCash } = await api<{ settledCash: number; pendingCash: number }>('GET', path);
    if (pendingCash !== 0) throw new Error(`${pendingCash} is still pending`);
    tell(`${to} ${settledCash.toFixed(2)}`);
    return settledCash;
  };
  const wednesday = await cashAt('2013-12-18T16:00:00-05:00');
  const thursday = await cashAt('2013-12-19T16:00:00-05:00');
  const friday = await cashAt('2013-12-20T09:30:00-05:00');
  const left = await api<readonly object[]>('GET', `${path}/futures`);
  if (left.length > 0) throw new Error('the position is not over');
  await owner('DELETE', `/v1/simulations/${simulation.simulationId}`);
  return { bought: averagePrice, wednesday, thursday, friday };
}

/** The token of the demo tenant, from the data directory of the server on this machine. */
function demoToken(): string {
  const text = readFileSync('data/demo-credentials.json', 'utf8');
  return (JSON.parse(text) as { readonly token: string }).token;
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string', default: 'http://127.0.0.1:3000' },
      token: { type: 'string' },
    },
  });
  await holdToTheEnd(values['base-url'], values.token ?? demoToken(), console.log);
}
