/** Workflows of more than one order: a spread until it expires, a margin call until it is met. */
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

export function optionsAndMargin(visit: Visit): void {
  it('follows an option spread from the ticket to its expiry', async ({ expect }) => {
    const { station } = visit;
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(station, 'a spread');
    const portfolioId = await simulation.portfolio('Spreads', 50_000);
    await simulation.quotes({
      AAPL: [187.59, 187.6],
      AAPL260109C00185000: [4.1, 4.2],
      AAPL260109C00187500: [2.6, 2.7],
      AAPL260109C00190000: [1.4, 1.5],
      AAPL260109C00192500: [0.6, 0.7],
    });
    await visit.go(simulation.place(`trade/AAPL?portfolio=${portfolioId}&show=options`), page);
    const chain = page.getByRole('region', { name: 'Option chain' });
    await chain.getByRole('button', { name: 'Buy 187.50 call at 2.70' }).click();
    await chain.getByRole('button', { name: 'Sell 192.50 call at 0.60' }).click();
    const form = page.getByRole('form', { name: 'Order' });
    await form.getByText('Bull call spread 187.5/192.5 Jan 9', { exact: true }).waitFor(SOON);
    // 2.70 is asked, 0.60 is bid.
    expect(await form.getByLabel('Net price').inputValue()).toBe('2.1');
    expect(await form.getByRole('button', { name: 'Debit', exact: true }).getAttribute('aria-pressed')).toBe(
      'true',
    );
    await form.getByLabel('Net price').fill('2.05');
    // 5.00 between the strikes, 2.05 paid: at worst 205 are lost, at best 295 won.
    await page
      .getByRole('img', { name: /^Profit of a unit at expiration from −\$205\.00 to \$295\.00/ })
      .waitFor(SOON);
    await page.getByText('The order would be accepted.').waitFor(SOON);
    await form
      .getByRole('button', {
        name: 'Place order: 1 × AAPL Bull call spread 187.5/192.5 Jan 9, 2.05 debit',
      })
      .click();
    await page.getByRole('link', { name: 'Show the order' }).click();
    // The requested net is 2.70 − 0.60.
    await page.getByLabel('Order details').getByText('Waiting for: net').waitFor();
    await simulation.quotes({ AAPL260109C00187500: [2.55, 2.65] });
    await expect
      .poll(() => page.getByLabel('Order details').innerText(), SOON)
      .toMatch(/Filled[\s\S]*1 at 2\.65[\s\S]*1 at 0\.60/);

    const { orderId: restingId } = await simulation.api<{ orderId: string }>('POST', '/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      limitPrice: 100,
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'GTC',
    });

    await visit.go(simulation.place(`portfolio/${portfolioId}`), page);
    const strategies = page.getByRole('region', { name: 'Strategies' });
    await expect
      .poll(() => strategies.innerText(), SOON)
      .toMatch(
        /AAPL Bull call spread 187\.5\/192\.5 Jan 9\s+1 Jan 9, 2026 187\.50 call, −1 Jan 9, 2026 192\.50 call/,
      );

    await simulation.clock('2026-01-09T15:30:00-05:00');
    await simulation.quotes({ AAPL: [194.99, 195] });
    await page.getByRole('button', { name: 'Next expiry' }).click();
    await page.getByText('No positions.').waitFor(SOON);
    // 50,000 − 2.05 × 100 − commissions + 5.00 × 100.
    await visit.go(simulation.place(`activity/${portfolioId}?category=OPTION`), page);
    await expect
      .poll(() => page.getByRole('region', { name: 'Activities' }).innerText(), SOON)
      .toMatch(
        /192\.50 call assigned[\s\S]*187\.50 call exercised|187\.50 call exercised[\s\S]*192\.50 call assigned/,
      );

    // The history of an order of several days has dates.
    await simulation.api('PUT', `/orders/${restingId}/cancel`);
    await visit.go(simulation.place(`orders?order=${restingId}`), page);
    await expect
      .poll(() => page.getByLabel('Order details').innerText(), SOON)
      .toMatch(/Jan 5, 2026, 10:00:00 AM ET Created[\s\S]*Jan 9, 2026, \d+:\d+:\d+ PM ET Canceled/);
    await visit.leave(page);
  }, 120_000);

  it('tells a margin call and the liquidation that met it, step by step', async ({ expect }) => {
    const { station } = visit;
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(station, 'a call');
    const portfolioId = await simulation.portfolio('Too much', 10_000);
    await simulation.quotes({ AAPL: [187.59, 187.6] });
    await simulation.buy(portfolioId, 100);
    // 11,000 of stock on a loan of 8,760: 2,240 of equity; a quarter of 11,000 is required.
    await simulation.quotes({ AAPL: [110, 110] });
    await simulation.clock('2026-01-05T10:00:05-05:00');
    await visit.go(simulation.place(''), page);
    await page.locator('.card').getByText('Margin call').waitFor(SOON);
    await page.getByRole('link', { name: 'Too much' }).click();
    await page.getByRole('link', { name: 'Margin call history' }).click();
    const calls = page.getByRole('region', { name: 'Calls', exact: true });
    await expect.poll(() => calls.innerText(), SOON).toMatch(/Maintenance\s+\$510\.00\s+\$510\.00\s+Open/);

    // 27.50 of requirement a share: nineteen of them release the amount due.
    const notice = page.getByRole('status', { name: 'Margin call' });
    await notice.getByText('deposit $510.00 or sell 19 AAPL by Jan 8, 2026, 12:00:00 PM ET').waitFor(SOON);
    await notice.getByRole('button', { name: 'Why' }).click();
    const rule = page.getByRole('complementary', { name: 'Rule', exact: true });
    await rule.getByRole('heading', { name: 'Margin calls' }).waitFor();
    await page.keyboard.press('Escape');
    await rule.waitFor({ state: 'detached' });
    // The amount due moves with the market.
    await simulation.quotes({ AAPL: [109, 109] });
    await notice.getByText('deposit $510.00 or sell 19 AAPL').waitFor({ state: 'detached', ...SOON });
    await simulation.quotes({ AAPL: [110, 110] });
    await notice.getByText('deposit $510.00 or sell 19 AAPL').waitFor(SOON);

    // Without a deposit, it is due three business days later, at noon.
    await simulation.clock('2026-01-08T11:59:00-05:00');
    await simulation.quotes({ AAPL: [110, 110] });
    await page.getByRole('button', { name: '+1 minute' }).click();
    await simulation.quotes({ AAPL: [110, 110.01] });
    await simulation.clock('2026-01-08T12:00:10-05:00');
    await expect.poll(() => calls.innerText(), SOON).toMatch(/Maintenance\s+\$510\.00\s+Liquidated/);
    await page.getByText(/were missing: closing \d+ AAPL, which frees most for what it costs/).waitFor();
    await page.getByRole('link', { name: 'orders in AAPL' }).first().click();
    await expect
      .poll(() => page.locator('[aria-label="Orders"] tbody').innerText(), SOON)
      .toMatch(/Sell \d+ AAPL[\s\S]*Filled[\s\S]*Buy 100 AAPL/);

    // A call moves no cash, and is described in words.
    await visit.go(simulation.place(`activity/${portfolioId}?category=MARGIN`), page);
    const activities = page.getByRole('region', { name: 'Activities' });
    await expect
      .poll(() => activities.innerText(), SOON)
      .toContain('Maintenance call of $510.00, due Jan 8, 2026, 12:00:00 PM ET');
    expect(await activities.innerText()).not.toMatch(/\+\$|MAINTENANCE|\d{4}-\d{2}-\d{2}/);

    // All columns are visible on a small laptop.
    await page.setViewportSize({ width: 1024, height: 768 });
    await visit.go(simulation.place(`activity/${portfolioId}`), page);
    await activities.getByText('Bought 100 AAPL').waitFor(SOON);
    expect(
      await activities.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
    ).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 720 });

    // A deposit shows its effect, and is executed on confirmation.
    await visit.go(simulation.place(`portfolio/${portfolioId}?section=manage`), page);
    const deed = page.getByRole('form', { name: 'Deposit or withdraw' });
    await deed.getByLabel('Amount').fill('1,000');
    await deed.getByText(/equity becomes \$/).waitFor();
    await deed.getByRole('button', { name: 'Deposit', exact: true }).click();
    await deed.getByRole('button', { name: 'Confirm: deposit' }).click();
    await deed.getByText('+$1,000.00 was booked.').waitFor();

    // A deposit makes the portfolio eligible for another margin type.
    const margin = page.getByRole('form', { name: 'Margin type' });
    await margin
      .getByText(/^Not possible yet\. Total equity of at least \$110,000\.00 is required/)
      .waitFor();
    const deposit = async (amount: string): Promise<void> => {
      await deed.getByLabel('Amount').fill(amount);
      await deed.getByRole('button', { name: 'Deposit', exact: true }).click();
      await deed.getByRole('button', { name: 'Confirm: deposit' }).click();
      await deed.getByText(`+$${amount}.00 was booked.`).waitFor(SOON);
    };
    await deposit('200,000');
    await margin.getByText('Requirements become those of the risk array').waitFor(SOON);
    await margin.getByRole('button', { name: 'Change', exact: true }).click();
    await margin.getByRole('button', { name: 'Confirm: change' }).click();
    await margin.getByText('The portfolio has Portfolio margin.').waitFor(SOON);
    await deposit('500');
    const { totalEquity, marginType } = await simulation.api<{ totalEquity: number; marginType: string }>(
      'GET',
      `/accounts/portfolios/${portfolioId}`,
    );
    expect(marginType).toBe('PORTFOLIO');
    await page
      .getByText(totalEquity.toLocaleString('en-US', { minimumFractionDigits: 2 }))
      .first()
      .waitFor(SOON);
    await visit.leave(page);
  }, 120_000);
}
