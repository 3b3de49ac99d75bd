import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTradierAccount, pushQuote, type TradierAccount } from './account.js';

let opened: TradierAccount;
let orders: string;

beforeAll(async () => {
  opened = await openTradierAccount();
  orders = `/v1/accounts/${opened.account}/orders`;
  await pushQuote(opened.owner);
});

afterAll(() => opened.test.close());

const advance = async (to: string): Promise<void> => {
  expect((await opened.owner.post('/v1/simulation/clock/advance', { to })).status).toBe(200);
};

const listed = async (): Promise<unknown> => {
  const { body } = await opened.send('GET', orders);
  const found = body.orders === 'null' ? [] : [body.orders.order].flat();
  return (found as { id: number; status: string }[]).map(({ id, status }) => [id, status]);
};

it('the list of orders: those of the New York day, open ones of earlier days, and what changes on it', async () => {
  const form = { class: 'equity', symbol: 'AAPL', side: 'buy', quantity: 1, type: 'limit', duration: 'gtc' };
  await opened.send('POST', orders, { ...form, price: 101 });
  await opened.send('POST', orders, { ...form, price: 80 });
  await opened.send('POST', orders, { ...form, price: 70, duration: 'day' });
  expect(await listed()).toEqual([
    [1, 'filled'],
    [2, 'open'],
    [3, 'open'],
  ]);
  await advance('2026-01-05T23:59:00-05:00');
  expect(await listed()).toEqual([
    [1, 'filled'],
    [2, 'open'],
    [3, 'expired'],
  ]);
  await advance('2026-01-06T00:01:00-05:00');
  expect(await listed()).toEqual([[2, 'open']]);
  await advance('2026-01-06T10:00:00-05:00');
  await pushQuote(opened.owner, { bid: 79, ask: 79.5, last: 79.5 });
  expect(await listed()).toEqual([[2, 'filled']]);
  await advance('2026-01-07T00:01:00-05:00');
  expect((await opened.send('GET', orders)).text).toBe('{"orders":"null"}');
});

it('pre: accepted before the open only, and works in that session', async () => {
  const form = {
    class: 'equity',
    symbol: 'AAPL',
    side: 'buy',
    quantity: 1,
    type: 'limit',
    price: 60,
    duration: 'pre',
  };
  await advance('2026-01-07T08:00:00-05:00');
  const { body } = await opened.send('POST', orders, form);
  expect((await opened.send('GET', `${orders}/${body.order.id as number}`)).body.order).toMatchObject({
    duration: 'pre',
    status: 'open',
  });
  expect((await opened.send('POST', orders, { ...form, duration: 'post' })).text).toMatch(
    /^Invalid parameter, duration:/,
  );
  expect((await opened.send('GET', '/v1/markets/clock')).body.clock).toMatchObject({
    state: 'premarket',
    next_change: '09:30',
    next_state: 'open',
  });
  const waiting = await opened.send('POST', orders, { ...form, duration: 'day' });
  expect((await opened.send('GET', `${orders}/${waiting.body.order.id as number}`)).body.order.status).toBe(
    'pending',
  );
  await advance('2026-01-07T17:00:00-05:00');
  expect((await opened.send('GET', '/v1/markets/clock')).body.clock).toMatchObject({
    state: 'postmarket',
    next_change: '20:00',
    next_state: 'closed',
  });
  await advance('2026-01-10T12:00:00-05:00');
  expect((await opened.send('GET', '/v1/markets/clock')).body.clock).toMatchObject({
    state: 'closed',
    next_change: '04:00',
    next_state: 'premarket',
  });
});
