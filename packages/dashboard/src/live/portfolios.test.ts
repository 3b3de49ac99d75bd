import { expect, it } from 'vitest';
import type { Broker } from '../broker.ts';
import { sumOf } from './closes.ts';
import { LivePortfolios, type PortfolioRows } from './portfolios.ts';

const TABS = 4;
const PORTFOLIOS = 24;
/** Requests a minute and route of a tenant, by default. */
const LIMIT = 1000;

globalThis.requestAnimationFrame = (act) => setTimeout(() => act(performance.now()));
globalThis.cancelAnimationFrame = (frame) => clearTimeout(frame);

/** A broker with portfolios that answers at once and counts its requests. */
function counting(ids: readonly string[]) {
  const asked: string[] = [];
  const streams: (readonly string[])[] = [];
  const data = ids.map((portfolioId) => ({ portfolioId }));
  const broker = {
    call: (id: string) => {
      asked.push(id);
      return Promise.resolve({ data, pagination: { total: ids.length } });
    },
    async *portfolioEvents(
      { portfolioIds }: { portfolioIds: readonly string[] },
      { signal, onOpen }: { signal: AbortSignal; onOpen: () => void },
    ) {
      streams.push(portfolioIds);
      onOpen();
      for (const portfolioId of portfolioIds) yield { portfolioId, totalEquity: 100, eventId: '1' };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  return { broker: broker as unknown as Pick<Broker, 'call' | 'portfolioEvents'>, asked, streams };
}

it('LivePortfolios: four tabs with 24 portfolios request only lists, far below the rate limit, and open one stream each', async () => {
  const ids = Array.from({ length: PORTFOLIOS }, (_, index) => `p${index}`);
  const { broker, asked, streams } = counting(ids);
  const ends: (() => void)[] = [];
  const tabs = Array.from({ length: TABS }, () => new LivePortfolios(broker, 1));
  const shown = await Promise.all(
    tabs.map(
      (tab) =>
        new Promise<PortfolioRows>((resolve) => {
          ends.push(
            tab.follow((rows) => {
              if (rows.isLoaded && rows.portfolios.length > 0) resolve(rows);
            }),
          );
        }),
    ),
  );
  // A minute of its timer.
  for (let time = 0; time < 12; time += 1) await Promise.all(tabs.map((tab) => tab.list()));
  for (const end of ends) end();
  expect(shown.map(({ portfolios }) => portfolios.length)).toEqual(tabs.map(() => PORTFOLIOS));
  expect(new Set(asked)).toEqual(new Set(['listPortfolios']));
  expect(asked.length).toBeLessThan(LIMIT / 10);
  expect(streams).toEqual(tabs.map(() => ids));
});

it('sumOf: adds the latest value of each curve at each instant', () => {
  const point = (atMs: number, value: number) => ({ atMs, value });
  expect(sumOf([[point(1, 10), point(3, 30)], [point(2, 5)]])).toEqual([
    point(1, 10),
    point(2, 15),
    point(3, 35),
  ]);
  expect(sumOf([])).toEqual([]);
});
