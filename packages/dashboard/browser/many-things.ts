/** Much of everything: rows that are scrolled through, and updates that come faster than anybody reads. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { SOON, type Station, type Visit } from './surroundings.js';

const BULK = 10_000;
/** Orders of a batch. */
const AT_ONCE = 100;
/** Changes of orders a second, and for how many seconds. */
const RATE = 50;
const SECONDS = 3;

interface Listed {
  readonly data: readonly { readonly orderId: string; readonly portfolioId: string }[];
  readonly pagination: { readonly total: number };
}

/** Places very many orders that wait; resolves to how many there are then. */
export async function placeMany(station: Station): Promise<number> {
  const accountIds = await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const accountId = randomUUID();
      const body = { accountId, portfolioType: 'CASH', accountType: 'INDIVIDUAL', brokerId: 'default' };
      await station.api('POST', '/accounts/portfolios', body);
      return accountId;
    }),
  );
  const orderData = {
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'LIMIT',
    limitPrice: 0.01,
    positionIntent: 'BUY_TO_OPEN',
    quantity: 1,
    timeInForce: 'GTC',
  };
  for (let count = 0; count < BULK; count += AT_ONCE) {
    await station.api('POST', '/orders/batch', { accountIds, orderData });
  }
  return (await station.api<Listed>('GET', '/orders?limit=1')).pagination.total;
}

/** `placed` is what `placeMany` resolves to. */
export function manyThings(visit: Visit, placed: () => Promise<number>): void {
  it(`scrolls through ${BULK} orders to the last within its frames`, async () => {
    const { page } = visit;
    const total = await placed();
    expect(total).toBeGreaterThan(BULK);

    await visit.go('orders');
    await page.getByText(`${total.toLocaleString('en-US')} orders`).waitFor();
    const box = page.getByRole('region', { name: 'Orders' });
    const worked = await visit.mainThread();
    const frames = await page.evaluate<number>(`new Promise((resolve) => {
      const box = document.querySelector('[aria-label="Orders"]');
      let frames = 0;
      const isAtEnd = () =>
        box.querySelector('tbody tr:last-child').getAttribute('aria-rowindex') === '${total + 1}' &&
        box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
      const scroll = () => {
        frames += 1;
        box.scrollTop += 3400;
        if (isAtEnd()) resolve(frames);
        else requestAnimationFrame(scroll);
      };
      requestAnimationFrame(scroll);
    })`);
    expect(frames).toBeGreaterThan((BULK * 34) / 3400 - 1);
    expect((await worked()) / frames, 'ms of the main thread in a frame of 16.7').toBeLessThan(16.7);
    // Only the rows that are seen exist.
    expect(await box.locator('tbody tr').count()).toBeLessThan(100);
  }, 120_000);

  it(`shows ${RATE} updates a second with less than 30 % of its main thread`, async () => {
    const { page, station } = visit;
    const { data } = await station.api<Listed>('GET', '/orders?limit=25&status=PENDING_MARKET_OPEN');
    await visit.go('orders?show=open');
    await page.getByText('0.01').first().waitFor(SOON);
    const worked = await visit.mainThread();
    const began = performance.now();
    const answers: Promise<unknown>[] = [];
    let last = '';
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        const order = data[answers.length % data.length];
        if (order === undefined || answers.length >= RATE * SECONDS) {
          clearInterval(timer);
          resolve();
          return;
        }
        const limitPrice = Number((0.02 + answers.length / 100).toFixed(2));
        last = limitPrice.toFixed(2);
        answers.push(station.api('PUT', `/orders/${order.orderId}`, { limitPrice }));
      }, 1000 / RATE);
    });
    await Promise.all(answers);
    await page.getByText(`Limit ${last}, GTC`).waitFor(SOON);
    const share = (await worked()) / (performance.now() - began);
    expect(share).toBeLessThan(0.3);
  }, 60_000);
}
