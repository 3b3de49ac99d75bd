/** A competition from its creation to its result: by the organizer, an entrant, and a visitor without an account. */
import { it } from 'vitest';
import { ALL_SCOPES, SOON, type Visit } from './surroundings.js';

export function competitions(visit: Visit): void {
  it('creates a competition, enters it, trades in it, and shows every step to a visitor without an account', async ({
    expect,
  }) => {
    const page = await visit.reader(ALL_SCOPES);
    page.on('dialog', (dialog) => void dialog.accept('two entries of one person'));
    await visit.go('competitions/new', page);
    const form = page.getByRole('form', { name: 'New competition' });
    await form.getByRole('button', { name: 'Create competition' }).click();
    await page.getByText('Enter a name.').waitFor();
    await form.getByLabel('Name').fill('Autumn <b>cup</b>');
    await form.getByLabel('Who may enter').selectOption('CODE');
    await form.getByLabel('Who may watch').selectOption('PUBLIC');
    await form.getByLabel('Maximum position').fill('50');
    await form.getByLabel('Minimum price').fill('5');
    await form.getByLabel('Fill model').selectOption('quote');
    await form.getByRole('button', { name: 'Create competition' }).click();
    await page.getByRole('heading', { name: 'Autumn <b>cup</b>' }).waitFor(SOON);
    await page.getByText('Position at most 50% of equity').waitFor();

    const editing = page.getByRole('form', { name: 'Edit competition' });
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    expect(await editing.getByLabel('Initial cash').inputValue()).toBe('100000');
    await editing.getByLabel('Maximum position').fill('40');
    await editing.getByLabel('Symbols').fill('aapl, msft');
    await editing.getByLabel('Maximum entries').fill('25');
    await editing.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Position at most 40% of equity').waitFor(SOON);
    await page.getByText('Only AAPL, MSFT').waitFor();
    await page.getByText('Prices of $5.00 and more').waitFor();
    await page.getByText('Fill model quote').waitFor();

    const stranger = await visit.stranger();
    await visit.go('competitions', stranger);
    await stranger.getByRole('link', { name: 'Autumn <b>cup</b>' }).click();
    await stranger.getByText('No entries yet.').waitFor();
    expect(await stranger.getByRole('button', { name: /Start|Cancel|Enter/ }).count()).toBe(0);

    const enter = page.getByRole('form', { name: 'Enter the competition' });
    await enter.getByLabel('Name on the leaderboard').fill('<b>Ada</b>');
    await enter.getByRole('button', { name: 'Enter' }).click();
    await enter.getByText('The join code is missing or wrong').waitFor();
    const code = page.getByRole('button', { name: /^Join code \w+$/ });
    await enter.getByLabel('Join code').fill((await code.innerText()).replace('Join code ', ''));
    await enter.getByRole('button', { name: 'Enter' }).click();
    const ticket = page.getByRole('form', { name: 'Order' });
    await ticket.waitFor(SOON);
    const board = stranger.getByRole('region', { name: 'Leaderboard' });
    await board.getByText('<b>Ada</b>').waitFor(SOON);

    await page.goBack();
    // The first entry fixes market, rules and scoring.
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await editing.getByText('Market, rules and scoring are fixed').waitFor(SOON);
    expect(await editing.getByLabel('Initial cash').count()).toBe(0);
    await editing.getByLabel('Maximum entries').fill('30');
    await editing.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('1 of 30').waitFor(SOON);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor(SOON);
    expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'Trade <b>Ada</b>' }).click();
    await ticket.getByLabel('Symbol').fill('AAPL');
    await ticket.getByLabel('Shares').fill('10');
    await ticket.getByRole('button', { name: 'Place order: Buy 10 AAPL, market' }).click();
    await page.getByText('Placed: ').waitFor(SOON);
    // The page of an entry names its competition and its entry.
    await expect
      .poll(() => page.locator('.banner').innerText(), SOON)
      .toContain('Autumn <b>cup</b> · <b>Ada</b> · rank 1 of 1');

    // The server names them in a browser that has nothing but the token.
    const token = await page.evaluate<string>(
      String.raw`JSON.parse(localStorage.getItem('sandpit-tokens'))[/#\/~([^/?]+)/.exec(location.hash)[1]]`,
    );
    const elsewhere = await visit.stranger();
    await visit.go('login', elsewhere);
    await elsewhere.getByLabel('Token').fill(token);
    await elsewhere.getByRole('button', { name: 'Log in' }).click();
    await expect
      .poll(() => elsewhere.locator('.banner').innerText(), SOON)
      .toContain('Autumn <b>cup</b> · <b>Ada</b> · rank 1 of 1');
    await elsewhere.getByRole('link', { name: 'Autumn <b>cup</b>' }).click();
    await elsewhere.getByRole('region', { name: 'Leaderboard' }).getByText('<b>Ada</b>').waitFor(SOON);
    expect(await elsewhere.getByRole('button', { name: /Start|Cancel|Enter|Withdraw/ }).count()).toBe(0);
    await elsewhere.getByRole('link', { name: 'Back to trading' }).click();
    await elsewhere.getByRole('form', { name: 'Order' }).waitFor(SOON);
    await visit.leave(elsewhere);

    expect(await ticket.getByLabel('Portfolio').innerText()).toContain('<b>Ada</b>');
    // Name, equity, return, score, drawdown, and one execution.
    await expect.poll(() => board.innerText(), SOON).toMatch(/<b>Ada<\/b>[\s\S]*%\s+1\s+Active/);

    await visit.go('competitions', page);
    await page.getByRole('link', { name: 'Autumn <b>cup</b>' }).click();
    await page.getByRole('button', { name: 'Disqualify <b>Ada</b>' }).click();
    await page.getByText('Disqualified: two entries of one person').waitFor(SOON);
    await page.getByRole('button', { name: 'Finish' }).click();
    await stranger.getByText('The result is final').waitFor(SOON);
    await page.getByRole('button', { name: 'Save the export' }).waitFor(SOON);
    await Promise.all([visit.leave(page), visit.leave(stranger)]);
  }, 120_000);
}
