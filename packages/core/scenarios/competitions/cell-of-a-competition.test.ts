import { describe, expect, it } from 'vitest';
import type { CompetitionResult } from '../../src/competitions/competition.js';
import { Brokerage } from '../../src/brokerage.js';
import { saveState } from '../../src/saved-state.js';
import type { SavedState } from '../../src/saved-state.js';
import { TestMarket } from '../../src/testing/market.js';
import { Instant } from '../../src/values/instant.js';

const RESULT: CompetitionResult = {
  at: 0,
  rows: [],
  curves: [],
  journalHash: 'f0',
  records: [['market', 3]],
};

/** The market of a competition in OPEN. */
function market(): TestMarket {
  const m = new TestMarket();
  m.execute<'BeginCompetition'>({
    type: 'BeginCompetition',
    terms: {
      startsAt: m.now,
      endsAt: Instant.plusMs(m.now, 86_400_000),
      rules: { assetClasses: ['EQUITY'] },
    },
    phase: 'OPEN',
  });
  return m;
}

const add = (m: TestMarket, entryId: string) =>
  m.execute<'AddEntry'>({ type: 'AddEntry', entryId, cell: `cell of ${entryId}`, digest: 'd0' }).result;
const entriesOf = ({ brokerage }: TestMarket) => [...(brokerage.state.competition?.entries?.values() ?? [])];

describe('the cell of a competition', () => {
  it('AddEntry: numbers entries in the order of entering, and adds none twice or after the end', () => {
    const m = market();
    expect(add(m, 'a')).toEqual({ entryId: 'a', number: 1, cell: 'cell of a', digest: 'd0' });
    expect(add(m, 'b')).toMatchObject({ number: 2 });
    expect(add(m, 'a')).toMatchObject({ code: 'CONFLICT' });
    m.execute<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase: 'CANCELED' });
    expect(add(m, 'c')).toMatchObject({ code: 'CONFLICT' });
    expect(entriesOf(m)).toHaveLength(2);
  });

  it('RemoveEntry: removes the entry of a simulation once, and leaves the others', () => {
    const m = market();
    add(m, 'a');
    add(m, 'b');
    const remove = (cell: string, status: 'DISQUALIFIED' | 'WITHDRAWN') =>
      m.execute<'RemoveEntry'>({ type: 'RemoveEntry', cell, status });
    remove('cell of a', 'DISQUALIFIED');
    remove('cell of a', 'WITHDRAWN');
    remove('unknown cell', 'WITHDRAWN');
    expect(entriesOf(m).map(({ removed }) => removed?.status)).toEqual(['DISQUALIFIED', undefined]);
    expect(m.brokerage.state.competition?.removed).toBeUndefined();
  });

  it('SettleCompetition: keeps the first result of a finished competition', () => {
    const m = market();
    const settle = (journalHash: string) =>
      m.execute<'SettleCompetition'>({ type: 'SettleCompetition', result: { ...RESULT, journalHash } })
        .result;
    expect(settle('f0')).toMatchObject({ code: 'CONFLICT' });
    m.execute<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase: 'FINISHED' });
    settle('f1');
    settle('f2');
    expect(m.brokerage.state.competition?.result?.journalHash).toBe('f1');
  });

  it('a saved state has the entries and the result', () => {
    const m = market();
    add(m, 'a');
    m.execute<'RemoveEntry'>({ type: 'RemoveEntry', cell: 'cell of a', status: 'WITHDRAWN' });
    m.execute<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase: 'FINISHED' });
    m.execute<'SettleCompetition'>({ type: 'SettleCompetition', result: RESULT });
    const { rules, state } = m.brokerage;
    const saved = JSON.parse(JSON.stringify(saveState(state))) as SavedState;
    expect(Brokerage.restore(rules, saved).state.competition).toEqual(state.competition);
  });
});
