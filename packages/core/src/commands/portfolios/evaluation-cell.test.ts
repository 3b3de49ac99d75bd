/** The cell of an evaluation (D231): a competition without portfolios, whose entries have many simulations and may follow its end. */
import { beforeEach, expect, it } from 'vitest';
import type { CompetitionResult } from '../../competitions/competition.js';
import { Brokerage } from '../../brokerage.js';
import { saveState } from '../../saved-state.js';
import { stateHash } from '../../state-hash.js';
import { auditAfterEach } from '../../testing/audit-after-each.js';
import { TestMarket } from '../../testing/market.js';

const audited = auditAfterEach();
let market: TestMarket;

const result = (journalHash: string): CompetitionResult => ({
  at: 0,
  rows: [],
  curves: [],
  journalHash,
  records: [],
});
const settle = (journalHash: string, entries: number) =>
  market.execute<'SettleCompetition'>({ type: 'SettleCompetition', result: result(journalHash), entries });
const add = (entryId: string, isHouse?: true) =>
  market.execute<'AddEntry'>({
    type: 'AddEntry',
    entryId,
    digest: `digest of ${entryId}`,
    ...(isHouse && { isHouse }),
  });
const withdraw = (entryId: string) =>
  market.execute<'RemoveEntry'>({ type: 'RemoveEntry', entryId, status: 'WITHDRAWN' });
const competition = () => {
  const found = market.brokerage.state.competition;
  if (found === undefined) throw new Error('There is no competition');
  return found;
};
const typesOf = ({ events }: { readonly events: readonly { readonly type: string }[] }): readonly string[] =>
  events.map(({ type }) => type);

beforeEach(() => {
  market = audited(new TestMarket());
  const now = market.brokerage.at;
  market.execute<'BeginCompetition'>({
    type: 'BeginCompetition',
    terms: {
      startsAt: now,
      endsAt: now,
      isEvaluation: true,
      isOpenEnded: true,
      rules: { assetClasses: [] },
    },
    phase: 'OPEN',
  });
});

it('baselines leave an evaluation OPEN, and its first entrant starts it in the record of the entry', () => {
  expect(typesOf(add('hold', true))).toEqual(['EntryAdded']);
  expect(competition().phase).toBe('OPEN');
  expect(typesOf(add('mia'))).toEqual(['CompetitionPhaseChanged', 'EntryAdded']);
  expect(competition().phase).toBe('RUNNING');
  expect([...(competition().entries?.values() ?? [])]).toEqual([
    { entryId: 'hold', number: 1, digest: 'digest of hold', isHouse: true },
    { entryId: 'mia', number: 2, digest: 'digest of mia' },
  ]);
});

it('an entry takes part once', () => {
  add('mia');
  expect(add('mia').result).toMatchObject({ code: 'CONFLICT' });
});

it('the result is the end, in one record, and is refused when it does not cover every entry', () => {
  add('mia');
  add('bob');
  expect(settle('a', 1).result).toMatchObject({ code: 'CONFLICT' });
  expect(competition().phase).toBe('RUNNING');
  expect(typesOf(settle('a', 2))).toEqual(['CompetitionPhaseChanged', 'CompetitionSettled']);
  expect(typesOf(settle('b', 2))).toEqual([]);
  expect(competition().result?.journalHash).toBe('a');
});

it('an evaluation without an entrant has no result', () => {
  add('hold', true);
  expect(settle('a', 1).result).toMatchObject({ code: 'CONFLICT' });
});

it('an entry after the end resumes the evaluation, and the next result replaces the earlier one', () => {
  add('mia');
  settle('a', 1);
  expect(typesOf(add('bob'))).toEqual(['CompetitionPhaseChanged', 'EntryAdded']);
  expect(competition()).toMatchObject({ phase: 'RUNNING' });
  expect(competition().result).toBeUndefined();
  settle('b', 2);
  expect(competition().result?.journalHash).toBe('b');
});

it('a withdrawal counts once, and not after the end', () => {
  add('mia');
  add('bob');
  expect(typesOf(withdraw('mia'))).toEqual(['EntryRemoved']);
  expect(typesOf(withdraw('mia'))).toEqual([]);
  settle('a', 2);
  expect(typesOf(withdraw('bob'))).toEqual([]);
  expect(competition().entries?.get('mia')?.removed?.status).toBe('WITHDRAWN');
});

it('its clock stands: no timer ends it', () => {
  add('mia');
  expect(Object.values(market.brokerage.state.competitionTimers)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it('a saved state has its entries and its result', () => {
  add('mia');
  add('bob');
  withdraw('mia');
  settle('a', 2);
  const { state } = market.brokerage;
  const { state: restored } = Brokerage.restore(market.brokerage.rules, saveState(state));
  expect(restored.competition).toEqual(state.competition);
  expect(stateHash(restored)).toBe(stateHash(state));
});
