/** Option positions that are closed and rolled as one order, by one name from the chain to the list of orders. */
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

const QUOTES = {
  AAPL: [200.59, 200.6],
  AAPL260109C00200000: [5.9, 6],
  AAPL260109C00205000: [3, 3.1],
  AAPL260109C00210000: [1.4, 1.5],
  AAPL260109C00215000: [0.4, 0.5],
  AAPL260116C00200000: [7.9, 8],
  AAPL260116C00205000: [4.9, 5],
} as const;

export function rolls(visit: Visit): void {
  it('rolls a spread as one order in the middle, by the same name in ticket, list and position', async ({
    expect,
  }) => {
    const { station } = visit;
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(station, 'a roll');
    const portfolioId = await simulation.portfolio('Spreads', 50_000);
    await simulation.quotes({ ...QUOTES });
    const leg = (optionSymbol: string, positionIntent: string) => ({
      optionSymbol,
      positionIntent,
      quantity: 1,
    });
    await simulation.api('POST', '/orders', {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'OPTION',
      orderType: 'MARKET',
      positionIntent: 'SELL_TO_OPEN',
      timeInForce: 'DAY',
      strategy: 'VERTICAL_SPREAD',
      quantity: 2,
      legs: [leg('AAPL260109C00200000', 'SELL_TO_OPEN'), leg('AAPL260109C00205000', 'BUY_TO_OPEN')],
    });
    await visit.go(simulation.place(`portfolio/${portfolioId}`), page);
    const strategies = page.getByRole('region', { name: 'Strategies' });
    await strategies.getByRole('button', { name: 'Roll AAPL Bear call spread 200/205 Jan 9' }).click(SOON);
    const dialog = page.getByRole('dialog', { name: 'Roll AAPL' });
    await dialog.getByText('Roll bear call spread 200/205 Jan 9 → Jan 16').waitFor(SOON);
    // 5.95 − 3.05 to close, 7.95 − 4.95 to open.
    await dialog.getByText('In the middle: 0.10 credit a share, +$20.00 in all.').waitFor(SOON);
    await dialog.getByLabel('Expiration').selectOption('2026-01-09');
    await dialog.getByLabel('Strikes').selectOption({ label: '2 up: 210/215' });
    // 5.95 − 3.05 − 1.45 + 0.45.
    await dialog.getByText('In the middle: 1.90 debit a share, −$380.00 in all.').waitFor(SOON);
    await dialog.getByRole('button', { name: 'Put on the ticket' }).click();
    const form = page.getByRole('form', { name: 'Order' });
    await page.getByText('The order would be accepted.').waitFor(SOON);
    await form
      .getByRole('button', {
        name: 'Place order: 2 × AAPL Roll bear call spread 200/205 → 210/215 Jan 9, 1.90 debit',
      })
      .click();
    await page.getByRole('link', { name: 'Show the order' }).click();
    const details = page.getByLabel('Order details');
    await details
      .getByRole('heading', { name: '2 × AAPL Roll bear call spread 200/205 → 210/215 Jan 9' })
      .waitFor(SOON);
    await simulation.quotes({ AAPL260109C00210000: [1.6, 1.7] });
    await details.getByText('2 at 1.60').waitFor(SOON);
    await visit.go(simulation.place('orders'), page);
    await expect
      .poll(() => page.locator('[aria-label="Orders"] tbody tr').first().innerText(), SOON)
      .toMatch(
        /Jan 5, 2026[\s\S]*2 × AAPL Roll bear call spread 200\/205 → 210\/215 Jan 9\s+Spreads[\s\S]*Filled/,
      );

    // One click closes the remaining spread, at the mid as well.
    await visit.go(simulation.place(`portfolio/${portfolioId}`), page);
    await strategies.getByRole('link', { name: 'Close AAPL Bear call spread 210/215 Jan 9' }).click(SOON);
    await form
      .getByRole('button', {
        name: 'Place order: 2 × AAPL Close bear call spread 210/215 Jan 9, 1.20 debit',
      })
      .waitFor(SOON);

    // On a laptop the payoff is next to the chain.
    await page.setViewportSize({ width: 1280, height: 800 });
    const chain = await page.getByRole('region', { name: 'Option chain' }).boundingBox();
    const tray = await page.getByRole('region', { name: 'Strategy' }).boundingBox();
    expect(tray?.x).toBeGreaterThan((chain?.x ?? 0) + (chain?.width ?? 0));
    expect(tray?.y).toBeLessThan((chain?.y ?? 0) + 10);
    expect(await page.getByLabel('Expiration').first().innerText()).toContain('Jan 9, 2026 · 4 days');
    await visit.leave(page);
  }, 120_000);
}
