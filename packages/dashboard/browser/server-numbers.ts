/** The figures of the server and its limit of requests, on the page Administration. */
import { it } from 'vitest';
import { ALL_SCOPES, SOON, type Visit } from './surroundings.js';

export function serverNumbers(visit: Visit): void {
  it('shows rates, times, cells, memory, disk and webhooks, and changes the limit of requests', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    await visit.go('administration', page);
    const numbers = page.getByRole('region', { name: 'Numbers of the server' });
    const figure = (name: string) => numbers.locator('.figure').filter({ hasText: name });
    await figure('Memory')
      .getByText(/^[\d.]+ MB$/)
      .waitFor(SOON);
    await figure('Disk')
      .getByText(/ free$/)
      .waitFor(SOON);
    await figure('Time to answer, p99')
      .getByText(/^[\d.]+ m?s$/)
      .waitFor(SOON);
    expect(await figure('Cells in memory').innerText()).toMatch(/of \d+/);
    const form = page.getByRole('form', { name: 'Limit of requests' });
    await form.getByText('As the server is configured.').waitFor(SOON);
    await form.getByLabel('Requests per minute').fill('900000');
    await form.getByRole('button', { name: 'Change the limit' }).click();
    await form.getByText('The server is configured with 1,000,000.').waitFor(SOON);
    expect(await visit.station.api('GET', '/server')).toMatchObject({
      limits: { requestsPerMinute: 900_000, configured: 1_000_000 },
    });
    await form.getByRole('button', { name: 'Back to 1,000,000' }).click();
    await form.getByText('As the server is configured.').waitFor(SOON);
    await visit.leave(page);
  }, 120_000);
}
