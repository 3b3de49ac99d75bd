import { describe, expect, it } from 'vitest';
import type { AnswerError } from '../index.js';
import {
  connect,
  InsufficientFundsError,
  NotFilledError,
  NotFoundError,
  Sandpit,
  spreadOf,
  UnauthorizedError,
  UnreachableError,
  ValidationError,
} from '../index.js';
import { sandbox } from './index.js';

describe('a sandbox', () => {
  it('sandbox: moves the market only when the test does', async () => {
    await using sim = await sandbox({ cash: 10_000, seed: 7 });
    await sim.quote('AAPL', 187.59, 187.6);
    const order = await sim.portfolio.buy('AAPL', 10, { limit: 187.5 });
    expect((await order.refresh()).data.waitingFor).toBe('ask 187.60 above limit 187.50');
    const [filled] = await Promise.all([order.filled(), sim.quote('AAPL', 187.48, 187.5)]);
    expect(filled).toMatchObject({ status: 'FILLED', averagePrice: 187.5 });
    await sim.advance('P1D');
    expect(await sim.portfolio.positions()).toMatchObject([{ symbol: 'AAPL', settledQuantity: 10 }]);
    expect((await sim.portfolio.show()).settledCash).toBe(10_000 - 1875);
    expect((await order.executions())[0]).toMatchObject({ quantity: 10, price: 187.5 });
  });

  it('sandbox: repeats with the same seed, and is isolated from other sandboxes', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 2; i += 1) {
      await using sim = await sandbox({ seed: 'same' });
      await sim.quote('AAPL', 10, 10.01);
      ids.push((await sim.portfolio.buy('AAPL', 1)).id);
    }
    expect(ids[0]).toBe(ids[1]);
  });

  it('brackets, sells short, covers, cancels, updates', async () => {
    await using sim = await sandbox({ portfolioType: 'MARGIN', cash: 50_000 });
    await sim.quote('MSFT', 99.99, 100);
    const entry = await sim.portfolio.buy('MSFT', 10, { takeProfit: 110, stopLoss: 90 });
    await entry.filled();
    await sim.quote('MSFT', 110, 110.01);
    const orders = [];
    for await (const one of sim.client.list('listOrders')) orders.push(one);
    expect(orders.map(({ status }) => status).sort()).toEqual(['CANCELED', 'FILLED', 'FILLED']);

    await (await sim.portfolio.short('MSFT', 5)).filled();
    const cover = await sim.portfolio.cover('MSFT', 5, { limit: 100 });
    expect((await cover.update({ limitPrice: 101 })).data.limitPrice).toBe(101);
    await cover.cancel();
    expect((await cover.settled()).status).toBe('CANCELED');
    await expect(cover.filled()).rejects.toThrow(NotFilledError);
  });

  it('previews and trades spreads and futures', async () => {
    await using sim = await sandbox({ portfolioType: 'MARGIN', cash: 50_000 });
    const [low, high] = ['AAPL260116C00150000', 'AAPL260116C00160000'];
    await sim.quote('AAPL', 149.99, 150.01);
    await sim.quote(low, 5, 5.1);
    await sim.quote(high, 2, 2.1);
    const legs = [
      { symbol: low, contracts: 2 },
      { symbol: high, contracts: -2 },
    ];
    const preview = await sim.portfolio.preview(spreadOf('VERTICAL_SPREAD', legs, { limit: 3.1 }));
    expect(preview.rejections).toEqual([]);
    const spread = await sim.portfolio.spread('VERTICAL_SPREAD', legs, { limit: 3.1 });
    expect(await spread.filled()).toMatchObject({ averagePrice: 3.1, filledQuantity: 2 });
    expect((await sim.portfolio.options()).map(({ quantity }) => quantity).sort()).toEqual([-2, 2]);
    await sim.quote('ESH26', 5000, 5000.25);
    await (await sim.portfolio.buy('ESH26', 1)).filled();
    expect(await sim.portfolio.futures()).toMatchObject([{ symbol: 'ESH26', quantity: 1 }]);
  });

  it('throws a class for each error, with the figures', async () => {
    await using sim = await sandbox({ cash: 100 });
    await sim.quote('AAPL', 187.59, 187.6);
    const refused = await sim.portfolio.buy('AAPL', 10, { limit: 200 }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InsufficientFundsError);
    expect((refused as InsufficientFundsError).figures).toMatchObject({ availableCash: 100 });
    expect((refused as AnswerError).requestId).toMatch(/./);
    await expect(sim.portfolio.buy('AAPL', -1)).rejects.toThrow(ValidationError);
    await expect(sim.client.order('11111111-1111-4111-8111-111111111111')).rejects.toThrow(NotFoundError);
    const { fetch } = sim;
    const stranger = new Sandpit({ url: 'http://any.example', token: 'a.b.c' }, { fetch });
    await expect(stranger.quote('AAPL')).rejects.toThrow(UnauthorizedError);
    const nowhere = await connect({ url: 'http://127.0.0.1:9', token: 'x', retryForMs: 0 });
    await expect(nowhere.quote('AAPL')).rejects.toThrow(UnreachableError);
  });

  it('streams quotes, portfolios and orders', async () => {
    await using sim = await sandbox();
    await sim.quote('AAPL', 9.99, 10);
    const quotes = sim.client.quoteEvents(['AAPL']);
    expect((await quotes.next()).value).toMatchObject({ symbol: 'AAPL', ask: 10 });
    await quotes.return();
    const portfolios = sim.client.portfolioEvents({ portfolioId: sim.portfolio.id });
    expect((await portfolios.next()).value).toMatchObject({ portfolioId: sim.portfolio.id, equities: [] });
    await portfolios.return();

    let isOpen: () => void = () => undefined;
    const open = new Promise<void>((resolve) => (isOpen = resolve));
    const events = sim.client.orderEvents({}, { onOpen: isOpen });
    const first = events.next();
    await open;
    await sim.portfolio.buy('AAPL', 1);
    const seen = [(await first).value];
    while (seen.at(-1)?.event !== 'FILLED') seen.push((await events.next()).value);
    await events.return();
    expect(seen.map((one) => one?.event)).toEqual(['PENDING', 'RESERVING', 'ACTIVE', 'FILLED']);
    // From the middle on, as after a lost connection.
    const rest = sim.client.orderEvents({}, { lastEventId: seen[1]?.eventId });
    expect((await rest.next()).value).toMatchObject({ event: 'ACTIVE' });
    await rest.return();
  });

  it('places an order once, however often it is asked with one key', async () => {
    await using sim = await sandbox();
    await sim.quote('AAPL', 9.99, 10);
    const keyed = { idempotencyKey: 'only-once' };
    const orders = await Promise.all([1, 2, 3].map(() => sim.portfolio.buy('AAPL', 1, keyed)));
    expect(new Set(orders.map(({ id }) => id)).size).toBe(1);
  });
});
