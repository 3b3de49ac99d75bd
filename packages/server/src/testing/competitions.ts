import type { Body } from './test-app.js';

interface Settings {
  readonly market?: object;
  readonly rules?: object;
  readonly [name: string]: unknown;
}

/** The settings of a competition of two days with pushed quotes, as `createCompetition` accepts them; `more` replaces parts of them. */
export const contest = ({ market, rules, ...more }: Settings = {}): Body => ({
  name: 'Cup',
  market: {
    feed: 'push',
    clock: 'manual',
    calendar: 'XNYS',
    start: '2026-01-05T14:30:00Z',
    end: '2026-01-06T21:00:00Z',
    ...market,
  },
  rules: {
    initialCash: 100_000,
    portfolioType: 'MARGIN',
    brokerId: 'default',
    assetClasses: ['EQUITY'],
    ...rules,
  },
  scoring: 'TOTAL_RETURN',
  entry: 'OPEN',
  visibility: 'PRIVATE',
  ...more,
});
