/** Large amounts of data: scrolling many rows, and very frequent updates. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ALL_SCOPES, SOON, type Station, type Visit } from './surroundings.js';

const BULK = 10_000;
/** Portfolios of a page of the overview. */
const CARDS = 24;
/** Orders of a batch. */
const AT_ONCE = 100;
/** Changes of orders per second, and the number of seconds. */
const RATE = 50;
const SECONDS = 2;

interface Listed {
  readonly data: readonly { readonly orderId: string; readonly portfolioId: string }[];
  readonly pagination: { readonly total: number };
}

/** Places very many resting orders; resolves to their number. */
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

/** Rows per step, as a fast wheel scrolls; the number of steps; and the time limit of a frame, ms. */
const STEP_PX = 340;
const STEPS = 10;
const FRAME_MS = 1000 / 60;

/**
 * Time of the main thread for each frame while a stretch is scrolled through in these directions, ms. Takes the minimum: the cost of the
 * rows recurs each time, other work of the browser does not. Counts the thread's own time, so other load on the machine does not matter.
 */
async function framesOf(visit: Visit, directions: readonly (1 | -1)[]): Promise<readonly number[]> {
  const worked = await visit.mainThread();
  const least = Array.from({ length: STEPS }, () => Infinity);
  let before = await worked();
  for (const direction of directions) {
    for (let step = 0; step < STEPS; step += 1) {
      await visit.page.evaluate(`new Promise((resolve) => {
        document.querySelector('[aria-label="Orders"]').scrollTop += ${direction * STEP_PX};
        requestAnimationFrame(() => requestAnimationFrame(resolve));
      })`);
      const now = await worked();
      const place = direction > 0 ? step : STEPS - 1 - step;
      least[place] = Math.min(least[place] ?? Infinity, now - before);
      before = now;
    }
  }
  return least;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** `placed` is what `placeMany` resolves to. */
export function manyThings(visit: Visit, placed: () => Promise<number>): void {
  it(`scrolls through ${BULK} orders to the last, and drops no frame`, async () => {
    const { page } = visit;
    const total = await placed();
    expect(total).toBeGreaterThan(BULK);

    await visit.go('orders');
    await page.getByText(`${total.toLocaleString('en-US')} orders`).waitFor();
    const box = page.getByRole('region', { name: 'Orders' });
    const among500 = await framesOf(visit, [1]);
    await page.evaluate(`new Promise((resolve) => {
      const box = document.querySelector('[aria-label="Orders"]');
      const further = () => {
        box.scrollTop = box.scrollHeight;
        if (box.querySelector('tbody tr:last-child').getAttribute('aria-rowindex') !== '${total + 1}')
          return requestAnimationFrame(further);
        box.scrollTop -= ${2 * STEPS * STEP_PX};
        resolve();
      };
      further();
    })`);
    const amongAll = await framesOf(visit, [1, -1, 1]);
    const usual = median(among500);
    // On a slow machine frames among few rows are slow as well. A frame above both limits counts as dropped.
    expect(amongAll.filter((ms) => ms > Math.max(FRAME_MS, 2 * usual))).toEqual([]);
    expect(median(amongAll)).toBeLessThan(2 * usual);
    // Only visible rows exist.
    expect(await box.locator('tbody tr').count()).toBeLessThan(100);

    // A file has all of them, and a header.
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    expect(lines.length).toBe(total + 1);
  }, 120_000);

  it('shows the portfolios of a page by one stream, and asks for none of them', async () => {
    const page = await visit.reader(ALL_SCOPES);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await visit.go('', page);
    await expect.poll(() => page.locator('.card').count(), SOON).toBe(CARDS);
    await page.locator('.total .big').waitFor();
    expect(asked.filter((path) => path === '/v1/stream/portfolios')).toHaveLength(1);
    expect(asked.filter((path) => /^\/v1\/accounts\/portfolios\/[^/]+$/.test(path))).toEqual([]);
    // One request each for the closes (hours if there are few closes), the events due and the frame's own data.
    expect(asked.length).toBeLessThan(3 * CARDS + 25);
    await visit.leave(page);
  }, 60_000);

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
