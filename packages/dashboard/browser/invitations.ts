/** A class from the link of its instructor to the roster: joining, trading, returning in another browser, viewing, deleting. */
import { it } from 'vitest';
import { ALL_SCOPES, SOON, type Visit } from './surroundings.js';

const CLASS = 30;

export function invitations(visit: Visit): void {
  it('invites a class of 30 by one link, and shows the instructor how each of them is doing', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    page.on('dialog', (dialog) => void dialog.accept());
    await visit.go('invitations', page);
    const form = page.getByRole('form', { name: 'New invitation' });
    await form.getByLabel('Name').fill('Finance <b>101</b>');
    await form.getByLabel('Cash').fill('10,000');
    await form.getByLabel('Most members').fill(String(CLASS));
    await form.getByRole('button', { name: 'Create link' }).click();
    const link = await page.locator('.notice code').innerText();
    expect(link).toMatch(/\/join\/[2-9a-z]{26}$/);

    // The page does nothing before its button is used.
    const ada = await visit.stranger();
    await ada.goto(link);
    await ada.getByRole('heading', { name: 'Finance <b>101</b>' }).waitFor(SOON);
    await page.getByText(`0 of ${CLASS}`).waitFor(SOON);
    const join = ada.getByRole('form', { name: 'Join' });
    await join.getByLabel('Your name').fill('!!!');
    await join.getByRole('button', { name: 'Join' }).click();
    await ada.getByText('The name must contain a letter or a digit.').waitFor(SOON);
    await join.getByLabel('Your name').fill('Ada <b>L</b>');
    await join.getByRole('button', { name: 'Join' }).click();
    await ada.getByRole('heading', { name: 'Welcome, Ada <b>L</b>' }).waitFor(SOON);
    const back = await ada.locator('.notice code').innerText();
    expect(back).toMatch(/\/return\/sp_/);
    expect(ada.url()).not.toContain('join');

    const classmate = await visit.stranger();
    for (let count = 2; count <= CLASS; count += 1) {
      await classmate.goto(link);
      await classmate.getByLabel('Your name').fill(`Student ${count}`);
      await classmate.getByRole('button', { name: 'Join' }).click();
      await classmate.getByRole('heading', { name: `Welcome, Student ${count}` }).waitFor(SOON);
    }
    await classmate.goto(link);
    await classmate.getByText('this link has no place left').waitFor(SOON);
    await classmate.getByRole('link', { name: `Continue as Student ${CLASS}` }).waitFor();

    await ada.getByRole('button', { name: 'Start trading' }).click();
    const ticket = ada.getByRole('form', { name: 'Order' });
    await ticket.getByLabel('Symbol').fill('AAPL');
    await ticket.getByLabel('Shares').fill('10');
    await ticket.getByRole('button', { name: 'Place order: Buy 10 AAPL, market' }).click();
    await ada.getByText('Placed: ').waitFor(SOON);

    // The cookie finds the token that this browser has lost.
    await ada.evaluate('localStorage.clear()');
    await ada.goto(visit.station.url);
    await ada.reload();
    await expect.poll(() => ada.locator('.banner').textContent(), SOON).toContain('ada-b-l-b-');

    const elsewhere = await visit.stranger();
    await elsewhere.goto(back);
    await elsewhere.getByRole('button', { name: 'Log in' }).click();
    await elsewhere.getByRole('form', { name: 'Order' }).waitFor(SOON);
    await expect.poll(() => elsewhere.locator('.banner').textContent(), SOON).toContain('ada-b-l-b-');

    await page.getByRole('link', { name: 'Finance <b>101</b>' }).click();
    const roster = page.getByRole('region', { name: 'Roster' });
    await roster.getByText(`Student ${CLASS}`).waitFor(SOON);
    expect(await roster.locator('tbody tr').count()).toBe(CLASS);
    // The order is filled, or waits for the open: other tests move the clock.
    await expect
      .poll(() => roster.locator('tbody tr').first().innerText(), SOON)
      .toMatch(/^Ada <b>L<\/b>\s+\$(?:9,999\.\d\d|10,000\.00)\s+[-+]?0\.\d\d%\s+1\s/);

    const opened = page.waitForEvent('popup');
    await roster.getByRole('button', { name: 'View Ada <b>L</b>' }).click();
    const tab = await opened;
    await expect.poll(() => tab.locator('.banner').textContent(), SOON).toMatch(/read only[\s\S]*ada-b-l-b-/);
    await tab.close();
    // The instructor's own login stays.
    await page.reload();
    await expect.poll(() => page.locator('.banner').textContent(), SOON).toContain('demo · ENTERPRISE');

    await roster.getByRole('button', { name: 'New link Ada <b>L</b>' }).click();
    await page.getByText('New link for').waitFor(SOON);
    await elsewhere.goto(back);
    await elsewhere.getByRole('button', { name: 'Log in' }).click();
    await elsewhere.getByText('This link is not valid.').waitFor(SOON);

    await roster.getByRole('button', { name: 'Reset Ada <b>L</b>' }).click();
    await expect
      .poll(() => roster.locator('tbody tr').first().innerText(), SOON)
      .toMatch(/^Ada <b>L<\/b>\s+\$10,000\.00/);
    await roster.getByRole('button', { name: 'Delete Ada <b>L</b>' }).click();
    await expect.poll(() => roster.locator('tbody tr').count(), SOON).toBe(CLASS - 1);
    await ada.locator('#content').getByText('The token is no longer valid').waitFor(SOON);

    await page.getByRole('link', { name: 'All invitations' }).click();
    await page.getByRole('button', { name: 'Delete Finance <b>101</b>' }).click();
    await page.getByText('There is no invitation yet.').waitFor(SOON);
    await classmate.goto(link);
    await classmate.getByText('This link is not valid.').waitFor(SOON);
    expect(await classmate.getByRole('form', { name: 'Join' }).count()).toBe(0);
    // Other tests use their contexts again.
    for (const one of [ada, classmate, elsewhere]) await one.context().clearCookies();
    await Promise.all([page, ada, classmate, elsewhere].map((one) => visit.leave(one)));
  }, 300_000);
}
