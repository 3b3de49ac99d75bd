/** Documented parameters have an effect, or are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import { type Body, openPortfolio, TestApp, type TestClient } from '../../../server/src/testing/test-app.js';

let test: TestApp;
let owner: TestClient;
let send: AlpacaSend;

beforeAll(async () => {
  test = await TestApp.open({ config: { feed: 'synthetic' } });
  owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  send = alpacaSender(test, await keyPairOf(owner, portfolioId));
});
afterAll(() => test.close());

const get = async (path: string): Promise<Body> => {
  const { status, body } = await send('GET', path);
  expect([status, body]).toEqual([200, body]);
  return body;
};
const statusOf = async (path: string): Promise<number> => (await send('GET', path)).status;

describe('contracts', () => {
  const contracts = async (query: string): Promise<Body[]> =>
    (await get(`/v2/options/contracts?${query}`)).option_contracts;

  it('of all underlyings, in order, when none is named', async () => {
    const first = await get('/v2/options/contracts?limit=3');
    expect(first.option_contracts).toHaveLength(3);
    const names: string[] = [];
    let token: string | null = '';
    // A strike that few underlyings reach: pages are short, and end.
    for (let pages = 0; token !== null; pages++) {
      expect(pages).toBeLessThan(100);
      const query: string = `strike_price_gte=100000&page_token=${encodeURIComponent(token)}`;
      const page: Body = await get(`/v2/options/contracts?${query}`);
      names.push(
        ...(page.option_contracts as Body[]).map(({ underlying_symbol }) => String(underlying_symbol)),
      );
      token = page.next_page_token as string | null;
    }
    expect(names.toSorted()).toEqual(names);
  }, 60_000);

  it('by root, style and penny program', async () => {
    const index = 'underlying_symbols=SPX&limit=5';
    expect((await contracts(`${index}&root_symbol=SPXW`)).map(({ root_symbol }) => root_symbol)).toEqual(
      Array(5).fill('SPXW'),
    );
    expect(await contracts(`${index}&root_symbol=NOPE`)).toEqual([]);
    expect(await contracts(`${index}&style=european`)).toHaveLength(5);
    expect(await contracts(`${index}&style=american`)).toEqual([]);
    expect(await contracts(`${index}&ppind=true`)).toEqual([]);
    expect(await contracts(`${index}&ppind=false`)).toHaveLength(5);
    expect(await contracts('underlying_symbols=AAPL&limit=5&ppind=true')).toHaveLength(5);
  });

  it('a token that no page gave is refused', async () => {
    for (const token of ['nope', 'MSFT|2026-01-09|0', 'AAPL|2026-01-09|x'])
      expect(
        await statusOf(
          `/v2/options/contracts?underlying_symbols=AAPL&page_token=${encodeURIComponent(token)}`,
        ),
      ).toBe(422);
  });

  it('snapshots have pages and a time since which they changed', async () => {
    const symbols = (await contracts('underlying_symbols=AAPL&limit=3')).map(({ symbol }) => String(symbol));
    const path = `/v1beta1/options/snapshots?symbols=${symbols.join(',')}`;
    const first = await get(`${path}&limit=2`);
    expect(Object.keys(first.snapshots as object)).toHaveLength(2);
    const last = await get(`${path}&limit=2&page_token=${first.next_page_token as string}`);
    expect(Object.keys(last.snapshots as object)).toEqual([symbols[2]]);
    expect(last.next_page_token).toBeNull();
    expect((await get(`${path}&updated_since=2199-01-01T00:00:00Z`)).snapshots).toEqual({});
  });

  it('snapshots have Greeks and volatility, or neither', async () => {
    const { snapshots } = await get('/v1beta1/options/snapshots/AAPL?limit=1000');
    const all = Object.values(snapshots as Record<string, Body>);
    expect(all.length).toBeGreaterThan(100);
    for (const one of all) expect('greeks' in one).toBe('impliedVolatility' in one);
  });
});

it('assets: exchange and attributes', async () => {
  const all = await get('/v2/assets');
  expect(all[0]).toMatchObject({ attributes: ['has_options'] });
  for (const attributes of ['has_options', 'options_enabled', 'ipo,has_options'])
    expect(await get(`/v2/assets?attributes=${attributes}`)).toEqual(all);
  expect(await get('/v2/assets?attributes=ipo')).toEqual([]);
  expect(await get('/v2/assets?exchange=nasdaq')).toEqual(all);
  expect(await get('/v2/assets?exchange=NYSE')).toEqual([]);
});

it('calendars: settlement dates and zones', async () => {
  const days = 'start=2026-01-06&end=2026-01-07';
  const dates = async (query: string) =>
    ((await get(`/v2/calendar?${query}`)) as Body[]).map(({ date }) => date as string);
  expect(await dates(days)).toEqual(['2026-01-06', '2026-01-07']);
  expect(await dates(`${days}&date_type=SETTLEMENT`)).toEqual(['2026-01-05', '2026-01-06']);
  expect(await statusOf(`/v2/calendar?${days}&date_type=HOLIDAY`)).toBe(422);
  const [day] = (await get(`/v3/calendar/NYSE?${days}&timezone=UTC`)).calendar;
  expect(day.core_start).toBe('2026-01-06T14:30:00.000Z');
  expect(await statusOf(`/v3/calendar/NYSE?${days}&timezone=Mars`)).toBe(422);
});

it('clocks: another time', async () => {
  const [clock] = (await get('/v3/clock?markets=NYSE&time=2026-01-10T15:00:00Z')).clocks;
  expect(clock).toMatchObject({
    timestamp: '2026-01-10T15:00:00.000Z',
    is_market_day: false,
    phase: 'closed',
    next_market_open: '2026-01-12T09:30:00-05:00',
  });
  const [open] = (await get('/v3/clock?markets=NYSE&time=2026-01-06T15:00:00Z')).clocks;
  expect(open).toMatchObject({ is_market_day: true, phase: 'core' });
  for (const time of ['1970-01-01', '9999-12-31']) expect(await statusOf(`/v3/clock?time=${time}`)).toBe(200);
});

it('corporate actions: ids, CUSIPs and regions', async () => {
  const actions = [{ type: 'SPLIT', symbol: 'AAPL', exDate: '2026-02-02', ratio: { new: 2, old: 1 } }];
  await owner.post('/v1/simulation/corporate-actions', { actions });
  for (const root of ['/v1/corporate-actions', '/v1beta1/corporate-actions']) {
    const range = 'start=2026-01-05&end=2026-03-01&types=forward_split';
    const [split] = (await get(`${root}?${range}`)).corporate_actions.forward_splits;
    expect((await get(`${root}?ids=${split.id as string}`)).corporate_actions).toEqual({
      forward_splits: [split],
    });
    expect((await get(`${root}?${range}&cusips=037833100`)).corporate_actions).toEqual({});
    expect((await get(`${root}?${range}&region=ca`)).corporate_actions).toEqual({});
    expect(await statusOf(`${root}?ids=${split.id as string}&symbols=AAPL`)).toBe(422);
  }
  const announced = 'ca_types=split&since=2026-01-05&until=2026-03-01';
  expect(await get(`/v2/corporate_actions/announcements?${announced}&cusip=037833100`)).toEqual([]);
});

it('market data: a currency other than the dollar is refused', async () => {
  expect(await statusOf('/v2/stocks/AAPL/bars?currency=USD')).toBe(200);
  expect(await statusOf('/v2/stocks/AAPL/bars?currency=EUR')).toBe(422);
});
