/** Evaluations: the list, the figures of one, why a task failed, and the simulation of an ended cell. */
import { it } from 'vitest';
import { ALL_SCOPES, SOON, type Visit } from './surroundings.js';

interface Entered {
  readonly cells: readonly { readonly token: string; readonly portfolioId: string }[];
}

/** An evaluation of a task with three seeds: Ada solves it, <b>Bob</b> does nothing, and the cells of Cleo are open. */
export async function evaluated({ station }: Visit, name: string): Promise<string> {
  const { evaluationId } = await station.api<{ evaluationId: string }>('POST', '/evaluations', {
    name,
    scenarios: [
      {
        name: 'one day',
        market: {
          feed: 'synthetic',
          clock: 'manual',
          start: '2026-01-05T14:30:00Z',
          end: '2026-01-05T21:00:00Z',
        },
        rules: { initialCash: 100_000, portfolioType: 'CASH', brokerId: 'default', assetClasses: ['EQUITY'] },
        seeds: [1, 2, 3],
        tasks: [
          {
            name: 'hold ten',
            instructions: 'Hold ten shares of AAPL at the end.',
            assert: [{ when: 'end', position: { symbol: 'AAPL', quantity: 10 } }],
          },
        ],
      },
    ],
    score: 'tasksPassed',
  });
  const enter = (entrant: string): Promise<Entered> =>
    station.api('POST', `/evaluations/${evaluationId}/entries`, { entrant });
  const order = {
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    timeInForce: 'DAY',
    quantity: 10,
  };
  for (const entrant of ['Ada', '<b>Bob</b>'])
    for (const { token, portfolioId } of (await enter(entrant)).cells) {
      if (entrant === 'Ada')
        await station.api('POST', '/orders', { ...order, portfolioId, positionIntent: 'BUY_TO_OPEN' }, token);
      await station.api('POST', '/evaluation/finish', {}, token);
    }
  await enter('Cleo');
  return evaluationId;
}

export function evaluations(visit: Visit): void {
  it('shows figures, pairs, cells and the reason why a task failed, and opens the simulation of an ended cell', async ({
    expect,
  }) => {
    await evaluated(visit, 'Agents <b>of</b> spring');
    const page = await visit.reader(ALL_SCOPES);
    await visit.go('', page);
    await page.getByRole('link', { name: 'Evaluations' }).click();
    await page.getByRole('link', { name: 'Agents <b>of</b> spring' }).click();
    await page.getByRole('heading', { name: 'Agents <b>of</b> spring' }).waitFor(SOON);
    const summary = page.getByRole('region', { name: 'Entrants' });
    await expect
      .poll(() => summary.innerText(), SOON)
      .toMatch(/Ada[\s\S]*1\.0000[\s\S]*1\.0000 to 1\.0000[\s\S]*100.0%/);
    expect(await summary.innerText()).toContain('<b>Bob</b>');
    const pairs = page.getByRole('region', { name: 'Differences of pairs' });
    expect(await pairs.innerText()).toMatch(/<b>Bob<\/b> − Ada\s+−1\.0000/);
    await page.getByText('Fewer than five markets give no stable mean').waitFor();
    const tasks = page.getByRole('region', { name: 'Results of tasks' });
    await expect
      .poll(() => tasks.innerText(), SOON)
      .toContain('the position in AAPL was 0; expected exactly 10.');
    const matrix = page.getByRole('region', { name: 'Matrix' });
    // The house plays its cells behind those of the entrants.
    await expect.poll(() => matrix.getByRole('link').count(), SOON).toBe(9);
    expect(await matrix.innerText()).toMatch(/Cleo[\s\S]*1 Open/);
    // On a phone the page is as wide as the screen.
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1280, height: 800 });

    await matrix.getByRole('link', { name: 'Ada, one day, 1: 1.0000, 1 of 1, Done' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor(SOON);
    await page.locator('main a[href*="/portfolio/"]').first().click();
    await page.getByText('AAPL').first().waitFor(SOON);
    const refused = await page.evaluate<number>(
      `(async () => {
        const [, cell] = /#\\/~([^/]+)/.exec(location.hash);
        const token = JSON.parse(localStorage.getItem('sandpit-tokens'))[cell];
        const body = JSON.stringify({ portfolioId: location.hash.split('/').at(-1).split('?')[0], symbol: 'AAPL', assetClass: 'EQUITY', orderType: 'MARKET', positionIntent: 'BUY_TO_OPEN', quantity: 1, timeInForce: 'DAY' });
        const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
        return (await fetch('/v1/orders', { method: 'POST', headers, body })).status;
      })()`,
    );
    expect(refused).toBe(409);
    await visit.leave(page);
  }, 120_000);
}
