/** Slips of the hand that must not cost money: a key that is held down, a double click, an Enter out of habit. */
import type { Page } from 'playwright-core';
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

/** Holds Enter down as an operating system does: repeated keydown events, one keyup. */
async function holdEnter(page: Page): Promise<void> {
  for (let repeats = 0; repeats < 25; repeats += 1) await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
}

export function slips(visit: Visit): void {
  it('places one order by a held Enter key, a double click, or an Enter after the order', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(visit.station, 'slips');
    const portfolioId = await simulation.portfolio('Slips', 100_000);
    await simulation.quotes({ AAPL: [187.59, 187.6], MSFT: [410, 410.1] });
    const orders = async (): Promise<readonly string[]> => {
      const { data } = await simulation.api<{
        data: { symbol: string; quantity: number; positionIntent: string; clientOrderId?: string }[];
      }>('GET', '/orders');
      expect(new Set(data.map(({ clientOrderId }) => clientOrderId)).size).toBe(data.length);
      return data.map((one) => `${one.positionIntent} ${String(one.quantity)} ${one.symbol}`).toReversed();
    };
    await visit.go(simulation.place(`trade/AAPL?portfolio=${portfolioId}`), page);
    const form = page.getByRole('form', { name: 'Order' });
    const place = (text: string) => form.getByRole('button', { name: `Place order: ${text}, market` });
    const disarmed = form.getByRole('button', { name: 'Order sent. Change the ticket for another.' });
    const placed = (text: string) => page.getByRole('status').getByText(`Placed: ${text}, market.`);

    // Held from the field on, Enter does not go past the button; held on the button, it places one order.
    await form.getByLabel('Shares').fill('10');
    await form.getByLabel('Shares').focus();
    await holdEnter(page);
    await expect
      .poll(() => page.evaluate('document.activeElement.ariaLabel'), SOON)
      .toBe('Place order: Buy 10 AAPL, market');
    expect(await orders()).toEqual([]);
    await holdEnter(page);
    await placed('Buy 10 AAPL').waitFor(SOON);
    await disarmed.waitFor(SOON);
    // The keyboard is at the line of the order, where Enter does nothing.
    await expect.poll(() => page.evaluate('document.activeElement.innerText'), SOON).toContain('Placed: ');
    await holdEnter(page);
    await disarmed.focus();
    await page.keyboard.press('Enter');
    expect(await orders()).toEqual(['BUY_TO_OPEN 10 AAPL']);

    // Escape, `s`, a symbol, Enter: the ticket is one to sell, and nothing is sent before its button is pressed.
    await page.getByRole('tab', { name: 'Positions (1)' }).waitFor(SOON);
    await page.keyboard.press('Escape');
    await page.keyboard.press('s');
    await expect.poll(() => page.evaluate('document.activeElement.name'), SOON).toBe('symbol');
    await page.keyboard.type('aapl');
    await page.keyboard.press('Enter');
    await expect.poll(() => form.locator('.place').innerText(), SOON).toBe('Sell 10 AAPL, market');
    await expect.poll(() => page.evaluate('document.activeElement.name'), SOON).toBe('quantity');
    expect(await orders()).toEqual(['BUY_TO_OPEN 10 AAPL']);

    // A double click places one order.
    await form.getByLabel('Shares').fill('4');
    await place('Sell 4 AAPL').dblclick();
    await placed('Sell 4 AAPL').waitFor(SOON);
    await disarmed.waitFor(SOON);
    expect(await orders()).toEqual(['BUY_TO_OPEN 10 AAPL', 'SELL_TO_CLOSE 4 AAPL']);

    // A view of the page is no term of the order; repeating the order requires a confirmation.
    await page.getByRole('tab', { name: 'Fills' }).click();
    await disarmed.waitFor();
    await page.getByRole('button', { name: 'Repeat order' }).click();
    await place('Sell 4 AAPL').click();
    await expect.poll(orders, SOON).toHaveLength(3);

    // The answer of an order is lost: the second try finds the order.
    await disarmed.waitFor(SOON);
    await form.getByLabel('Shares').fill('1');
    const route = '**/v1/orders';
    await page.route(route, async (intercepted) => {
      if (intercepted.request().method() !== 'POST') return intercepted.continue();
      await intercepted.fetch();
      await intercepted.fulfill({ status: 500, json: { statusCode: 500, message: 'Internal server error' } });
    });
    await place('Sell 1 AAPL').click();
    await form.getByRole('alert').waitFor(SOON);
    await page.unroute(route);
    await place('Sell 1 AAPL').click();
    await placed('Sell 1 AAPL').waitFor(SOON);
    expect(await orders()).toHaveLength(4);

    // A rejected order leaves the ticket armed; Escape leaves its button, so that the next Enter is not for it.
    await form.getByLabel('Shares').fill('9,000');
    await form.getByRole('button', { name: 'Buy', exact: true }).click();
    await place('Buy 9,000 AAPL').click();
    await form.getByRole('alert').waitFor(SOON);
    await place('Buy 9,000 AAPL').focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');

    // A double click on a change of the portfolio asks, and does not confirm.
    await visit.go(simulation.place(`portfolio/${portfolioId}?section=manage`), page);
    const reset = page.getByRole('form', { name: 'Reset' });
    await reset.getByRole('button', { name: 'Reset', exact: true }).dblclick();
    await reset.getByRole('button', { name: 'Confirm: reset' }).waitFor();
    const cash = page.getByRole('form', { name: 'Deposit or withdraw' });
    await cash.getByLabel('Amount').fill('1,000');
    await cash.getByLabel('Amount').focus();
    await holdEnter(page);
    await cash.getByRole('button', { name: 'Confirm: deposit' }).dblclick();
    await cash.getByText('+$1,000.00 was booked.').waitFor(SOON);
    const { data } = await simulation.api<{ data: { type: string }[] }>(
      'GET',
      `/accounts/portfolios/${portfolioId}/ledger?limit=500`,
    );
    const types = data.map(({ type }) => type);
    expect(types.filter((type) => type === 'TRANSFER')).toHaveLength(1);
    expect(types).not.toContain('RESET');
    await visit.leave(page);
  }, 120_000);
}
