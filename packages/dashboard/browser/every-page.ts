/** Accessibility checks of every page by axe, in the light and the dark theme. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { it } from 'vitest';
import { evaluated } from './evaluations.js';
import { ALL_SCOPES, type Visit } from './surroundings.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Options of axe for each look. The themes differ in colors only, so dark pages are checked for contrast alone; a phone hides texts, so its
 * pages are checked for names.
 */
const LOOKS = [
  ['light', 1280, "{ resultTypes: ['violations'], preload: false }"],
  ['dark', 1280, "{ resultTypes: ['violations'], preload: false, runOnly: ['color-contrast'] }"],
  [
    'light',
    390,
    "{ resultTypes: ['violations'], preload: false, runOnly: ['button-name', 'link-name', 'page-has-heading-one'] }",
  ],
] as const;

interface Placed {
  readonly orderId: string;
  readonly portfolioId: string;
}

/** Pages that are checked at the same time. */
const AT_ONCE = 2;

/** `onEnd` is called when its last page is closed. */
export function everyPage(visit: Visit, onEnd: () => void): void {
  it('has nothing that axe finds, on any page, in dark and in light', async ({ expect }) => {
    const { data } = await visit.station.api<{ data: Placed[] }>('GET', '/orders?limit=1&status=FILLED');
    const evaluationId = await evaluated(visit, 'For every page');
    const { orderId, portfolioId } = data[0] ?? { orderId: '', portfolioId: '' };
    const places = [
      '',
      `portfolio/${portfolioId}`,
      `portfolio/${portfolioId}?section=power`,
      `portfolio/${portfolioId}?section=cash`,
      `portfolio/${portfolioId}?section=manage`,
      `orders?order=${orderId}`,
      `trade/AAPL?portfolio=${portfolioId}&quantity=10&type=LIMIT&limit=100&target=5&targetUnit=percent`,
      `trade/AAPL?portfolio=${portfolioId}&quantity=1000000`,
      'trade/AAPL?show=options&legs=B1xAAPL260116C00190000,S1xAAPL260116C00195000&quantity=1',
      'trade/AAPL?show=market&dock=activity',
      'trade/AAPL?portfolio=unknown',
      'portfolio/unknown',
      'analytics/unknown',
      'orders?order=unknown',
      `activity/${portfolioId}`,
      `analytics/${portfolioId}?benchmark=AAPL`,
      `analytics/${portfolioId}?section=trades`,
      `analytics/${portfolioId}?section=quality`,
      `analytics/${portfolioId}?section=taxes`,
      'compare',
      'administration',
      'competitions',
      'competitions/new',
      'evaluations',
      `evaluations/${evaluationId}`,
      'evaluations/00000000-0000-4000-8000-000000000000',
      'time',
      'time?section=compare',
      'time?section=scripts',
      'time?section=halts',
      'time?section=faults',
      'simulations',
      'invitations',
      'invitations/00000000-0000-4000-8000-000000000000',
      'alerts',
      'webhooks',
      'developer',
      'nowhere',
    ];
    const found: string[] = [];
    const lookThrough = async (): Promise<void> => {
      const page = await visit.reader(ALL_SCOPES);
      for (let place = places.shift(); place !== undefined; place = places.shift()) {
        await page.setViewportSize({ width: 1280, height: 720 });
        await visit.go(place, page);
        if (await page.evaluate<boolean>('window.axe === undefined')) await page.evaluate(AXE);
        await page.locator('main h1, main .notice').first().waitFor();
        await page.locator('.waiting').first().waitFor({ state: 'detached' });
        for (const [colorScheme, width, options] of LOOKS) {
          await page.setViewportSize({ width, height: 720 });
          await page.emulateMedia({ colorScheme });
          const violations: string[] = await page.evaluate(
            `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`,
          );
          found.push(
            ...violations.map((violation) => `${place} (${colorScheme}, ${width} px): ${violation}`),
          );
        }
      }
      await visit.leave(page);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lookThrough)).finally(onEnd);
    expect(found).toEqual([]);
  }, 120_000);
}
