/** Adjusted contracts that are known by their names alone in each API (D245). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calendarById } from '@sandpit/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unconnectedFeedOpener } from '../compose.js';
import type { SimulationConfig } from '../engine/configuration/simulation-config.js';
import {
  type Body,
  openPortfolio,
  orderBody,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

/** Lucid after its reverse split of one for ten: the contract delivers ten shares. */
const ADJUSTED = 'LCID1271217C00002500';
const ORDINARY = 'LCID271217C00002500';
const UNKNOWN = `${ADJUSTED} is an adjusted contract whose deliverable is unknown: list it with its deliverable first`;
const LISTED = { assetClass: 'OPTION', symbol: ADJUSTED, deliverable: 10 };

let test: TestApp;
let client: TestClient;
let portfolioId: string;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  await pushQuote(client, { symbol: 'LCID', bid: 24, ask: 24, last: 24 });
  portfolioId = String((await openPortfolio(client)).portfolioId);
});
afterEach(() => test.close());

const refusal = (message: string) => ({
  status: 400,
  body: { message, error: { code: 'UNKNOWN_DELIVERABLE', symbol: ADJUSTED } },
});
const list = (...instruments: object[]) => client.put('/v1/simulation/instruments', { instruments });
const order = (symbol = ADJUSTED): object =>
  orderBody(portfolioId, { symbol, assetClass: 'OPTION', quantity: 1, limitPrice: 0.7 });

describe('quotes of an adjusted contract', () => {
  const quotes = [
    { symbol: ORDINARY, bid: 0.5, ask: 0.6 },
    { symbol: 'LCID1 271217C00002500', bid: 0.5, ask: 0.6 },
  ];
  const ofPush = (by: TestClient) => by.put('/v1/simulation/quotes', { quotes });

  it('pushQuotes: refuses all of them, naming the index, until the contract is listed', async () => {
    expect(await ofPush(client)).toMatchObject(refusal(`quotes.1: ${UNKNOWN}`));
    expect((await client.get(`/v1/market-data/quotes/${ORDINARY}`)).status).toBe(404);
    expect((await list(LISTED)).status).toBe(200);
    expect((await ofPush(client)).body).toMatchObject({ accepted: 2 });
  });

  it('stepSimulation: refuses the step before any part of it is executed', async () => {
    const made = await client.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      start: '2026-01-05T15:00:00Z',
    });
    const owner = test.withToken(made.body.token as string);
    const start = (await owner.get('/v1/simulation/clock')).body as object;
    const body = { quotes, advance: { by: 'PT1H' } };
    expect(await owner.post('/v1/simulation/step', body)).toMatchObject(refusal(`quotes.1: ${UNKNOWN}`));
    expect((await owner.get('/v1/simulation/clock')).body).toEqual(start);
    const { simulationId } = made.body;
    const parts = await client.post('/v1/simulations/step', { steps: [{ simulationId, ...body }] });
    expect(parts.body.results).toMatchObject([{ error: refusal(`quotes.1: ${UNKNOWN}`).body }]);
  });
});

describe('orders for an adjusted contract', () => {
  it('createOrder and previewOrder: refuse it unless it is listed', async () => {
    expect(await client.post('/v1/orders', order())).toMatchObject(refusal(UNKNOWN));
    const preview = await client.post('/v1/orders/preview', order());
    expect(preview.body.rejections ?? preview.body).toMatchObject([{ code: 'UNKNOWN_DELIVERABLE' }]);
    await list(LISTED);
    await pushQuote(client, { symbol: ADJUSTED, bid: 0.5, ask: 0.6 });
    expect((await client.post('/v1/orders', order())).status).toBe(201);
  });

  it('createOrder: accepts a contract on a listed share whose symbol ends in a digit', async () => {
    await client.put('/v1/simulation/quotes', {
      quotes: [
        { symbol: ADJUSTED, bid: 0.5, ask: 0.6 },
        { symbol: 'LCID1', bid: 2, ask: 2 },
      ],
    });
    expect((await client.post('/v1/orders', order())).status).toBe(201);
    const { body } = await client.get(`/v1/market-data/instruments?symbol=${ADJUSTED}`);
    expect(body.data[0]).toMatchObject({ underlying: 'LCID1', deliverable: 100 });
  });
});

describe('computeRequirements: an adjusted contract', () => {
  const ask = (...positions: object[]) =>
    client.post('/v1/margin/requirements', {
      marginType: 'REG_T',
      positions,
      prices: { LCID: 24, LCID1: 24, [ADJUSTED]: 0.6 },
    });
  const short = { symbol: ADJUSTED, quantity: -1 };
  const figures = ({ body }: Body): unknown => [body.groups[0].strategy, body.maintenanceRequirement];

  it('requires its deliverable, by the position or by a listing', async () => {
    const long = { symbol: 'LCID', quantity: 100 };
    expect(await ask(long, short)).toMatchObject(refusal(`positions.1: ${UNKNOWN}`));
    expect(await ask({ optionSymbol: ADJUSTED, quantity: -1 })).toMatchObject(
      refusal(`positions.0: ${UNKNOWN}`),
    );
    // The underlying counts 24 × 10 / 100 = 2.40, out of the money by 10 dollars: 60 + (20 % of 240 − 10).
    expect(figures(await ask({ ...short, deliverable: 10 }))).toEqual(['NAKED_CALL', 98]);
    await list(LISTED);
    expect(figures(await ask(short))).toEqual(['NAKED_CALL', 98]);
    // 60 + 20 % of 2,400.
    expect(figures(await ask({ ...short, deliverable: 100 }))).toEqual(['NAKED_CALL', 540]);
  });

  it('is an ordinary one if a share with its root is listed', async () => {
    await pushQuote(client, { symbol: 'LCID1', bid: 24, ask: 24 });
    expect(figures(await ask(short))).toEqual(['NAKED_CALL', 540]);
  });

  it('rejects a deliverable of shares, of a wrong form, or of two figures for one contract', async () => {
    const messages = async (...positions: object[]): Promise<unknown> =>
      (await ask(...positions)).body.message;
    expect(await messages({ symbol: 'LCID', quantity: 1, deliverable: 10 })).toEqual([
      'positions.0.deliverable should exist for options only',
    ]);
    expect(await messages({ ...short, deliverable: 10 }, { ...short, deliverable: 20 })).toEqual([
      `positions.1.deliverable must be the same in all positions of ${ADJUSTED}`,
    ]);
    expect(await messages({ ...short, deliverable: 0.5 })).toEqual([
      expect.stringMatching(/^positions\.0\.deliverable must be/),
    ]);
  });
});

describe('importPositions: an adjusted contract', () => {
  const reason = 'adjusted contract whose deliverable is unknown: list it with its deliverable first';
  const positions = [
    { symbol: ORDINARY, quantity: 2, price: 0.5 },
    { symbol: ADJUSTED, quantity: 2, price: 0.5 },
  ];
  const send = (query = '') =>
    client.post(`/v1/accounts/portfolios/${portfolioId}/import${query}`, { positions });

  it('is a row that cannot be held', async () => {
    expect(await send()).toMatchObject({
      status: 400,
      body: { message: [`positions.1: ${ADJUSTED}: ${reason}`] },
    });
    expect((await send('?skip=unsupported')).body).toMatchObject({
      positions: [{ symbol: ORDINARY, quantity: 2 }],
      skipped: [{ row: 'positions.1', symbol: ADJUSTED, reason }],
    });
  });

  it('is imported if it is listed with its deliverable', async () => {
    await list(LISTED);
    expect((await send()).body).toMatchObject({ positions: [{ symbol: ORDINARY }, { symbol: ADJUSTED }] });
  });

  it('in a file of Interactive Brokers it is skipped', async () => {
    const { body } = await client.inject({
      method: 'POST',
      url: `/v1/accounts/portfolios/${portfolioId}/import?skip=unsupported`,
      payload: [
        'Open Positions,Header,DataDiscriminator,Asset Category,Currency,Symbol,Quantity,Mult,Cost Price,Cost Basis,Close Price,Value',
        'Open Positions,Data,Summary,Stocks,USD,LCID,10,1,24,240,24,240',
        'Open Positions,Data,Summary,Equity and Index Options,USD,LCID1 17DEC27 2.5 C,1,100,0.6,60,0.6,60',
      ].join('\n'),
      headers: { 'content-type': 'text/csv' },
    });
    expect(body).toMatchObject({ positions: [{ symbol: 'LCID', quantity: 10 }] });
    expect(body.skipped).toMatchObject([{ symbol: ADJUSTED, reason }]);
  });
});

describe('a recording with an adjusted contract', () => {
  let path: string;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'sandpit-adjusted-'));
    const rows = ['15:00', '15:01', '15:02', '15:03'].flatMap((time) =>
      [
        ['LCID', 24],
        [ORDINARY, 0.5],
        [ADJUSTED, 0.6],
      ].map(
        ([symbol, price]) =>
          `2026-01-05T${time}:00Z,${symbol},${price},${price},${price},${price},5,${price},${price},${price},${price},5`,
      ),
    );
    const header =
      'ts,symbol,bid_open,bid_high,bid_low,bid_close,bid_size,ask_open,ask_high,ask_low,ask_close,ask_size';
    await writeFile(join(path, 'lucid_quotes.csv'), `${[header, ...rows].join('\n')}\n`);
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  const replayed = async (): Promise<TestClient> => {
    await test.close();
    test = await TestApp.open({ settings: { REPLAY_PATH: path } });
    const made = await test.as().post('/v1/simulations', {
      feed: 'replay',
      clock: 'manual',
      start: '2026-01-05T15:01:30Z',
      replay: 'LCID',
    });
    const owner = test.withToken(made.body.token as string);
    portfolioId = String((await openPortfolio(owner)).portfolioId);
    await owner.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    return owner;
  };
  const chain = async (by: TestClient): Promise<string[]> =>
    (await by.get('/v1/market-data/options/LCID/chain?expiration=2027-12-17')).body.contracts.map(
      ({ optionSymbol }: Body) => optionSymbol as string,
    );

  it('does not list it; a listing with its deliverable gets its quotes', async () => {
    const owner = await replayed();
    expect(await chain(owner)).toEqual([ORDINARY]);
    expect(await owner.post('/v1/orders', order())).toMatchObject(refusal(UNKNOWN));
    // Quotes of the unlisted contract reach a simulation that holds another one on the share.
    expect((await owner.post('/v1/orders', order(ORDINARY))).status).toBe(201);
    await owner.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    expect(await chain(owner)).toEqual([ORDINARY]);
    expect((await owner.put('/v1/simulation/instruments', { instruments: [LISTED] })).status).toBe(200);
    expect((await owner.post('/v1/orders', order())).status).toBe(201);
    await owner.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    const { body } = await owner.get(`/v1/accounts/portfolios/${portfolioId}/options`);
    expect(body.map(({ optionSymbol }: Body) => optionSymbol)).toEqual([ADJUSTED, ORDINARY]);
  });

  /** The lines for the operator when a server opens the recording. */
  const notes = async (): Promise<string[]> => {
    const lines: string[] = [];
    const open = unconnectedFeedOpener({ riskFreeRate: 0.04, replayPath: path }, (line) => lines.push(line));
    await open({ feed: 'replay' } as SimulationConfig, calendarById('XNYS'));
    return lines;
  };

  it('tells the operator how many it leaves out', async () => {
    expect(await notes()).toEqual([
      `Recording: 1 adjusted contracts such as ${ADJUSTED} are left out because their deliverable is unknown; a contracts file with the column deliverable lists them`,
    ]);
  });

  it('lists it if a contracts file has its deliverable', async () => {
    await writeFile(
      join(path, 'contracts.csv'),
      `symbol,multiplier,settlement,deliverable\n${ADJUSTED},100,physical,10\n`,
    );
    const owner = await replayed();
    const { body } = await owner.get(`/v1/market-data/instruments?symbol=${ADJUSTED}`);
    expect(body.data).toMatchObject([{ underlying: 'LCID', multiplier: 100, deliverable: 10 }]);
    expect(await notes()).toEqual([]);
  });
});
