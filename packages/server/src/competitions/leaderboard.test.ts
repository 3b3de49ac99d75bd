import { describe, expect, it } from 'vitest';
import { rankingOf } from './leaderboard.js';
import type { Standing } from './leaderboard.js';

const standing = (displayName: string, more: Partial<Standing> & { totalReturn?: number }): Standing => ({
  entryId: displayName,
  displayName,
  totalEquity: 1_000_000_000,
  figures: { totalReturn: more.totalReturn ?? 0, maxDrawdown: 0 },
  trades: 1,
  status: 'ACTIVE',
  ...more,
});

const ranks = (standings: readonly Standing[]): readonly (readonly [string, number])[] =>
  rankingOf(standings, 'TOTAL_RETURN', 1).map(({ displayName, rank }) => [displayName, rank]);

describe('rankingOf', () => {
  it('ranks entries with equal scores and equal returns alike: 1, 2, 2, 4', () => {
    const standings = [0.1, 0.2, 0.1, 0].map((totalReturn, place) => standing(`E${place}`, { totalReturn }));
    expect(ranks(standings)).toEqual([
      ['E1', 1],
      ['E0', 2],
      ['E2', 2],
      ['E3', 4],
    ]);
  });

  it('ranks eliminated, withdrawn and disqualified entries below the others, each by time survived', () => {
    const out = (name: string, status: Standing['status'], removedAt: number, totalReturn = 0): Standing =>
      standing(name, { status, removedAt, totalReturn });
    expect(
      ranks([
        out('early cheat', 'DISQUALIFIED', 1, 0.9),
        out('late cheat', 'DISQUALIFIED', 5),
        out('early leaver', 'WITHDRAWN', 2, 0.5),
        out('late leaver', 'WITHDRAWN', 4),
        out('early loser', 'ELIMINATED', 2, -0.1),
        out('late loser', 'ELIMINATED', 3, -0.2),
        standing('no trade', { trades: 0, totalReturn: -0.3 }),
        standing('last by score', { totalReturn: -0.9 }),
      ]),
    ).toEqual([
      ['last by score', 1],
      ['no trade', 2],
      ['late loser', 3],
      ['early loser', 4],
      ['late leaver', 5],
      ['early leaver', 6],
      ['late cheat', 7],
      ['early cheat', 8],
    ]);
  });

  it('gives one first rank if every entry has left, unless all are tied', () => {
    const left = (name: string, removedAt: number, totalReturn: number): Standing =>
      standing(name, { status: 'WITHDRAWN', removedAt, totalReturn });
    expect(ranks([left('A', 1, 0), left('B', 1, 0.1), left('C', 2, 0)])).toEqual([
      ['C', 1],
      ['B', 2],
      ['A', 3],
    ]);
    expect(ranks([left('A', 1, 0), left('B', 1, 0)])).toEqual([
      ['A', 1],
      ['B', 1],
    ]);
  });
});
