/** The documentation site in a browser: its links, its search, and the API reference. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, SOON, Visit } from './surroundings.js';

const SITE = fileURLToPath(new URL('../../site/', import.meta.url));
const DIST = join(SITE, 'dist');

beforeAll(() => {
  execFileSync(process.execPath, [join(SITE, 'build-when-changed.js')], { stdio: 'ignore' });
}, 120_000);

describe('The built documentation site', () => {
  it('has a target for every link and anchor of its pages', () => {
    const pages = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.html'),
    );
    expect(pages.length).toBeGreaterThan(80);
    expect(pages.filter((page) => page.startsWith('decisions'))).toEqual([]);
    const texts = new Map(pages.map((page) => [page, readFileSync(join(DIST, page), 'utf8')]));
    const broken = [...texts].flatMap(([page, text]) =>
      [...text.matchAll(/<a [^>]*?href="([^"]+)"/g)]
        .map(([, href = '']) => href)
        .filter((href) => !/^(https?:|mailto:)/.test(href) && !href.startsWith('/docs/api/'))
        .filter((href) => {
          const { pathname, hash } = new URL(href, `http://site/docs/${page}`);
          const name = posix.relative('/docs/', pathname);
          const file = [`${name}.html`, name === '' ? 'index.html' : name].find((one) =>
            existsSync(join(DIST, one)),
          );
          const anchor = hash === '' ? undefined : hash.slice(1);
          return (
            file === undefined ||
            (anchor !== undefined && texts.get(file)?.includes(`id="${decodeURIComponent(anchor)}"`) !== true)
          );
        })
        .map((href) => `${page} links to ${href}`),
    );
    expect(broken).toEqual([]);
  });
});

describe.runIf(chromiumPath !== undefined)('The documentation site in a browser', () => {
  const visit = new Visit();
  beforeAll(() => visit.begin(), 60_000);
  afterAll(() => visit.end());

  it('finds "covered call" by search and opens the tutorial', async () => {
    const { page, station } = visit;
    await page.goto(`${station.url}/docs`);
    await page.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.locator('#localsearch-input').fill('covered call');
    await page.locator('#localsearch-list a[href*="/docs/tutorials/covered-call"]').first().click();
    await page
      .getByRole('heading', { name: 'Options: from a covered call to assignment', level: 1 })
      .waitFor();
    expect(page.url()).toContain('/docs/tutorials/covered-call');
  });

  it('lists guides and rules before the contract in the results of a search', async () => {
    const { page, station } = visit;
    for (const words of ['margin call', 'fork', 'order fill']) {
      await page.goto(`${station.url}/docs/`);
      await page.getByRole('button', { name: 'Search' }).first().click();
      await page.locator('#localsearch-input').fill(words);
      const results = page.locator('#localsearch-list a');
      await results.first().waitFor();
      const links = (await results.all()).slice(0, 5);
      const first = await Promise.all(links.map((link) => link.getAttribute('href')));
      expect(first.length).toBeGreaterThan(0);
      expect(first.filter((href) => href?.startsWith('/docs/contract') === true)).toEqual([]);
    }
  });

  it('opens with a door for traders, developers and instructors', async () => {
    const { page, station } = visit;
    for (const [door, title] of [
      ['Trade in the dashboard', 'The dashboard'],
      ['Open a class by one link', 'A class by one link'],
    ] as const) {
      await page.goto(`${station.url}/docs/`);
      await page.locator('main').getByRole('link', { name: door }).click();
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    }
  });

  it('shows the quickstart in curl, TypeScript and Python', async () => {
    const { page, station } = visit;
    await page.goto(`${station.url}/docs/quickstart`);
    for (const [tab, code] of [
      ['TypeScript', "import { connect } from 'sandpit-broker'"],
      ['Python', 'with sandpit.connect() as client'],
      ['curl', 'api $API/orders/$ORDER'],
    ] as const) {
      await page.locator('.vp-code-group label').filter({ hasText: tab }).click();
      await page.locator('div[class*=language-].active').filter({ hasText: code }).waitFor();
    }
  });

  it('finds an operation in the API reference by its path and sends a request from there', async () => {
    const { page, station } = visit;
    await page.goto(`${station.url}/docs/api/`);
    await page.getByPlaceholder('Filter by tag or path').fill('/v1/ready');
    await expect.poll(() => page.locator('.opblock-tag').count(), SOON).toBe(1);
    if ((await page.locator('.opblock').count()) === 0) await page.locator('.opblock-tag').click();
    await page.locator('.opblock-summary').click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('200', { exact: true }).first().waitFor();
  });

  it('loads no resource of another server and violates no content security policy', () => {
    expect(visit.elsewhere).toEqual([]);
    expect(visit.problems).toEqual([]);
  });
});
