/** Orders from the chart: a level that is dragged or moved by keys, the price of an open order, and symbols that are compared. */
import type { Locator, Page } from 'playwright-core';
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

/** Drags the line at the lowest grabbable place below the top of a chart by some pixels, as a person would who looks for it. */
async function drag(page: Page, chart: Locator, byPx: number): Promise<void> {
  const box = await chart.boundingBox();
  if (box === null) throw new Error('the chart is not seen');
  const x = box.x + box.width / 3;
  for (let y = box.y + 2; y < box.y + box.height; y += 4) {
    await page.mouse.move(x, y);
    if ((await chart.getAttribute('class')) !== 'grabbable') continue;
    await page.mouse.down();
    await page.mouse.move(x, y + byPx, { steps: 4 });
    await page.mouse.up();
    return;
  }
  throw new Error('no line was found');
}

export function chartLevels(visit: Visit): void {
  it('puts a dragged level on the ticket, replaces an order after a confirmation, and does both by keys', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(visit.station, 'levels');
    const portfolioId = await simulation.portfolio('Levels', 100_000);
    await simulation.quotes({ AAPL: [189.99, 190] });
    await simulation.clock('2026-01-06T11:00:00-05:00');
    await simulation.quotes({ AAPL: [199.99, 200] });
    await visit.go(simulation.place(`trade/AAPL?portfolio=${portfolioId}&quantity=10`), page);
    const chart = page.getByRole('img', { name: /^AAPL, \d+ bars of 1Day/ });
    const form = page.getByRole('form', { name: 'Order' });
    await chart.waitFor(SOON);
    // A level begins in the middle of the market; below it a purchase is a limit, above it a stop.
    await page.getByRole('button', { name: 'Order at a price' }).click(SOON);
    const level = page.getByRole('slider', { name: 'Ticket: buy limit' });
    await expect.poll(() => level.getAttribute('aria-valuetext'), SOON).toMatch(/^(199\.99|200\.00)$/);
    await drag(page, chart, 40);
    await expect
      .poll(async () => Number(await form.getByLabel('Limit price').inputValue()), SOON)
      .toBeLessThan(199.9);
    // On a tick.
    expect(await form.getByLabel('Limit price').inputValue()).toMatch(/^\d+(\.\d{1,2})?$/);
    await drag(page, chart, -90);
    await expect.poll(() => form.getByLabel('Type').inputValue(), SOON).toBe('STOP');
    const stop = Number(await form.getByLabel('Stop price').inputValue());
    expect(stop).toBeGreaterThan(200);

    // By keys: a tick with an arrow, ten with Page Up, Enter to the button.
    const asStop = page.getByRole('slider', { name: 'Ticket: buy stop' });
    await asStop.focus();
    await page.keyboard.press('PageUp');
    await page.keyboard.press('ArrowDown');
    await expect
      .poll(async () => Number(await form.getByLabel('Stop price').inputValue()), SOON)
      .toBeCloseTo(stop + 0.09, 6);
    await form.getByLabel('Type').selectOption('LIMIT');
    await form.getByLabel('Limit price').fill('190');
    const place = form.getByRole('button', { name: 'Place order: Buy 10 AAPL, limit 190.00' });
    await place.waitFor(SOON);
    await page.getByRole('slider', { name: 'Ticket: buy limit' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.getByText('Placed: Buy 10 AAPL, limit 190.00.').waitFor(SOON);

    // The open order has a line of its own. Its change waits for a confirmation, and Escape takes it back.
    const { data } = await simulation.api<{ data: { orderId: string }[] }>('GET', '/orders');
    const limitOf = async (): Promise<number> =>
      (await simulation.api<{ limitPrice: number }>('GET', `/orders/${data[0]?.orderId}`)).limitPrice;
    const line = page.getByRole('slider', { name: 'Buy 10 limit', exact: true });
    const question = page.getByRole('group', { name: 'Change of an order' });
    await line.focus();
    await page.keyboard.press('ArrowUp');
    await question.getByText('Buy 10 AAPL: limit 190.00 → 190.01').waitFor(SOON);
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached', ...SOON });
    expect(await line.getAttribute('aria-valuetext')).toBe('190.00');
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Enter');
    await question.getByRole('button', { name: 'Replace order' }).waitFor(SOON);
    expect(await limitOf()).toBe(190);
    await page.keyboard.press('Enter');
    await expect.poll(limitOf, SOON).toBe(190.1);
    await expect.poll(() => line.getAttribute('aria-valuetext'), SOON).toBe('190.10');
    // A limit across the market is announced as one that fills at once.
    await simulation.quotes({ AAPL: [190.49, 190.5] });
    for (let count = 0; count < 45; count += 1) await line.press('PageUp');
    await question.getByText(/it fills at once at the market/).waitFor(SOON);
    await question.getByRole('button', { name: 'Keep 190.10' }).click();
    expect(await limitOf()).toBe(190.1);
    await visit.leave(page);
  }, 120_000);

  it('compares symbols in percent from the left edge of the chart, and draws indicators in panes', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(visit.station, 'compared');
    const portfolioId = await simulation.portfolio('Compared', 100_000);
    await simulation.quotes({ AAPL: [199.99, 200.01], MSFT: [399.99, 400.01] });
    await simulation.clock('2026-01-05T16:00:00-05:00');
    await simulation.clock('2026-01-06T11:00:00-05:00');
    await simulation.quotes({ AAPL: [209.99, 210.01], MSFT: [379.99, 380.01] });
    await visit.go(simulation.place(`trade/AAPL?portfolio=${portfolioId}`), page);
    await page.getByRole('img', { name: /^AAPL, [1-9]\d* bars of 1Day/ }).waitFor(SOON);
    await page.getByText('Compare', { exact: true }).click();
    await page.getByLabel('Symbol to compare').fill('msft');
    await page.keyboard.press('Enter');
    const legend = page.getByRole('list', { name: 'Change since the left edge' });
    // From 200 to 210, and from 400 to 380.
    await expect.poll(() => legend.innerText(), SOON).toMatch(/AAPL\s+\+5\.00%[\s\S]*MSFT\s+−5\.00%/);
    expect(page.url()).toContain('compare=MSFT');
    await simulation.quotes({ MSFT: [419.99, 420.01] });
    await expect.poll(() => legend.innerText(), SOON).toMatch(/MSFT\s+\+5\.00%/);
    await page.getByLabel('Symbol to compare').fill('nothing');
    await page.keyboard.press('Enter');
    await expect.poll(() => legend.innerText(), SOON).toMatch(/NOTHING\s+no bars/);
    await legend.getByRole('button', { name: 'Stop comparing with NOTHING' }).click();
    await legend.getByRole('button', { name: 'Stop comparing with MSFT' }).click();
    await page
      .getByLabel('Bar', { exact: true })
      .getByText(/C 210\.0?0/)
      .waitFor(SOON);

    await page.getByText('Indicators', { exact: true }).click();
    await page.getByLabel('MACD').check();
    await page.getByLabel('RSI 14').check();
    await page.getByText('Indicators (2)').waitFor(SOON);
    await visit.leave(page);
  }, 120_000);
}
