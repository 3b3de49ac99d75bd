/** Takes the pictures of the dashboard in README.md and docs/: `npm run pictures`. Needs the system's Chromium. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ALL_SCOPES, chromiumPath, type Station, Visit } from '../packages/dashboard/browser/surroundings.js';

const DOCS = fileURLToPath(new URL('../docs/', import.meta.url));
/** CSS pixels, and one pixel of the picture for each, which keeps the files small. */
const SIZE = { width: 1440, height: 900 };

interface Taking {
  readonly scheme?: 'light' | 'dark';
  /** The start of the address; absent = the simulation of the pictures. */
  readonly at?: string;
  /** False = the page has no chart to wait for. */
  readonly hasChart?: boolean;
  readonly width?: number;
  readonly height?: number;
  /** Actions on the page before the picture is taken. */
  readonly before?: () => Promise<void>;
}

/** A competition of four entries on its third day; its id. */
async function competition(station: Station): Promise<string> {
  const created = await station.api<{ competitionId: string; token: string }>('POST', '/competitions', {
    name: 'Spring cup',
    market: {
      feed: 'synthetic',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2026-01-05T09:30:00-05:00',
      end: '2026-01-09T16:00:00-05:00',
    },
    rules: {
      initialCash: 100_000,
      portfolioType: 'MARGIN',
      brokerId: 'default',
      assetClasses: ['EQUITY'],
      maxPositionPercent: 60,
      trailingDrawdownPercent: 10,
      entriesPerTenant: 4,
    },
    scoring: 'TOTAL_RETURN',
    entry: 'OPEN',
    visibility: 'PUBLIC',
  });
  const { competitionId } = created;
  const advance = (by: string) => station.api('POST', '/simulation/clock/advance', { by }, created.token);
  await station.api('POST', `/competitions/${competitionId}/start`);
  await advance('PT1M');
  for (const [displayName, symbols] of [
    ['Momentum Mia', ['NVDA', 'TSLA']],
    ['Value Val', ['JPM', 'KO']],
    ['Index Ida', ['SPY']],
    ['Pairs Pete', ['AAPL', 'MSFT']],
  ] as const) {
    const entry = await station.api<{ portfolioId: string; token: string }>(
      'POST',
      `/competitions/${competitionId}/entries`,
      { displayName },
    );
    for (const symbol of symbols) {
      const { portfolioId, token } = entry;
      const { ask } = await station.api<{ ask: number }>(
        'GET',
        `/market-data/quote/${symbol}`,
        undefined,
        token,
      );
      await station.api(
        'POST',
        '/orders',
        {
          portfolioId,
          symbol,
          assetClass: 'EQUITY',
          orderType: 'MARKET',
          positionIntent: 'BUY_TO_OPEN',
          quantity: Math.floor(45_000 / ask),
          timeInForce: 'DAY',
        },
        token,
      );
    }
  }
  for (let hour = 0; hour < 50; hour += 1) await advance('PT1H');
  return competitionId;
}

/** A simulation with a month of an active trader behind it. */
async function month(station: Station): Promise<{ readonly at: string; readonly portfolioId: string }> {
  const { simulationId, token } = await station.api<{ simulationId: string; token: string }>(
    'POST',
    '/simulations',
    {
      name: 'A month of an active trader',
      feed: 'synthetic',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2026-01-05T09:00:00-05:00',
      seed: 7,
    },
  );
  await station.api('POST', '/simulation/fixtures', { name: 'active-trader' }, token);
  const { data } = await station.api<{ data: readonly { readonly portfolioId: string }[] }>(
    'GET',
    '/orders?limit=1',
    undefined,
    token,
  );
  return { at: `~${simulationId}/`, portfolioId: data[0]?.portfolioId ?? '' };
}

if (chromiumPath === undefined) throw new Error('install Chromium to take the pictures');
const visit = new Visit();
await visit.begin();
try {
  const { station } = visit;
  const page = await visit.reader(ALL_SCOPES);
  await page.setViewportSize(SIZE);
  const { simulationId, token } = await station.api<{ simulationId: string; token: string }>(
    'POST',
    '/simulations',
    {
      name: 'pictures',
      feed: 'synthetic',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2026-01-05T09:35:00-05:00',
      seed: 7,
    },
  );
  const api = <Answer>(method: string, path: string, body?: object): Promise<Answer> =>
    station.api(method, path, body, token);
  const advance = (by: string) => api('POST', '/simulation/clock/advance', { by });
  const { portfolioId } = await api<{ portfolioId: string }>('POST', '/accounts/portfolios', {
    accountId: '11111111-1111-4111-8111-111111111111',
    portfolioType: 'MARGIN',
    marginType: 'REG_T',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    name: 'Momentum',
    initialCash: 100_000,
  });
  const place = (order: object): Promise<{ orderId: string }> =>
    api('POST', '/orders', { portfolioId, timeInForce: 'DAY', ...order });
  const buy = (symbol: string, quantity: number, more: object = {}) =>
    place({
      symbol,
      quantity,
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      ...more,
    });
  const askOf = async (symbol: string): Promise<number> =>
    (await api<{ ask: number }>('GET', `/market-data/quote/${symbol}`)).ask;

  await buy('AAPL', 200);
  await buy('MSFT', 60);
  await advance('P1D');
  await buy('SPY', 50);
  const { expirations } = await api<{ expirations: readonly string[] }>(
    'GET',
    '/market-data/options/AAPL/expirations',
  );
  const expiration = expirations.at(3) ?? '';
  const price = await askOf('AAPL');
  const { contracts } = await api<{ contracts: readonly { optionSymbol: string; strike: number }[] }>(
    'GET',
    `/market-data/options/AAPL/chain?expiration=${expiration}&optionType=CALL&minStrike=${Math.round(price * 1.04)}`,
  );
  await place({
    symbol: contracts[0]?.optionSymbol,
    quantity: 2,
    assetClass: 'OPTION',
    orderType: 'MARKET',
    positionIntent: 'SELL_TO_OPEN',
  });
  await advance('P3D');
  await buy('AAPL', 20, {
    orderType: 'LIMIT',
    limitPrice: Math.floor((await askOf('AAPL')) * 0.97),
    timeInForce: 'GTC',
  });
  const { orderId } = await buy('NVDA', 40, {
    bracketConfig: {
      profitTarget: { orderType: 'LIMIT', limitPrice: Math.round((await askOf('NVDA')) * 1.1) },
      stopLoss: { orderType: 'STOP', stopPrice: Math.round((await askOf('NVDA')) * 0.9) },
    },
  });
  await advance('PT2H');

  const take = async (
    address: string,
    file: string,
    shown: string,
    {
      scheme = 'light',
      at = `~${simulationId}/`,
      hasChart = true,
      width = SIZE.width,
      height = SIZE.height,
      before = () => Promise.resolve(),
    }: Taking = {},
  ) => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: scheme });
    await visit.go(`${at}${address}`, page);
    await page.getByText(shown).first().waitFor();
    await before();
    if (hasChart && !/^orders|show=options/.test(address)) await page.locator('canvas').first().waitFor();
    if (address.includes('show=options')) await page.locator('.tray').scrollIntoViewIfNeeded();
    await page.locator('main .waiting').first().waitFor({ state: 'detached' });
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await page.screenshot({ path: join(DOCS, file) });
    process.stdout.write(`docs/${file}\n`);
  };
  await take(
    `trade/AAPL?bars=1Hour&quantity=10&type=LIMIT&limit=${price}`,
    'dashboard-trade.png',
    'would be',
  );
  await take(`portfolio/${portfolioId}`, 'dashboard-portfolio.png', 'Unrealized', {
    scheme: 'dark',
  });
  const legs = ['B', 'S']
    .map((side, index) => `${side}1x${contracts[2 + index * 2]?.optionSymbol ?? ''}`)
    .join(',');
  await take(
    `trade/AAPL?show=options&expiration=${expiration}&legs=${legs}&quantity=1&type=LIMIT&limit=1`,
    'dashboard-options.png',
    'Probability of profit',
  );
  await take(`orders?order=${orderId}`, 'dashboard-orders.png', 'Status history');
  const rule = page.getByRole('complementary', { name: 'Rule', exact: true });
  await take(
    `trade/AAPL?bars=1Hour&portfolio=${portfolioId}&quantity=5000&type=LIMIT&limit=${price}`,
    'dashboard-why.png',
    'would be rejected',
    {
      before: async () => {
        await page.getByRole('region', { name: 'Preview' }).getByRole('button', { name: 'Why' }).click();
        await rule.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
      },
    },
  );
  await rule.getByRole('button', { name: 'Close the rule' }).click();
  await take(`competitions/${await competition(station)}`, 'dashboard-competition.png', 'Momentum Mia', {
    scheme: 'dark',
    at: '',
  });
  const { at, portfolioId: trader } = await month(station);
  await take('', 'dashboard-overview.png', 'Recent fills', { at });
  await take('time', 'dashboard-time.png', 'What comes next', { at, hasChart: false, scheme: 'dark' });
  await take(`analytics/${trader}?benchmark=SPY`, 'dashboard-analytics.png', 'Sharpe ratio', { at });
  await take('compare', 'dashboard-compare.png', 'Portfolios, at most', { at });
  await take('administration', 'dashboard-administration.png', 'Commits', {
    at: '',
    hasChart: false,
    before: () =>
      page
        .getByText(/^All \d/)
        .first()
        .waitFor(),
  });
  await take('trade/AAPL?show=ticket&quantity=10', 'dashboard-phone.png', 'would be', {
    at,
    hasChart: false,
    width: 390,
    height: 844,
  });
} finally {
  await visit.end();
}
