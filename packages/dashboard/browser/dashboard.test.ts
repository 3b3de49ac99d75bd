/** The dashboard as a user sees it: one server, one browser, from the login to ten thousand orders. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aids } from './aids.js';
import { alerts } from './alerts.js';
import { chartLevels } from './chart-levels.js';
import { competitions } from './competitions.js';
import { evaluations } from './evaluations.js';
import { everyPage } from './every-page.js';
import { invitations } from './invitations.js';
import { liveFeed } from './live-feed.js';
import { manyThings, placeMany } from './many-things.js';
import { optionsAndMargin } from './options-and-margin.js';
import { plainTerms } from './plain-terms.js';
import { rolls } from './rolls.js';
import { serverNumbers } from './server-numbers.js';
import { slips } from './slips.js';
import { chromiumPath, SOON, Visit } from './surroundings.js';
import { templates } from './templates.js';
import { timeMachine } from './time-machine.js';
import { chartUnderLoad, trading } from './trading.js';
import { trouble } from './trouble.js';
import { watchLists } from './watch-lists.js';
import { webhooks } from './webhooks.js';

/** Would run if it were interpreted as HTML. */
const NAME = `<img src=x onerror="document.title='taken over'"><b>Bracket & co</b>`;

describe.runIf(chromiumPath !== undefined)('The dashboard', () => {
  const visit = new Visit();
  /** The text of each order's row in the table. */
  const rows = (): Promise<string[]> =>
    visit.page.locator('[aria-label="Orders"] tbody tr:not(.gap)').allInnerTexts();

  beforeAll(async () => {
    await visit.begin();
    await visit.station.quote('AAPL', 187.59, 187.6);
  }, 60_000);

  afterAll(() => visit.end());

  it('accepts a login link once', async () => {
    const { page, station } = visit;
    const link = station.loginLink;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).not.toContain('login');
    await expect
      .poll(() => page.locator('.banner').innerText(), SOON)
      .toMatch(/SIMULATED[\s\S]*push quotes · manual clock · XNYS/);

    const stranger = await visit.stranger();
    await stranger.goto(link);
    await stranger.getByText('used already').waitFor();
    await visit.leave(stranger);
  });

  it('renders within a second, loads at most 112 kB of script, and explains an invalid token', async () => {
    const stranger = await visit.stranger();
    const scripts = new Map<string, Promise<Buffer>>();
    stranger.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.set(response.url(), response.body());
    });
    // Other load on the machine may delay one painting, but not every one.
    let painted = Infinity;
    for (let tries = 0; tries < 5 && painted >= 1000; tries += 1) {
      await stranger.goto(visit.station.url);
      await stranger.getByRole('heading', { name: 'Sandpit' }).waitFor();
      painted = await stranger.evaluate<number>(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime",
      );
    }
    expect(painted, 'ms').toBeLessThan(1000);
    const bytes = (await Promise.all(scripts.values())).reduce((sum, body) => sum + gzipSync(body).length, 0);
    process.stdout.write(
      `first page: ${bytes} bytes of script gzipped, painted after ${painted.toFixed(0)} ms\n`,
    );
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(112_000);

    // The field has the focus: a token is pasted at once.
    await expect.poll(() => stranger.evaluate('document.activeElement.id'), SOON).toBe('token');
    await stranger.getByLabel('Token').fill('not a token');
    await stranger.getByRole('button', { name: 'Log in' }).click();
    await stranger.getByRole('alert').getByText('This is not a token').waitFor();
    await visit.leave(stranger);
  });

  it('shows the name of a portfolio as text, without interpreting markup', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'New portfolio' }).click();
    await page.getByLabel('Name').fill(NAME);
    expect(await page.getByLabel('Account').innerText()).toContain('Roth IRA');
    await page.getByRole('button', { name: 'Open portfolio' }).click();
    await page.getByRole('link', { name: NAME }).click();
    await page.getByRole('heading', { name: NAME }).waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    expect(await page.title()).not.toBe('taken over');
  });

  it('places a bracket, shows its fill, and continues without gap or duplicate after the server is killed', async () => {
    const { page, station } = visit;
    station.prepareAnother();
    await page.keyboard.press('b');
    const form = page.getByRole('form', { name: 'Order' });
    await form.getByLabel('Symbol').fill('AAPL');
    await form.getByLabel('Shares').fill('10');
    await form.getByLabel('Type').selectOption('LIMIT');
    await form.getByLabel('Limit price').fill('187.50');
    await form.getByText('Take profit and stop loss').click();
    await form.getByLabel('Take profit', { exact: true }).fill('190');
    await form.getByText('Gain +$25.00 (+1.33%) at 190.00').waitFor();
    await form.getByLabel('Stop loss', { exact: true }).fill('180');
    await form.getByRole('button', { name: 'Place order: Buy 10 AAPL, limit 187.50' }).click();
    await page.getByRole('link', { name: 'Show the order' }).click();

    await expect
      .poll(async () => (await rows()).join('\n'), SOON)
      .toMatch(/Buy 10 AAPL[\s\S]*Active[\s\S]*ask 187.60 above limit 187.50/);
    expect(await rows()).toHaveLength(3);
    await page.getByLabel('Order details').getByText('Waiting for: ask 187.60 above limit 187.50').waitFor();

    await station.quote('AAPL', 187.48, 187.5);
    await expect
      .poll(async () => (await rows()).find((row) => row.includes('Buy 10')), SOON)
      .toMatch(/10\s+187.50\s+Filled/);
    await page.getByLabel('Order details').getByText('10 at 187.50').waitFor();
    await page.getByLabel('Order details').getByText('Settled cash').waitFor();

    await station.kill();
    await page.getByRole('alert').getByText('The server does not answer').waitFor({ timeout: 15_000 });
    await station.startAgain();
    await station.quote('AAPL', 190.1, 190.2);
    await expect
      .poll(async () => (await rows()).map((row) => /Filled|Canceled|Active/.exec(row)?.[0]).sort(), {
        timeout: 15_000,
      })
      .toEqual(['Canceled', 'Filled', 'Filled']);
    await page.getByRole('alert').waitFor({ state: 'detached', timeout: 15_000 });
  }, 60_000);

  it('shows what the trades returned and cost, and saves all of them as CSV', async () => {
    const { page } = visit;
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('link', { name: NAME }).click();
    await page.getByRole('link', { name: 'Analytics' }).click();
    await expect
      .poll(() => page.locator('.figures').first().innerText(), SOON)
      .toMatch(/Win rate\s+100\.0%\s+1 of 1 trades/);
    await page.getByRole('region', { name: 'Monthly returns' }).getByText('2026').waitFor();
    // The page is shared as a link, a picture and a file.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(page.url());
    const savedBy = async (name: string): Promise<Buffer> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name }).click(),
      ]);
      return readFileSync(await download.path());
    };
    expect((await savedBy('Save as PNG')).subarray(1, 4).toString()).toBe('PNG');
    expect((await savedBy('Save the report')).toString()).toMatch(/^<!doctype html>[\s\S]*Bracket &amp; co/i);
    await page.getByRole('link', { name: 'Compare portfolios' }).click();
    await page.getByRole('heading', { name: 'Compare portfolios' }).waitFor();
    await page.locator('canvas').first().waitFor();
    expect((await savedBy('Save as PNG')).subarray(1, 4).toString()).toBe('PNG');
    await page.goBack();
    await page.getByRole('button', { name: 'Trades' }).click();
    await page.getByRole('heading', { name: '1 trade, +$25.00' }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const file = readFileSync(await (await saved).path(), 'utf8');
    expect(file.split('\r\n')).toHaveLength(3);
    expect(file).toMatch(/^tradeId,epoch,symbol,.*\r\n1,1,AAPL,EQUITY,LONG,10,/);
    await page.getByLabel('Symbol', { exact: true }).fill('MSFT');
    await page.getByRole('heading', { name: '0 trades' }).waitFor();
    await page.getByRole('button', { name: 'Execution quality' }).click();
    await page.getByRole('img', { name: 'Slippage of the latest 2 filled orders, basis points' }).waitFor();
    expect(await page.locator('.figures').innerText()).not.toMatch(/\$[\d.,]+ bp/);
    await page.getByRole('button', { name: 'By order type' }).click();
    await expect
      .poll(() => page.getByRole('region', { name: 'Groups' }).innerText(), SOON)
      .toContain('LIMIT');
    await page.getByRole('button', { name: 'Taxes' }).click();
    await page.getByRole('region', { name: 'Sales' }).getByText('+$25.00').waitFor();
    await page.getByLabel('Tax year').fill('2025');
    await page.getByRole('heading', { name: 'Sales of 2025' }).waitFor();
  }, 60_000);

  it('moves the clock of a simulation by hand', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: 'Next close' }).click();
    await expect.poll(() => page.locator('.clock').innerText(), SOON).toContain('Jan 5, 2026, 4:00:00 PM ET');
  });

  it('offers no changes to a read-only token', async () => {
    const reader = await visit.reader('read');
    await visit.go('', reader);
    await reader.getByText('read only').waitFor();
    await reader.getByRole('link', { name: NAME }).waitFor();
    expect(await reader.getByRole('button', { name: /New portfolio|Next open/ }).count()).toBe(0);
    expect(await reader.getByRole('link', { name: 'Administration' }).count()).toBe(0);
    await visit.go('administration', reader);
    await reader.getByText('This token cannot administrate the server').waitFor();
    await visit.go('ticket?symbol=AAPL', reader);
    await reader.getByText('Read-only token').waitFor();
    expect(await reader.getByRole('button', { name: 'Place order' }).count()).toBe(0);
    await visit.leave(reader);
  });

  it('opens a separate simulation, and returns to it by its address', async () => {
    const { page } = visit;
    await visit.go('simulations');
    await page.getByLabel('Name').fill('another');
    await page.getByLabel('Clock', { exact: true }).selectOption('scaled');
    await page.getByRole('button', { name: 'Create simulation' }).click();
    await page.getByText('There is no portfolio yet').waitFor();
    await page.locator('.banner').getByText('another').waitFor();
    await page.getByLabel('Speed').selectOption('600');
    await expect.poll(() => page.locator('.banner').innerText(), SOON).toMatch(/ET\s+× 600/);
    await page.reload();
    await page.locator('.banner').getByText('another').waitFor();
    const [, simulationId = ''] = /~([\w-]+)/.exec(page.url()) ?? [];
    // Its clock would keep the server and this page busy during the other tests.
    await page.goto(`${visit.station.url}/llms.txt`);
    await visit.station.api('DELETE', `/simulations/${simulationId}`);
  });

  describe('while ten thousand orders are placed', () => {
    let placed: Promise<number>;
    // Pages of the main simulation would follow all of them.
    const place = (): void => {
      placed = placeMany(visit.station);
      // Tests that need them wait for them, and report what failed.
      placed.catch(() => undefined);
    };

    describe('in simulations of their own, at the same time', { concurrent: true }, () => {
      liveFeed(visit);
      everyPage(visit, place);
      competitions(visit);
      evaluations(visit);
      invitations(visit);
      timeMachine(visit);
      webhooks(visit);
      alerts(visit);
      watchLists(visit);
      serverNumbers(visit);
      optionsAndMargin(visit);
      trading(visit);
      slips(visit);
      chartLevels(visit);
      rolls(visit);
      aids(visit);
      templates(visit);
      plainTerms(visit);
      trouble(visit);
    });

    chartUnderLoad(visit);
    manyThings(visit, () => placed);
  });

  it('requests only its own server and violates no content security policy', () => {
    expect(visit.elsewhere).toEqual([]);
    expect(visit.problems).toEqual([]);
  });
});
