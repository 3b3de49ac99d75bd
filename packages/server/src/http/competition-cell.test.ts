/** The cell of a competition (D231): its interleavings, each forced, and what earlier versions have stored. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { competitionName, entriesPrefix, entryName } from '../competitions/notes.js';
import type { CompetitionNote, EarlierResult, EntryNote } from '../competitions/notes.js';
import { verifyCompetition } from '../competitions/verify-competition.js';
import { contest } from '../testing/competitions.js';
import { startSimulations } from '../testing/simulations.js';
import { type Body, type Reply, TestApp, type TestClient } from '../testing/test-app.js';
import { turnsOfWrites } from '../testing/turns-of-writes.js';
import { settingsFiled } from './translate/competitions.js';

const SETTINGS = { settings: { RATE_LIMIT_DEFAULT: '100000' } };
let app: TestApp;
let path: string;
let id: string;

const organizerOf = (of: TestApp): TestClient =>
  of.as({ tenantId: 'organizer', tier: 'ENTERPRISE', scope: 'trade read simulate admin' });
const tenantOf = (name: string): TestClient => app.as({ tenantId: `tenant of ${name}` });
const enter = (displayName: string, more: Body = {}): Promise<Reply> =>
  tenantOf(displayName).post(`${path}/entries`, { displayName, ...more });

async function create(more: Body = {}): Promise<Body> {
  const { body } = await organizerOf(app).post(
    '/v1/competitions',
    contest({ visibility: 'PUBLIC', ...more }),
  );
  id = body.competitionId as string;
  path = `/v1/competitions/${id}`;
  return body;
}

const noteOf = (): CompetitionNote =>
  JSON.parse(app.store.registry.setting(competitionName(id)) ?? 'null') as CompetitionNote;
const rowsOf = (): readonly EntryNote[] =>
  app.store.registry.settings(entriesPrefix(id)).map(([, text]) => JSON.parse(text) as EntryNote);
const cellsOf = (): readonly string[] =>
  app.store.registry
    .simulations()
    .filter(({ config }) => config.includes('"role":"ENTRY"'))
    .map(({ id: cell }) => cell);

/** The competition in its cell. */
async function inCell() {
  const { marketId, organizer } = noteOf();
  const market = await app.simulations.directory.find(marketId, organizer);
  const competition = market?.brokerage.state.competition;
  if (competition === undefined) throw new Error('The competition has no cell');
  return { ...competition, entries: [...(competition.entries?.values() ?? [])] };
}

const board = async (): Promise<readonly Body[]> =>
  (await organizerOf(app).get(`${path}/leaderboard`)).body.rows as Body[];

/** Problems that the verification finds in the file of the competition. `change` is applied to its first line. */
async function problemsOfFile(change: (header: Record<string, unknown>) => void = () => undefined) {
  const { body } = await app.app.inject({
    url: `${path}/export`,
    headers: { authorization: `Bearer ${organizerOf(app).token ?? ''}` },
  });
  const [first = '', ...lines] = body.split('\n');
  const header = JSON.parse(first) as Record<string, unknown>;
  change(header);
  const file = join(mkdtempSync(join(tmpdir(), 'sandpit-cell-')), 'cup.ndjson');
  writeFileSync(file, [JSON.stringify(header), ...lines].join('\n'));
  try {
    return (await verifyCompetition(file, settingsFiled)).problems;
  } finally {
    rmSync(dirname(file), { recursive: true });
  }
}

/** Entries of the cell, of the registry, and simulations: all three are the same. */
async function expectSameEntries(count: number): Promise<void> {
  const cells = (await inCell()).entries.map(({ cell }) => cell);
  expect(cells).toHaveLength(count);
  expect(rowsOf().map(({ simulationId }) => simulationId)).toEqual(expect.arrayContaining(cells));
  expect(rowsOf()).toHaveLength(count);
  expect(cellsOf()).toEqual(expect.arrayContaining(cells));
}

beforeEach(async () => {
  app = await TestApp.open(SETTINGS);
  await create();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await app.close();
});

describe('the commits of a competition', () => {
  const turnsOf = (work: () => Promise<unknown>) => turnsOfWrites(app.store, work);

  const oneOf = (turns: ReadonlyMap<string, Set<number>>, kinds: readonly string[]): void => {
    const all = new Set(kinds.flatMap((kind) => [...(turns.get(kind) ?? [`no ${kind}`])]));
    expect([...all], kinds.join()).toHaveLength(1);
  };

  it('createCompetition: the market with its terms and the note are one commit', async () => {
    oneOf(await turnsOf(() => create()), ['simulation', 'CompetitionBegun', 'competition']);
  });

  it('enterCompetition: the record of the competition, the simulation with its portfolio and the note are one commit', async () => {
    const turns = await turnsOf(() => enter('Ann'));
    oneOf(turns, ['EntryAdded', 'simulation', 'CompetitionBegun', 'PortfolioOpened', 'competition-entry']);
  });

  it('finishCompetition: the result and the note are one commit, and so are those of a cancellation', async () => {
    await enter('Ann');
    await organizerOf(app).post(`${path}/start`);
    oneOf(await turnsOf(() => organizerOf(app).post(`${path}/finish`)), [
      'CompetitionSettled',
      'competition',
    ]);
    await create();
    oneOf(await turnsOf(() => organizerOf(app).delete(path)), ['CANCELED', 'competition']);
  });
});

describe('the interleavings of a competition', () => {
  it('an entry that is acknowledged while the competition ends is in the result', async () => {
    await enter('Ann');
    await organizerOf(app).post(`${path}/start`);
    const names = ['Bea', 'Cea', 'Dea', 'Eva'];
    const [, ...entered] = await Promise.all([
      organizerOf(app).post(`${path}/finish`),
      ...names.map((name) => enter(name)),
    ]);
    const acknowledged = names.filter((_, index) => entered[index]?.status === 201);
    for (const { status } of entered) expect([201, 409]).toContain(status);
    const ranked = (await board()).map(({ displayName }) => displayName);
    expect(new Set(ranked)).toEqual(new Set(['Ann', ...acknowledged]));
    await expectSameEntries(1 + acknowledged.length);
    expect(await problemsOfFile()).toEqual([]);
  });

  it('simultaneous entries are exported in the order in which the competition took them', async () => {
    await Promise.all(['Ann', 'Bea', 'Cea', 'Dea'].map((name) => enter(name)));
    await organizerOf(app).post(`${path}/start`);
    await organizerOf(app).post(`${path}/finish`);
    expect((await inCell()).entries.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
    expect(await problemsOfFile()).toEqual([]);
  });

  it('the last place and its join code go to one of two tenants that enter at once', async () => {
    const { joinCode } = await create({ entry: 'CODE', capacity: 1 });
    const statuses = (await Promise.all(['Ann', 'Bea'].map((name) => enter(name, { joinCode })))).map(
      ({ status }) => status,
    );
    expect(statuses.sort()).toEqual([201, 409]);
    expect((await inCell()).entries).toHaveLength(1);
    expect(rowsOf()).toHaveLength(1);
  });

  it('an entry and a cancellation at once leave both or only the cancellation', async () => {
    const [canceled, entered] = await Promise.all([organizerOf(app).delete(path), enter('Ann')]);
    expect(canceled.status).toBe(200);
    expect([201, 409]).toContain(entered.status);
    await expectSameEntries(entered.status === 201 ? 1 : 0);
  });

  it('an entry during an edit of the market is in the market that the competition keeps', async () => {
    const [edited, entered] = await Promise.all([
      organizerOf(app).put(path, contest({ visibility: 'PUBLIC', rules: { initialCash: 50_000 } })),
      enter('Ann'),
    ]);
    expect(entered.status).toBe(201);
    expect([200, 409]).toContain(edited.status);
    await expectSameEntries(1);
    expect((await organizerOf(app).post(`${path}/start`)).status).toBe(200);
    const [row] = await board();
    expect(row?.totalEquity).toBe(edited.status === 200 ? 50_000 : 100_000);
  });

  it('a withdrawal during the start is called off or ranked, as the cell has it', async () => {
    await enter('Ann');
    const entered = await enter('Bea');
    const [withdrawn] = await Promise.all([
      tenantOf('Bea').delete(`${path}/entries/${entered.body.entryId as string}`),
      organizerOf(app).post(`${path}/start`),
    ]);
    expect(withdrawn.body).toMatchObject({ status: 'WITHDRAWN' });
    await organizerOf(app).post(`${path}/finish`);
    const isCalledOff = rowsOf().find(({ displayName }) => displayName === 'Bea')?.isCalledOff === true;
    const ranked = (await board()).map(({ displayName, status }) => [displayName, status]);
    expect(ranked).toEqual([['Ann', 'ACTIVE'], ...(isCalledOff ? [] : [['Bea', 'WITHDRAWN']])]);
    expect((await inCell()).entries[1]?.removed?.status).toBe('WITHDRAWN');
    expect(await problemsOfFile()).toEqual([]);
  });

  it('the erasure of an entrant during the entry leaves no name', async () => {
    const entering = enter('Ann');
    await app.app.eraseTenant('tenant of Ann');
    await entering;
    await app.app.eraseTenant('tenant of Ann');
    for (const row of rowsOf()) expect(row).toMatchObject({ tenantId: '', displayName: 'erased entrant' });
    expect(JSON.stringify(app.store.registry.settings('competition'))).not.toContain('Ann');
  });

  it('the erasure of the organizer during an entry leaves neither competition nor simulations', async () => {
    const entering = enter('Ann');
    await app.app.eraseTenant('organizer');
    expect([201, 404, 409, 503]).toContain((await entering).status);
    expect(app.store.registry.settings('competition')).toEqual([]);
    expect(cellsOf()).toEqual([]);
  });

  it('a removal whose record alone survived a kill is followed by the entry at the next start, at its instant', async () => {
    await enter('Ann');
    const entered = await enter('Bea');
    await organizerOf(app).post(`${path}/start`);
    const { marketId, organizer } = noteOf();
    const { store } = app;
    await app.app.close();
    await app.simulations.close();
    const { simulations } = await startSimulations({}, store);
    const market = await simulations.directory.find(marketId, organizer);
    await market?.submit<'RemoveEntry'>({
      type: 'RemoveEntry',
      cell: entered.body.simulationId as string,
      status: 'DISQUALIFIED',
      reason: 'two accounts',
    });
    const removedAt = market?.now();
    await simulations.close();
    app = await TestApp.open({ ...SETTINGS, store });
    await organizerOf(app).post(`${path}/finish`);
    expect(await board()).toMatchObject([
      { displayName: 'Ann', status: 'ACTIVE' },
      { displayName: 'Bea', status: 'DISQUALIFIED' },
    ]);
    const [, bea] = (await organizerOf(app).get(`${path}/entries`)).body.data as Body[];
    expect(bea).toMatchObject({ status: 'DISQUALIFIED', reason: 'two accounts' });
    const cell = await app.simulations.directory.find(entered.body.simulationId as string, organizer);
    expect(cell?.brokerage.state.competition?.removed?.at).toBe(removedAt);
    expect(await problemsOfFile()).toEqual([]);
  });

  it('a competition that was killed between its end and its result gets the result at the next start', async () => {
    await enter('Ann');
    await organizerOf(app).post(`${path}/start`);
    const { marketId, organizer } = noteOf();
    const { store } = app;
    await app.app.close();
    await app.simulations.close();
    const { simulations } = await startSimulations({}, store);
    const market = await simulations.directory.find(marketId, organizer);
    await market?.submit<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase: 'FINISHED' });
    await simulations.close();
    app = await TestApp.open({ ...SETTINGS, store });
    expect((await organizerOf(app).get(path)).body.status).toBe('FINISHED');
    expect(await board()).toMatchObject([{ displayName: 'Ann', status: 'ACTIVE' }]);
    expect((await inCell()).result?.journalHash).toBe(noteOf().result?.journalHash);
    expect(await problemsOfFile()).toEqual([]);
  });
});

describe('verify', () => {
  it('finds an entrant that was left out of the file, and another order of entering', async () => {
    await enter('Ann');
    await enter('Bea');
    await organizerOf(app).post(`${path}/start`);
    await organizerOf(app).post(`${path}/finish`);
    expect(await problemsOfFile()).toEqual([]);
    const withoutBea = await problemsOfFile((header) => (header.entries as Body[]).pop());
    expect(withoutBea).toContain("entry 2 of the market's journal is missing");
    const reversed = await problemsOfFile((header) => (header.entries as Body[]).reverse());
    expect(reversed).toContain('entries are not in the order of entering');
  });
});

describe('competitions of earlier versions', () => {
  const entryIdOf = (name: string): string =>
    `11111111-0000-4000-8000-0000000${Buffer.from(name.slice(0, 2)).toString('hex')}0`;

  /** The store as it was before competitions had cells: entries are a simulation and a note. */
  async function asEarlier(phase?: 'FINISHED'): Promise<{ readonly note: CompetitionNote }> {
    const note = noteOf();
    const { store } = app;
    await app.app.close();
    await app.simulations.close();
    const { simulations } = await startSimulations({}, store);
    const market = await simulations.directory.find(note.marketId, note.organizer);
    if (market === undefined) throw new Error('The market is gone');
    for (const [index, name] of ['Ann', 'Bea'].entries()) {
      const cell = `00000000-0000-4000-8000-00000000000${index}`;
      const { register, brokerage } = await simulations.creation.prepareEntry(
        market,
        { seed: index, idSecret: `${index}`.repeat(32) },
        cell,
        () => [
          { type: 'BeginCompetition', terms: market.brokerage.state.competition!.terms, phase: 'OPEN' },
          {
            type: 'OpenPortfolio',
            by: { tier: 'PRO' },
            accountId: cell,
            accountType: 'INDIVIDUAL',
            ...note.settings.portfolio,
            proAccounts: 1,
          },
        ],
      );
      const entry: EntryNote = {
        id: entryIdOf(name),
        competitionId: id,
        number: 1 + index,
        tenantId: `tenant of ${name}`,
        displayName: name,
        simulationId: cell,
        portfolioId: [...brokerage.state.portfolios.keys()][0] ?? '',
        createdAt: index,
      };
      await Promise.all([register(), store.registry.saveSetting(entryName(entry), JSON.stringify(entry))]);
    }
    if (phase !== undefined) {
      await market.submit<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase: 'RUNNING' });
      await market.submit<'SetCompetitionPhase'>({ type: 'SetCompetitionPhase', phase });
      const rows = ['Ann', 'Bea'].map((displayName) => ({
        rank: 1,
        entryId: entryIdOf(displayName),
        displayName,
        totalEquity: 100_000,
        return: 0,
        maxDrawdown: 0,
        trades: 0,
        status: 'ACTIVE' as const,
      }));
      const result: EarlierResult = { at: 1, rows, curves: [], journalHash: 'f'.repeat(64), records: [] };
      await store.registry.saveSetting(competitionName(id), JSON.stringify({ ...note, result }));
    }
    await simulations.close();
    app = await TestApp.open({ ...SETTINGS, store });
    return { note };
  }

  it('entries that were notes alone are carried over to the cell, trade and are ranked', async () => {
    await asEarlier();
    expect((await organizerOf(app).get(path)).body).toMatchObject({ status: 'OPEN', entries: 2 });
    await vi.waitFor(async () => expect((await inCell()).entries).toHaveLength(2));
    expect((await enter('Cea')).status).toBe(201);
    await organizerOf(app).post(`${path}/start`);
    app = await app.restart(SETTINGS);
    expect((await board()).map(({ displayName }) => displayName)).toEqual(['Ann', 'Bea', 'Cea']);
    expect((await inCell()).entries.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  it('a result with names is carried over to the cell unchanged, and then has no names', async () => {
    await asEarlier('FINISHED');
    const before = await board();
    expect(before.map(({ displayName }) => displayName)).toEqual(['Ann', 'Bea']);
    await vi.waitFor(() => expect(noteOf().result).toEqual({ at: 1, journalHash: 'f'.repeat(64) }));
    expect(await board()).toEqual(before);
    app = await app.restart(SETTINGS);
    expect(await board()).toEqual(before);
    expect(JSON.stringify((await inCell()).result)).not.toContain('displayName');
    await app.app.eraseTenant('tenant of Bea');
    expect((await board()).map(({ displayName }) => displayName)).toEqual(['Ann', 'erased entrant']);
  });
});
