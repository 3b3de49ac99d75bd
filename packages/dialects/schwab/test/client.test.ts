/** The published npm client, unmodified: it logs in, and validates every answer by its own schemas. */
import { createApiClient, EnhancedTokenManager } from '@sudowealth/schwab-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSchwabAccount, placedId, type SchwabAccount } from './account.js';

let opened: SchwabAccount;
let client: Awaited<ReturnType<typeof createApiClient>>;
let login: EnhancedTokenManager;
const CALLBACK = 'https://127.0.0.1:8182';

beforeAll(async () => {
  opened = await openSchwabAccount({ config: { feed: 'synthetic' } });
  login = new EnhancedTokenManager({
    clientId: opened.keyId,
    clientSecret: opened.secret,
    redirectUri: CALLBACK,
    issuerBaseUrl: `${opened.url}/v1`,
  });
  const { authUrl } = await login.getAuthorizationUrl();
  const clicked = await fetch(authUrl, { method: 'POST', redirect: 'manual' });
  const answer = new URL(clicked.headers.get('location') ?? '').searchParams;
  await login.exchangeCode(answer.get('code') ?? '', answer.get('state') ?? undefined);
  client = createApiClient({ config: { baseUrl: opened.url }, auth: login });
});

afterAll(() => opened.test.close());

it('login with a challenge, and refresh', async () => {
  const before = await login.getTokenData();
  expect(before?.accessToken).toMatch(/^PK/);
  const after = await login.refresh(before?.refreshToken ?? '', { force: true });
  expect(after.accessToken).toMatch(/^PK/);
  expect(after.refreshToken).toBe(before?.refreshToken);
});

it('accounts and preferences', async () => {
  const { accounts, userPreference } = client.trader;
  expect(await accounts.getAccountNumbers()).toEqual([{ accountNumber: '10000001', hashValue: opened.hash }]);
  const [first] = await accounts.getAccounts({ queryParams: { fields: 'positions' } });
  expect(first?.securitiesAccount).toMatchObject({
    type: 'MARGIN',
    positions: [],
    currentBalances: { equity: 100_000 },
  });
  const one = await accounts.getAccountByNumber({ pathParams: { accountNumber: opened.hash } });
  expect(one.securitiesAccount.accountNumber).toBe('10000001');
  const { streamerInfo } = await userPreference.getUserPreference();
  expect(streamerInfo[0]?.streamerSocketUrl).toBe(`${opened.url.replace('http', 'ws')}/ws`);
});

it('quotes, chains, bars and hours', async () => {
  const { quotes, options, priceHistory, marketHours, instruments, movers } = client.marketData;
  const all = await quotes.getQuotes({ queryParams: { symbols: ['AAPL', '$SPX', 'NOPE'] } });
  expect(all['AAPL']).toMatchObject({ assetMainType: 'EQUITY', symbol: 'AAPL' });
  expect(all['$SPX']).toMatchObject({ assetMainType: 'INDEX' });
  expect(all['errors']).toEqual({});
  expect(await quotes.getQuoteBySymbolId({ pathParams: { symbol_id: 'AAPL' } })).toHaveProperty('AAPL');
  const { expirationList } = await options.getOptionExpirationChain({ queryParams: { symbol: 'AAPL' } });
  const date = expirationList[0]?.expirationDate ?? '';
  const chain = await options.getOptionChain({
    queryParams: {
      symbol: 'AAPL',
      contractType: 'CALL',
      strikeCount: 4,
      fromDate: date,
      toDate: date,
      includeUnderlyingQuote: true,
    },
  });
  expect(Object.keys(Object.values(chain.callExpDateMap ?? {})[0] ?? {})).toHaveLength(4);
  expect(chain.putExpDateMap).toEqual({});
  const history = await priceHistory.getPriceHistory({
    queryParams: {
      symbol: 'AAPL',
      periodType: 'month',
      period: 1,
      frequencyType: 'daily',
      frequency: 1,
      needPreviousClose: true,
    },
  });
  expect(history.candles.length).toBeGreaterThan(15);
  const hours = await marketHours.getMarketHours({ queryParams: { markets: ['equity', 'option'] } });
  expect(hours.equity?.['EQ']).toMatchObject({ isOpen: true });
  const found = await instruments.getInstruments({
    queryParams: { symbol: 'AAPL', projection: 'symbol-search' },
  });
  expect(found.instruments[0]?.symbol).toBe('AAPL');
  expect(await movers.getMovers({ pathParams: { symbol_id: '$SPX' }, queryParams: { sort: 'up' } })).toEqual({
    screeners: [],
  });
});

it('an order of the client: its schema asks for every field, which are placed by hand here, and it cancels by id', async () => {
  const order = {
    orderType: 'LIMIT',
    session: 'NORMAL',
    duration: 'DAY',
    price: 10,
    orderStrategyType: 'SINGLE',
    orderLegCollection: [
      { instruction: 'BUY', quantity: 1, instrument: { symbol: 'AAPL', assetType: 'EQUITY' } },
    ],
  };
  const orderId = placedId(await opened.send('POST', `/trader/v1/accounts/${opened.hash}/orders`, order));
  await client.trader.orders.cancelOrder({ pathParams: { accountNumber: opened.hash, orderId } });
  const shown = await opened.send('GET', `/trader/v1/accounts/${opened.hash}/orders/${orderId}`);
  expect(shown.body.status).toBe('CANCELED');
});
