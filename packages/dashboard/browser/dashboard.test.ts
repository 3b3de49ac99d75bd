/** The dashboard as somebody uses it: one server, one browser, from the login to ten thousand orders. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, launchBrowser, Station, tokenWith } from './surroundings.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Would run, were it ever taken for HTML. */
const NAME = `<img src=x onerror="document.title='taken over'"><b>Bracket & co</b>`;
const BULK = 10_000;
/** Orders of a batch. */
const AT_ONCE = 100;
/** For what comes by itself, on a machine that has other things to do. */
const SOON = { timeout: 10_000 };

interface Placed {
  readonly orderId: string;
  readonly portfolioId: string;
}

describe.runIf(chromiumPath !== undefined)('the dashboard', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sandpit-dashboard-'));
  let station: Station;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const problems: string[] = [];
  const elsewhere: string[] = [];

  const watched = async (of: BrowserContext): Promise<Page> => {
    const opened = await of.newPage();
    opened.on('pageerror', ({ message }) => problems.push(message));
    opened.on('console', (message) => {
      if (/Content Security Policy|TrustedHTML/.test(message.text())) problems.push(message.text());
    });
    opened.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== station.url)
        elsewhere.push(request.url());
    });
    return opened;
  };
  const go = (to: Page, place: string): Promise<unknown> => to.goto(`${station.url}/#/${place}`);
  /** The status of each order in the table, by what it says. */
  const rows = (): Promise<string[]> =>
    page.locator('[aria-label="Orders"] tbody tr:not(.gap)').allInnerTexts();

  beforeAll(async () => {
    [station, browser] = await Promise.all([Station.start(dataDir), launchBrowser()]);
    context = await browser.newContext();
    page = await watched(context);
    await station.quote('AAPL', 187.59, 187.6);
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await station.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('lets whoever has the link come in, once', async () => {
    const link = station.loginLink;
    await page.goto(link);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).not.toContain('login');
    await expect
      .poll(() => page.locator('.banner').innerText(), SOON)
      .toMatch(/SIMULATED[\s\S]*push quotes · manual clock · XNYS/);

    const stranger = await watched(await browser.newContext());
    await stranger.goto(link);
    await stranger.getByText('used already').waitFor();
    await stranger.context().close();
  });

  it('says what is wrong with a token that is none', async () => {
    const stranger = await watched(await browser.newContext());
    await stranger.goto(station.url);
    await stranger.getByLabel('Token').fill('not a token');
    await stranger.getByRole('button', { name: 'Come in' }).click();
    await stranger.getByRole('alert').getByText('That is no token').waitFor();
    await stranger.context().close();
  });

  it('opens a portfolio whose name is text, whatever is in it', async () => {
    await page.getByRole('button', { name: 'New portfolio' }).click();
    await page.getByLabel('Name').fill(NAME);
    await page.getByRole('button', { name: 'Open it' }).click();
    await page.getByRole('link', { name: NAME }).click();
    await page.getByRole('heading', { name: NAME }).waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    expect(await page.title()).not.toBe('taken over');
  });

  it('places a bracket, shows it fill, and goes on without gap or duplicate when the server is killed', async () => {
    await page.keyboard.press('b');
    const form = page.getByRole('form', { name: 'Order' });
    await form.getByLabel('Symbol').fill('AAPL');
    await form.getByLabel('Shares').fill('10');
    await form.getByLabel('Type').selectOption('LIMIT');
    await form.getByLabel('Limit price').fill('187.50');
    await form.getByLabel('Take profit at').fill('190');
    await form.getByLabel('Stop loss at').fill('180');
    await form.getByRole('button', { name: 'Place the order' }).click();

    await expect
      .poll(async () => (await rows()).join('\n'), SOON)
      .toMatch(/Buy 10 AAPL[\s\S]*Active[\s\S]*ask 187.60 above limit 187.50/);
    expect(await rows()).toHaveLength(3);
    await page
      .getByLabel('Story of the order')
      .getByText('Waits for: ask 187.60 above limit 187.50')
      .waitFor();

    await station.quote('AAPL', 187.48, 187.5);
    await expect
      .poll(async () => (await rows()).find((row) => row.includes('Buy 10')), SOON)
      .toMatch(/10\s+187.50\s+Filled/);
    await page.getByLabel('Story of the order').getByText('10 at 187.50').waitFor();
    await page.getByLabel('Story of the order').getByText('Settled cash').waitFor();

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

  it('moves the clock of a simulation by hand', async () => {
    await page.getByRole('button', { name: 'Next close' }).click();
    await expect.poll(() => page.locator('.clock').innerText(), SOON).toContain('2026-01-05 16:00:00');
  });

  it('lets a token that may only read change nothing', async () => {
    const reader = await watched(await browser.newContext());
    await reader.goto(station.url);
    await reader.getByLabel('Token').fill(tokenWith('read'));
    await reader.getByRole('button', { name: 'Come in' }).click();
    await reader.getByText('read only').waitFor();
    await reader.getByRole('link', { name: NAME }).waitFor();
    expect(await reader.getByRole('button', { name: /New portfolio|Next open/ }).count()).toBe(0);
    await go(reader, 'ticket?symbol=AAPL');
    await reader.getByText('This token may read only').waitFor();
    expect(await reader.getByRole('button', { name: 'Place the order' }).count()).toBe(0);
    await reader.context().close();
  });

  it('opens a simulation of its own, and the address is enough to come back to it', async () => {
    await go(page, 'simulations');
    await page.getByLabel('Name').fill('another');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByText('There is no portfolio yet').waitFor();
    await page.locator('.banner').getByText('another').waitFor();
    await page.reload();
    await page.locator('.banner').getByText('another').waitFor();
  });

  it('has nothing that axe finds, on any page, in dark and in light', async () => {
    const { data } = await station.api<{ data: Placed[] }>('GET', '/orders?limit=1');
    const { orderId, portfolioId } = data[0] ?? { orderId: '', portfolioId: '' };
    const places = [
      '',
      `portfolio/${portfolioId}`,
      `portfolio/${portfolioId}?section=power`,
      `orders?order=${orderId}`,
      `ticket?portfolio=${portfolioId}&symbol=AAPL&type=LIMIT&limit=100`,
      'ticket?kind=SPREAD&symbol=AAPL',
      'market/AAPL',
      `activity/${portfolioId}`,
      'simulations',
      'developer',
      'nowhere',
    ];
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const place of places) {
        await go(page, place);
        await page.locator('main h1, main .notice').first().waitFor();
        await page.locator('.waiting').first().waitFor({ state: 'detached' });
        if (colorScheme === 'light' && place === '') await page.evaluate(AXE);
        const violations: string[] = await page.evaluate(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))",
        );
        found.push(...violations.map((violation) => `${place} (${colorScheme}): ${violation}`));
      }
    }
    expect(found).toEqual([]);
  }, 60_000);

  it(`scrolls through ${BULK} orders within its frames`, async () => {
    const { data } = await station.api<{ data: Placed[] }>('GET', '/orders?limit=1');
    const portfolioId = data[0]?.portfolioId;
    const order = {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      limitPrice: 0.01,
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'GTC',
    };
    const accountIds = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const accountId = randomUUID();
        const body = { accountId, portfolioType: 'CASH', accountType: 'INDIVIDUAL', brokerId: 'default' };
        await station.api('POST', '/accounts/portfolios', body);
        return accountId;
      }),
    );
    const { portfolioId: _own, ...orderData } = order;
    for (let count = 0; count < BULK; count += AT_ONCE) {
      await station.api('POST', '/orders/batch', { accountIds, orderData });
    }

    await go(page, 'orders');
    await page.getByText(`${(BULK + 3).toLocaleString('en-US')} orders`).waitFor();
    const box = page.getByRole('region', { name: 'Orders' });
    const devtools = await context.newCDPSession(page);
    await devtools.send('Performance.enable');
    const before = await mainThreadMs(devtools);
    const steps = 120;
    await box.evaluate(`(box) => new Promise((resolve) => {
      let step = 0;
      const scroll = () => {
        box.scrollTop += 240;
        step += 1;
        if (step < ${steps}) requestAnimationFrame(scroll); else resolve();
      };
      requestAnimationFrame(scroll);
    })`);
    const perFrame = ((await mainThreadMs(devtools)) - before) / steps;
    expect(perFrame, 'ms of the main thread in a frame of 16.7').toBeLessThan(16.7);

    // Only the rows that are seen exist.
    expect(await box.locator('tbody tr').count()).toBeLessThan(100);
  }, 120_000);

  it('asked nobody but its server, and broke no rule of its policy', () => {
    expect(elsewhere).toEqual([]);
    expect(problems).toEqual([]);
  });
});

/** What the main thread of a page has worked so far, ms. */
async function mainThreadMs(devtools: CDPSession): Promise<number> {
  const { metrics } = (await devtools.send('Performance.getMetrics')) as {
    readonly metrics: readonly { readonly name: string; readonly value: number }[];
  };
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
}
