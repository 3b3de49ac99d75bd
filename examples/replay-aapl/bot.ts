/**
 * Replays four years of AAPL, 2012 to 2015, day by day through the public API: real daily bars, real dividends, the 7:1 split of
 * 2014-06-09. Nothing but `fetch`.
 *
 *   npx tsx examples/replay-aapl/bot.ts --base-url http://127.0.0.1:3000 --token "$TOKEN"
 *
 * The strategy, with 300,000 dollars in a cash account; every decision is made at 09:45 New York:
 *   - It keeps away from days on which the market closes early.
 *   - On the first day of each month it buys as many whole shares as 5,000 dollars pay for.
 *   - On the first day of each year but the first it sells a quarter of its shares (rounded down) before it buys.
 *   - On the last day it sells everything, and then waits for the settlement.
 * In between it looks at its account every morning and remembers how deep it fell from its highest value.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const SYMBOL = 'AAPL';
const FIRST = '2012-01-03';
const LAST = '2015-12-31';
const INITIAL_CASH = 300_000;
const MONTHLY = 5_000;

export interface Result {
  readonly finalCash: number;
  readonly days: number;
  readonly orders: number;
  /** Largest fall from a highest value, as a fraction. */
  readonly drawdown: number;
}

interface TradingDay {
  readonly date: string;
  readonly earlyClose: boolean;
}

interface Portfolio {
  readonly settledCash: number;
  readonly pendingCash: number;
  readonly totalEquity: number;
}

/** A call of the API with a token. Waits if the server asks to retry later. */
function client(baseUrl: string, token: string) {
  return async function call<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
    for (;;) {
      const response = await fetch(baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (response.status === 429) {
        const seconds = Number(response.headers.get('retry-after') ?? 1);
        await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
        continue;
      }
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return JSON.parse(text) as T;
    }
  };
}

export async function replayApple(
  baseUrl: string,
  token: string,
  tell: (line: string) => void = () => undefined,
): Promise<Result> {
  // A simulation of its own: a market, a clock and accounts that others do not see.
  const owner = client(baseUrl, token);
  const simulation = await owner<{ readonly simulationId: string; readonly token: string }>(
    'POST',
    '/v1/simulations',
    {
      name: 'AAPL 2012–2015',
      feed: 'replay',
      replay: SYMBOL,
      clock: 'manual',
      calendar: 'XNYS',
      start: `${FIRST}T09:00:00-05:00`,
      seed: 1,
    },
  );
  const api = client(baseUrl, simulation.token);
  const { portfolioId } = await api<{ readonly portfolioId: string }>('POST', '/v1/accounts/portfolios', {
    accountId: '00000000-0000-4000-8000-000000002012',
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: INITIAL_CASH,
  });
  const portfolioPath = `/v1/accounts/portfolios/${portfolioId}`;

  let orders = 0;
  const trade = async (side: 'buy' | 'sell', quantity: number): Promise<void> => {
    const order = await api<{ readonly orderId: string }>('POST', '/v1/orders', {
      portfolioId,
      symbol: SYMBOL,
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: side === 'buy' ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
      quantity,
      timeInForce: 'DAY',
    });
    // The answer is PENDING; with a manual clock everything due has happened before the next request.
    const { status, averagePrice } = await api<{ readonly status: string; readonly averagePrice?: number }>(
      'GET',
      `/v1/orders/${order.orderId}`,
    );
    if (status !== 'FILLED') throw new Error(`the order to ${side} ${quantity} is ${status}`);
    orders++;
    tell(`${today} ${side} ${quantity} at ${String(averagePrice)}`);
  };
  const held = async (): Promise<number> => {
    const positions = await api<
      readonly { readonly settledQuantity: number; readonly pendingQuantity: number }[]
    >('GET', `${portfolioPath}/equities`);
    return positions.reduce((sum, position) => sum + position.settledQuantity + position.pendingQuantity, 0);
  };

  const days: TradingDay[] = [];
  for (const year of [2012, 2013, 2014, 2015]) {
    const calendar = await api<{ readonly days: readonly TradingDay[] }>(
      'GET',
      `/v1/market-data/calendar?from=${year}-01-01&to=${year}-12-31`,
    );
    days.push(
      ...calendar.days.filter(({ date, earlyClose }) => !earlyClose && date >= FIRST && date <= LAST),
    );
  }
  let today = '';
  let highest = 0;
  let drawdown = 0;
  let traded = 0;
  for (const { date } of days) {
    const before = today;
    await api('POST', '/v1/simulation/clock/advance', { to: newYork(date, '09:45') });
    // A closing that no schedule had, as by Hurricane Sandy in 2012, is known from its announcement on.
    const { isOpen } = await api<{ readonly isOpen: boolean }>(
      'GET',
      `/v1/market-data/is-market-open/${SYMBOL}`,
    );
    if (!isOpen) continue;
    today = date;
    traded++;
    const isNewYear = before !== '' && before.slice(0, 4) !== date.slice(0, 4);
    const isNewMonth = before.slice(0, 7) !== date.slice(0, 7);
    if (date === LAST) await trade('sell', await held());
    if (isNewYear) await trade('sell', Math.floor((await held()) / 4));
    if (isNewMonth) {
      const { ask } = await api<{ readonly ask: number }>('GET', `/v1/market-data/quote/${SYMBOL}`);
      await trade('buy', Math.floor(MONTHLY / ask));
    }
    const { totalEquity } = await api<Portfolio>('GET', portfolioPath);
    highest = Math.max(highest, totalEquity);
    drawdown = Math.max(drawdown, 1 - totalEquity / highest);
    if (isNewYear || date === LAST) tell(`${date} equity ${totalEquity.toFixed(2)}`);
  }
  await api('POST', '/v1/simulation/clock/advance', { by: 'P10D' });
  const { settledCash, pendingCash } = await api<Portfolio>('GET', portfolioPath);
  if (pendingCash !== 0) throw new Error(`${pendingCash} is still to be settled`);
  await owner('DELETE', `/v1/simulations/${simulation.simulationId}`);
  return { finalCash: settledCash, days: traded, orders, drawdown };
}

/** A wall time in New York with its offset, which the runtime knows. */
function newYork(date: string, time: string): string {
  const noon = new Date(`${date}T12:00:00Z`);
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/New_York',
    timeZoneName: 'longOffset',
  });
  const zone = parts.formatToParts(noon).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${date}T${time}:00${zone.replace('GMT', '')}`;
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
  const result = await replayApple(values['base-url'], values.token ?? demoToken(), console.log);
  console.log(
    `${result.days} days, ${result.orders} orders, final cash ${result.finalCash.toFixed(2)}, ` +
      `deepest fall ${(result.drawdown * 100).toFixed(1)} %`,
  );
}
