/** Watch lists: several by name, symbols in an order, by keyboard, kept over a reload, with one request for all lines. */
import { it } from 'vitest';
import { ALL_SCOPES, OwnSimulation, SOON, type Visit } from './surroundings.js';

export function watchLists(visit: Visit): void {
  it('keeps named lists with names, lines and an order, and reads the day of all symbols at once', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    const simulation = await OwnSimulation.make(visit.station, 'lists');
    await simulation.quotes({ AAPL: [187.59, 187.6], MSFT: [410, 410.1] });
    await simulation.clock('2026-01-05T10:06:00-05:00');
    await simulation.quotes({ AAPL: [188, 188.1] });
    await simulation.clock('2026-01-05T10:12:00-05:00');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/bars')) asked.push(new URL(request.url()).pathname);
    });
    await visit.go(simulation.place('trade/AAPL'), page);
    const watch = page.getByRole('region', { name: 'Watch list', exact: true }).first();
    const rows = watch.getByRole('listitem');
    await rows.filter({ hasText: 'AAPL' }).getByText('188.05').waitFor(SOON);
    await rows.filter({ hasText: 'AAPL' }).getByText('Apple Inc.').waitFor(SOON);
    await watch.getByRole('img', { name: 'AAPL today' }).waitFor(SOON);
    // The chart asks for its symbol; the list asks for all of its symbols together.
    expect(asked.filter((path) => path.endsWith('/MSFT'))).toEqual([]);
    expect(asked).toContain('/v1/market-data/bars/batch');

    // Alt with an arrow moves a symbol, an arrow the focus, Delete removes.
    const symbols = async (): Promise<readonly string[]> => rows.locator('strong').allInnerTexts();
    await rows.first().getByRole('link').focus();
    await page.keyboard.press('Alt+ArrowDown');
    await expect.poll(symbols, SOON).toEqual(['MSFT', 'AAPL', 'NVDA', 'SPY']);
    await rows.first().getByRole('link').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Delete');
    await expect.poll(symbols, SOON).toEqual(['MSFT', 'AAPL', 'SPY']);

    const list = async (action: string): Promise<void> => {
      await watch.getByRole('button', { name: 'Actions of the list' }).click();
      await page.getByRole('menuitem', { name: action, exact: true }).click();
    };
    await list('New list');
    await watch.getByLabel('Name of the list').fill('Oil');
    await page.keyboard.press('Enter');
    await watch.getByText('This list is empty. Add a symbol below.').waitFor(SOON);
    await watch.getByLabel('Symbol to watch').fill('xom');
    await page.keyboard.press('Enter');
    await watch.getByLabel('Symbol to watch').fill('ZZZZZ');
    await page.keyboard.press('Enter');
    await rows.filter({ hasText: 'ZZZZZ' }).getByText('Not listed').waitFor(SOON);
    await list('Rename');
    await watch.getByLabel('Name of the list').fill('Energy');
    await page.keyboard.press('Enter');
    await list('Move up');
    await page.reload();
    await expect.poll(symbols, SOON).toEqual(['XOM', 'ZZZZZ']);
    const names = watch.getByLabel('List', { exact: true }).getByRole('option');
    expect(await names.allInnerTexts()).toEqual(['Energy', 'Watch list']);

    // The menu of a row does what the keyboard does.
    await watch.getByRole('button', { name: 'Actions for ZZZZZ' }).click();
    await page.getByRole('menuitem', { name: 'Stop watching' }).click();
    await expect.poll(symbols, SOON).toEqual(['XOM']);
    page.once('dialog', (dialog) => void dialog.accept());
    await list('Remove');
    await expect.poll(symbols, SOON).toEqual(['MSFT', 'AAPL', 'SPY']);
    await visit.leave(page);
  }, 120_000);
}
