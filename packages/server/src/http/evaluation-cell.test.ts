/** The cell of an evaluation (D231): its commits, its interleavings, each forced, and the verification of its journal. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { standbyFrom } from '../engine/recovery/checkpoint.js';
import { verifyJournal } from '../engine/recovery/verify.js';
import { LineChain, trailerLine } from '../engine/transfers/simulation-file.js';
import { evaluationCellOf } from '../engine/values/cell-names.js';
import { evaluationBeginning, evaluationConfig } from '../evaluations/evaluation-cell.js';
import { cellsOf, entriesOf, entryName, evaluationName } from '../evaluations/notes.js';
import type { CellNote, EvaluationEntryNote, EvaluationNote } from '../evaluations/notes.js';
import { verifyEvaluation } from '../evaluations/verify-evaluation.js';
import { openMemoryStore } from '../store/sqlite/memory-store.js';
import { withEphemeral } from '../store/with-ephemeral.js';
import { gate } from '../testing/gate.js';
import { killable } from '../testing/killable-store.js';
import { startSimulations } from '../testing/simulations.js';
import { type Body, type Reply, TestApp, type TestClient } from '../testing/test-app.js';
import { turnsOfWrites } from '../testing/turns-of-writes.js';
import { evaluationReader } from './evaluation-reader.js';

const SETTINGS = { settings: { RATE_LIMIT_DEFAULT: '100000' } };
const GRANT = { tenantId: 'owner', tier: 'ENTERPRISE' as const, scope: 'trade read simulate admin' };
let app: TestApp;
let path: string;
let id: string;

const owner = (): TestClient => app.as(GRANT);
const definition = (more: Body = {}): Body => ({
  name: 'Agents',
  scenarios: [
    {
      name: 'a day',
      market: {
        feed: 'synthetic',
        clock: 'manual',
        start: '2026-01-05T14:30:00Z',
        end: '2026-01-05T21:00:00Z',
      },
      rules: {
        initialCash: 100_000,
        portfolioType: 'CASH',
        brokerId: 'default',
        assetClasses: ['EQUITY'],
        symbols: ['AAPL'],
      },
      seeds: [1, 2],
    },
  ],
  score: 'timeWeightedReturn',
  ...more,
});

async function create(more: Body = {}): Promise<void> {
  const { body, status, text } = await owner().post('/v1/evaluations', definition(more));
  expect(status, text).toBe(201);
  id = body.evaluationId as string;
  path = `/v1/evaluations/${id}`;
}

const enter = (entrant: string): Promise<Reply> => owner().post(`${path}/entries`, { entrant });
const withdraw = ({ body }: Reply): Promise<Reply> =>
  owner().delete(`${path}/entries/${body.entryId as string}`);
/** Ends the runs of an entry. */
async function finish({ body }: Reply): Promise<void> {
  for (const { token } of body.cells as Body[]) {
    const { status, text } = await app.withToken(token as string).post('/v1/evaluation/finish');
    expect([200, 409], text).toContain(status);
  }
}
const done = (): Promise<Body> =>
  vi.waitUntil(
    async () => {
      const { body } = await owner().get(path);
      return body.status === 'DONE' ? body : undefined;
    },
    { timeout: 10_000, interval: 5 },
  );

const noteOf = (): EvaluationNote =>
  JSON.parse(app.store.registry.setting(evaluationName(id)) ?? 'null') as EvaluationNote;
const rowsOf = (): readonly EvaluationEntryNote[] =>
  app.store.registry
    .settings(entriesOf(id))
    .map(([, text]) => JSON.parse(text) as EvaluationEntryNote)
    .sort((a, b) => a.number - b.number);
const runNotes = (): readonly CellNote[] =>
  app.store.registry.settings(cellsOf(id)).map(([, text]) => JSON.parse(text) as CellNote);
const simulationsIn = (role: 'CELL' | 'EVALUATION'): readonly string[] =>
  app.store.registry
    .simulations()
    .filter(({ config }) => config.includes(`"competition":{"id":"${id}","role":"${role}"`))
    .map(({ id: simulationId }) => simulationId);

/** The evaluation in its cell. */
async function inCell() {
  const { cellId = '', owner: tenantId } = noteOf();
  const cell = await app.simulations.directory.findEvaluation(evaluationCellOf(cellId), tenantId);
  const competition = cell?.brokerage.state.competition;
  if (competition === undefined) throw new Error('The evaluation has no cell');
  return { ...competition, entries: [...(competition.entries?.values() ?? [])] };
}

/** The cell, the registry and the simulations have the same entries and runs, and nothing else is left. */
async function expectSame(entries: number): Promise<void> {
  const { entries: noted, terms } = await inCell();
  expect(noted.map(({ entryId, number }) => [entryId, number])).toEqual(
    rowsOf().map((row) => [row.id, row.number]),
  );
  expect(noted).toHaveLength(entries);
  expect(terms.settingsHash).toBe(noteOf().digest);
  const known = new Set(rowsOf().map((row) => row.id));
  await vi.waitFor(() => {
    expect(runNotes().filter(({ entryId }) => !known.has(entryId))).toEqual([]);
    expect(new Set(simulationsIn('CELL'))).toEqual(new Set(runNotes().map((run) => run.id)));
    expect(simulationsIn('EVALUATION')).toEqual([evaluationCellOf(noteOf().cellId ?? '')]);
  });
}

function expectNothingLeft(): void {
  const names = app.store.registry.settings('evaluation').map(([name]) => name);
  expect(names.filter((name) => name.includes(id))).toEqual([]);
  expect([...simulationsIn('CELL'), ...simulationsIn('EVALUATION')]).toEqual([]);
}

async function exported(of = path): Promise<readonly string[]> {
  const { statusCode, body } = await app.app.inject({
    url: `${of}/export`,
    headers: { authorization: `Bearer ${owner().token ?? ''}` },
  });
  expect(statusCode, body).toBe(200);
  return body.trimEnd().split('\n');
}

async function verified(lines: readonly string[]): ReturnType<typeof verifyEvaluation> {
  const file = join(mkdtempSync(join(tmpdir(), 'sandpit-cell-')), 'evaluation.ndjson');
  writeFileSync(file, `${lines.join('\n')}\n`);
  try {
    return await verifyEvaluation(
      file,
      evaluationReader(() => openMemoryStore({ standbyFrom })),
    );
  } finally {
    rmSync(dirname(file), { recursive: true });
  }
}
const problemsOf = async (lines: readonly string[]): Promise<readonly string[]> =>
  (await verified(lines)).problems;

type WriteTest = (name: string, payload: string | undefined) => boolean;

/**
 * Calls `work` once, in the turn in which the store first receives a write that `isIt` selects. The answer of the store arrives when the work is
 * done, or has caused the write that `until` selects.
 */
function atWrite(isIt: WriteTest, work: () => unknown, until: WriteTest = () => false): void {
  const { registry, journal } = app.store;
  const [save, append] = [registry.saveSetting.bind(registry), journal.append.bind(journal)];
  const { passed, open } = gate();
  let isOver = false;
  const look = async (written: Promise<void>, name: string, payload?: string): Promise<void> => {
    if (isOver && until(name, payload)) open();
    if (!isOver && isIt(name, payload)) {
      isOver = true;
      await Promise.race([work(), passed]);
    }
    return written;
  };
  vi.spyOn(registry, 'saveSetting').mockImplementation((name, text) => look(save(name, text), name));
  vi.spyOn(journal, 'append').mockImplementation((record, answer) =>
    look(append(record, answer), 'append', record.payload),
  );
}
const isNewRun = (name: string): boolean => name.startsWith('evaluation-cell/');
const isNewEntry = (name: string): boolean => name.startsWith('evaluation-entry/');
const isNote = (name: string): boolean => name === evaluationName(id);
const isResult = (_: string, payload = ''): boolean => payload.includes('"CompetitionSettled"');

/** Stops the server without its knowledge at a write of `work`, and starts another one on its store. */
async function killedAt(isIt: (name: string) => boolean, work: () => Promise<unknown>): Promise<void> {
  const { store } = app;
  await app.app.close();
  await app.simulations.close();
  const process = killable(store);
  app = await TestApp.open({ ...SETTINGS, store: process.store });
  const killed = process.killAt(isIt);
  void work().catch(() => undefined);
  await killed;
  app = await TestApp.open({ ...SETTINGS, store });
}

beforeEach(async () => {
  app = await TestApp.open(SETTINGS);
  await create();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await app.close();
});

describe('the commits of an evaluation', () => {
  /** The first write of each kind is in the same turn. */
  const together = (turns: ReadonlyMap<string, Set<number>>, kinds: readonly string[]): void => {
    const firsts = kinds.map((kind) => [...(turns.get(kind) ?? [])][0] ?? `no ${kind}`);
    expect(new Set(firsts), kinds.join()).toHaveLength(1);
  };

  it('createEvaluation: the cell with its terms and the note are one commit', async () => {
    const turns = await turnsOfWrites(app.store, () => create());
    together(turns, ['simulation', 'CompetitionBegun', 'evaluation']);
  });

  it('updateEvaluation: another cell, the note and the end of the former baselines are one commit', async () => {
    await create({ baselines: ['noop'] });
    const turns = await turnsOfWrites(app.store, () => owner().put(path, { trials: 2 }));
    together(turns, ['simulation', 'CompetitionBegun', 'evaluation', 'evaluation-entry']);
    await expectSame(1);
  });

  it('enterEvaluation: the record of the evaluation and the note of the entry are one commit', async () => {
    const turns = await turnsOfWrites(app.store, () => enter('mia'));
    together(turns, ['EntryAdded', 'CompetitionPhaseChanged', 'evaluation-entry']);
  });

  it('withdrawEvaluationEntry: the record, the entry and the ends of its runs are one commit', async () => {
    const entered = await enter('mia');
    const turns = await turnsOfWrites(app.store, () => withdraw(entered));
    together(turns, ['EntryRemoved', 'evaluation-entry', 'evaluation-cell']);
  });

  it('the result, the note and the figures of the last run are one commit', async () => {
    const entered = await enter('mia');
    const turns = await turnsOfWrites(app.store, async () => {
      await finish(entered);
      await done();
    });
    together(turns, ['CompetitionSettled', 'evaluation']);
    const [settled] = [...(turns.get('CompetitionSettled') ?? [])];
    expect([...(turns.get('evaluation-cell') ?? [])]).toContain(settled);
  });
});

describe('the interleavings of an evaluation', () => {
  it('baselines leave it OPEN, an entry starts it, and its result has the hash of the runs', async () => {
    await create({ baselines: ['noop'] });
    expect((await inCell()).phase).toBe('OPEN');
    const entered = await enter('mia');
    expect((await inCell()).phase).toBe('RUNNING');
    await finish(entered);
    await done();
    const { phase, result, entries } = await inCell();
    expect(phase).toBe('FINISHED');
    expect(entries.map(({ isHouse = false }) => isHouse)).toEqual([true, false]);
    const board = await owner().get(`${path}/leaderboard`);
    expect(board.body.resultHash).toBe(result?.journalHash);
    expect(noteOf().settled).toEqual({ entries: 2, resultHash: result?.journalHash });
    expect(await problemsOf(await exported())).toEqual([]);
    app = await app.restart(SETTINGS);
    expect((await owner().get(path)).body.status).toBe('DONE');
    expect((await inCell()).result).toEqual(result);
    const report = await verifyJournal(app.store, evaluationCellOf(noteOf().cellId ?? ''));
    expect(report.problems).toEqual([]);
  });

  it('a withdrawal while another entrant enters leaves both in the cell', async () => {
    const mia = await enter('mia');
    let withdrawing: Promise<Reply> | undefined;
    atWrite(isNewEntry, () => (withdrawing = withdraw(mia)));
    const bob = await enter('bob');
    expect((await withdrawing)?.status).toBe(200);
    await expectSame(2);
    expect((await inCell()).entries.map(({ removed }) => removed?.status)).toEqual(['WITHDRAWN', undefined]);
    await finish(bob);
    const { matrix } = await done();
    expect((matrix as Body[]).map(({ entrant, reason }) => [entrant, reason])).toEqual([
      ['bob', 'FINISH'],
      ['bob', 'FINISH'],
      ['mia', 'WITHDRAWN'],
      ['mia', 'WITHDRAWN'],
    ]);
    expect(await problemsOf(await exported())).toEqual([]);
  });

  it('an entry is not listed and cannot be withdrawn before it is decided', async () => {
    let listing: Promise<Reply> | undefined;
    atWrite(isNewRun, () => (listing = owner().get(`${path}/entries`)));
    await enter('mia');
    expect((await listing)?.body.data).toEqual([]);
    expect((await owner().get(`${path}/entries`)).body.data).toHaveLength(1);
  });

  it('two entries of one name at once leave one entry and its runs', async () => {
    const both = await Promise.all(['mia', 'MIA'].map((name) => enter(name)));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    await expectSame(1);
  });

  it('entries at once are numbered in the order in which the cell took them', async () => {
    const entered = await Promise.all(['mia', 'bob', 'eve'].map((name) => enter(name)));
    await expectSame(3);
    for (const one of entered) await finish(one);
    await done();
    expect(await problemsOf(await exported())).toEqual([]);
  });

  it.each([
    ['at its first run', isNewRun],
    ['at its commit', isNewEntry],
  ])('an edit during an entry, %s, is rejected', async (_, isIt) => {
    let editing: Promise<Reply> | undefined;
    atWrite(isIt, () => (editing = owner().put(path, { trials: 2 })));
    expect((await enter('mia')).status).toBe(201);
    expect((await editing)?.body).toMatchObject({ error: { code: 'EVALUATION_STARTED' } });
    await expectSame(1);
  });

  it('an entry during an edit has the runs of the new definition', async () => {
    await create({ baselines: ['noop'] });
    const former = noteOf().cellId;
    let entering: Promise<Reply> | undefined;
    atWrite(isNote, () => {
      entering = enter('mia');
      return owner().get(path);
    });
    expect((await owner().put(path, { trials: 2 })).status).toBe(200);
    expect((await entering)?.body.cells).toHaveLength(4);
    expect(noteOf().cellId).not.toBe(former);
    await expectSame(2);
  });

  it.each([
    ['at its first run', isNewRun],
    ['at its commit', isNewEntry],
  ])('a deletion during an entry, %s, leaves nothing', async (_, isIt) => {
    let deleting: Promise<Reply> | undefined;
    atWrite(isIt, () => (deleting = owner().delete(path)), isNote);
    expect((await enter('mia')).status).toBe(404);
    expect((await deleting)?.status).toBe(200);
    expectNothingLeft();
  });

  it('a deletion during an edit leaves nothing', async () => {
    await create({ baselines: ['noop'] });
    const other = path;
    let deleting: Promise<Reply> | undefined;
    atWrite(isNote, () => (deleting = owner().delete(other)), isNote);
    await owner().put(path, { trials: 2 });
    expect((await deleting)?.status).toBe(200);
    expectNothingLeft();
  });

  it('an entry in the commit of the result resumes the evaluation, whose next result covers both', async () => {
    const mia = await enter('mia');
    let entering: Promise<Reply> | undefined;
    atWrite(isResult, () => (entering = enter('bob')), isNewRun);
    await finish(mia);
    await vi.waitFor(() => expect(entering).toBeDefined());
    const bob = await entering;
    if (bob === undefined) throw new Error('bob has not entered');
    const { phase, result } = await inCell();
    expect([phase, result]).toEqual(['RUNNING', undefined]);
    expect((await owner().get(path)).body.status).toBe('RUNNING');
    await finish(bob);
    await done();
    await expectSame(2);
    const lines = await exported();
    expect(lines.filter((line) => line.includes('"CompetitionSettled"'))).toHaveLength(2);
    expect(await problemsOf(lines)).toEqual([]);
  });

  it('the end of the last run in the commit of another entry is no end of the evaluation', async () => {
    const mia = await enter('mia');
    let finishing: Promise<void> | undefined;
    atWrite(isNewEntry, () => (finishing = finish(mia)));
    const bob = await enter('bob');
    await finishing;
    await vi.waitFor(() => expect(runNotes().filter(({ result }) => result !== undefined)).toHaveLength(2));
    expect((await inCell()).phase).toBe('RUNNING');
    await finish(bob);
    await done();
    const lines = await exported();
    expect(lines.filter((line) => line.includes('"CompetitionSettled"'))).toHaveLength(1);
    expect(await problemsOf(lines)).toEqual([]);
  });

  it('a kill between the runs of an entry and its commit leaves no entry and no run', async () => {
    await killedAt(isNewEntry, () => enter('mia'));
    await expectSame(0);
    expect((await owner().get(path)).body).toMatchObject({ status: 'OPEN', matrix: [] });
    const again = await enter('mia');
    expect(again.status).toBe(201);
    await finish(again);
    await done();
    expect(await problemsOf(await exported())).toEqual([]);
  });

  it('a kill between the end of the last run and the result gets the result at the next start', async () => {
    const mia = await enter('mia');
    await killedAt(
      (name) => name === evaluationName(id),
      () => finish(mia),
    );
    await done();
    await expectSame(1);
    expect((await inCell()).result?.journalHash).toBe(noteOf().settled?.resultHash);
    expect(await problemsOf(await exported())).toEqual([]);
  });

  it('a kill during an edit leaves the former definition or the new one, with its own cell', async () => {
    await create({ baselines: ['noop'] });
    /** The write of this number whose name `isIt` selects. The writes of a commit are none or all: one of them is the first. */
    const nth = (wanted: number, isIt: (name: string) => boolean) => {
      let seen = 0;
      return (name: string): boolean => isIt(name) && (seen += 1) === wanted;
    };
    const kills = [
      () => nth(1, (name) => name === 'createSimulation'),
      (run: string) => nth(1, (name) => name === run),
      (_: string, cell: string) => nth(1, (name) => name === cell),
      () => nth(2, (name) => name === 'createSimulation'),
      // The first one is deleted by the edit.
      () => nth(2, isNewEntry),
    ];
    for (const [index, kill] of kills.entries()) {
      const isIt = kill(runNotes()[0]?.id ?? '', evaluationCellOf(noteOf().cellId ?? ''));
      await killedAt(isIt, () => owner().put(path, { trials: 2 + index }));
      await vi.waitFor(() => expect(rowsOf()).toHaveLength(1));
      await expectSame(1);
    }
  });

  it('a deletion that a kill has cut off is completed by the next start', async () => {
    const mia = await enter('mia');
    await finish(mia);
    await done();
    await killedAt(
      (name) => name.startsWith('evaluation-entry/'),
      () => owner().delete(path),
    );
    expect((await owner().get(path)).status).toBe(404);
    await vi.waitFor(expectNothingLeft);
  });

  it.each([
    ['at its first run', isNewRun],
    ['at its commit', isNewEntry],
  ])('the erasure of the tenant during an entry, %s, leaves nothing', async (_, isIt) => {
    let erasing: Promise<void> | undefined;
    atWrite(isIt, () => (erasing = app.app.eraseTenant('owner')), isNote);
    expect([404, 503]).toContain((await enter('mia')).status);
    await erasing;
    expectNothingLeft();
  });
});

describe('the cell of an evaluation', () => {
  it('is not there for its owner: no list, no count, and 404 under its id', async () => {
    await enter('mia');
    const { cellId = '' } = noteOf();
    const listed = await owner().get('/v1/simulations');
    expect(listed.text).not.toContain(cellId);
    for (const named of [cellId, evaluationCellOf(cellId)]) {
      const url = `/v1/simulations/${encodeURIComponent(named)}`;
      const replies = [
        await owner().get(url),
        await owner().get(`${url}/export`),
        await owner().post(`${url}/token`),
        await owner().post(`${url}/forks`, {}),
        await owner().post(`${url}/snapshots`, {}),
        await owner().delete(url),
      ];
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
      const stepped = await owner().post('/v1/simulations/step', {
        steps: [{ simulationId: named, advance: { by: 'PT1H' } }],
      });
      expect(stepped.text).toContain('not found');
      const token = app.token({ ...GRANT, simulationId: named });
      expect((await app.withToken(token).get('/v1/simulation/clock')).status).toBeGreaterThanOrEqual(401);
    }
  });

  it('is in memory alone for an ephemeral evaluation', async () => {
    await app.close();
    const durable = await openMemoryStore({ standbyFrom });
    const memory = await openMemoryStore({ standbyFrom });
    app = await TestApp.open({ ...SETTINGS, store: withEphemeral(durable, memory, 8 * 1024 * 1024) });
    await create({ ephemeral: true });
    const mia = await enter('mia');
    await finish(mia);
    await done();
    expect(await problemsOf(await exported())).toEqual([]);
    const cell = evaluationCellOf(noteOf().cellId ?? '');
    expect(app.store.registry.simulation(cell)).toBeDefined();
    expect(durable.registry.simulation(cell)).toBeUndefined();
  });
});

describe('sandpit eval verify', () => {
  let lines: readonly string[];
  const changed = (change: (header: Body) => unknown, of = lines): readonly string[] => {
    const header = JSON.parse(of[0] ?? '');
    change(header);
    return [JSON.stringify(header), ...of.slice(1)];
  };
  /** Index of the header of each simulation: the first is that of the evaluation. */
  const beginnings = (of = lines): readonly number[] =>
    of.flatMap((line, index) => (line.startsWith('{"type":"header"') ? [index] : []));
  const entryOf = (header: Body, entrant: string): Body =>
    (header.entries as Body[]).find((entry) => entry.entrant === entrant);
  /** The lines with another journal of the evaluation, whose chain and numbers fit. */
  function withJournal(change: (journal: readonly string[]) => readonly string[]): readonly string[] {
    const [from = 0, to = 0] = beginnings();
    const chain = new LineChain();
    let seq = 0;
    const journal = change(lines.slice(from, to - 1)).map((line) =>
      line.startsWith('{"seq":') ? line.replace(/^\{"seq":\d+/, () => `{"seq":${(seq += 1)}`) : line,
    );
    for (const line of journal) chain.take(line);
    return [...lines.slice(0, from), ...journal, trailerLine(seq, chain.hash), ...lines.slice(to)];
  }

  beforeEach(async () => {
    const mia = await enter('mia');
    const bob = await enter('bob');
    const eve = await enter('eve');
    await withdraw(bob);
    await finish(mia);
    await finish(eve);
    await done();
    lines = await exported();
  });

  it('finds nothing in an unchanged file', async () => {
    expect(await problemsOf(lines)).toEqual([]);
  });

  it('names entries that were left out, exchanged or renumbered, and withdrawals that were', async () => {
    const problems = async (change: (header: Body) => unknown): Promise<string> =>
      (await problemsOf(changed(change))).join('\n');
    const leftOut = await problems((header) => (header.entries as Body[]).pop());
    expect(leftOut).toContain('entry 1 of the journal of the evaluation is missing');
    const exchanged = await problems((header) => {
      const [mia, eve] = [entryOf(header, 'mia'), entryOf(header, 'eve')];
      [mia.entryId, eve.entryId] = [eve.entryId, mia.entryId];
    });
    expect(exchanged).toContain('mia: its cells are not those that it was entered with');
    expect(exchanged).toContain('eve: its cells are not those that it was entered with');
    const renumbered = await problems((header) => {
      [entryOf(header, 'mia').number, entryOf(header, 'eve').number] = [3, 1];
    });
    expect(renumbered).toContain('mia: it is entry 1, not 3');
    const reordered = await problems((header) => (header.entries as Body[]).reverse());
    expect(reordered).toContain('the rows of the matrix are not those of the cells');
    const trusted = await problems((header) => delete entryOf(header, 'bob').withdrawn);
    expect(trusted).toContain('bob: it was withdrawn');
    const accused = await problems((header) => (entryOf(header, 'mia').withdrawn = true));
    expect(accused).toContain('mia: it was not withdrawn');
    const added = await problems((header) => (entryOf(header, 'mia').entryId = id));
    expect(added).toContain('mia: it is not an entry of the journal of the evaluation');
  });

  it('names a run that is WITHDRAWN though its entry was not', async () => {
    const at = lines.findIndex((line) => line.startsWith('{"type":"row"') && line.includes('"mia"'));
    const text = lines.map((line, index) =>
      index === at ? line.replace('"reason":"FINISH"', '"reason":"WITHDRAWN"') : line,
    );
    expect(await problemsOf(text)).toContain('mia: cells are WITHDRAWN, and it was not withdrawn');
  });

  it('rejects a journal of the evaluation of which lines were removed', async () => {
    const at = lines.findIndex((line) => line.includes('"EntryRemoved"'));
    await expect(verified(lines.toSpliced(at, 1))).rejects.toThrow(/record 6 stands where record 5 belongs/);
  });

  it.each(['EntryAdded', 'EntryRemoved', 'CompetitionSettled'])(
    'names what follows from a removed %s, even with a chain that fits',
    async (type) => {
      const text = withJournal((journal) =>
        journal.toSpliced(
          journal.findIndex((line) => line.includes(`"${type}"`)),
          1,
        ),
      );
      expect((await problemsOf(text)).join('\n')).toMatch(
        {
          EntryAdded: /journal of the evaluation: record 2: .*\n(.*\n)*mia: it is not an entry/,
          EntryRemoved: /^bob: it was not withdrawn\nbob: cells are WITHDRAWN, and it was not withdrawn$/,
          CompetitionSettled: /^journal of the evaluation: its result is not resultHash$/,
        }[type] ?? /never/,
      );
    },
  );

  it('names the journal of another evaluation', async () => {
    const first = path;
    await create();
    for (const name of ['mia', 'bob', 'eve']) await finish(await enter(name));
    await done();
    const other = await exported();
    const [from = 0, to = 0] = beginnings();
    const [otherFrom = 0, otherTo = 0] = beginnings(other);
    const spliced = [...lines.slice(0, from), ...other.slice(otherFrom, otherTo), ...lines.slice(to)];
    const problems = (await problemsOf(spliced)).join('\n');
    for (const problem of [
      'journal of the evaluation: it is another one than that of the first line',
      'journal of the evaluation: it belongs to another evaluation',
      'journal of the evaluation: its seed does not follow from the draw of the evaluation',
      'journal of the evaluation: its result is not resultHash',
      'mia: it is not an entry of the journal of the evaluation',
      'entry 1 of the journal of the evaluation is missing',
    ])
      expect(problems).toContain(problem);
    expect(await problemsOf(await exported(first))).toEqual([]);
  });

  it('names the missing journal of the evaluation', async () => {
    const [from = 0, to = 0] = beginnings();
    const problems = await problemsOf([...lines.slice(0, from), ...lines.slice(to)]);
    expect(problems.join('\n')).toContain('journal of the evaluation: it is another one');
    expect(problems.join('\n')).toContain('simulations of cells are missing');
  });

  it('reads a file of format 1, and says what that cannot prove', async () => {
    const [from = 0, to = 0] = beginnings();
    const earlier = changed(
      (header) => {
        header.format = 1;
        delete header.cellId;
        for (const entry of header.entries as Body[]) {
          delete entry.number;
          delete entry.withdrawn;
        }
      },
      [...lines.slice(0, from), ...lines.slice(to)],
    );
    const { problems, unverified } = await verified(earlier);
    expect(problems).toEqual([]);
    expect(unverified).toContain('order of entering');
    expect((await verified(lines)).unverified).not.toContain('order of entering');
  });
});

describe('evaluations of earlier versions', () => {
  /** Closes the server, changes the store, and starts another one on it. */
  async function restartedWith(
    change: (
      parts: { readonly note: EvaluationNote } & Awaited<ReturnType<typeof startSimulations>>,
    ) => unknown,
  ): Promise<void> {
    const { store } = app;
    const note = noteOf();
    await app.app.close();
    await app.simulations.close();
    const started = await startSimulations({}, store);
    await change({ note, ...started });
    await started.simulations.close();
    app = await TestApp.open({ ...SETTINGS, store });
  }

  it.each([false, true])(
    'an evaluation without a cell gets one with its entries, withdrawals and result (all runs over: %s)',
    async (isOver) => {
      const mia = await enter('mia');
      const bob = await enter('bob');
      await withdraw(bob);
      if (isOver) {
        await finish(mia);
        await done();
      }
      await restartedWith(async ({ note, simulations, store: { registry } }) => {
        const { cellId = '', settled: _, ...earlier } = note;
        await simulations.directory.remove(evaluationCellOf(cellId), note.owner);
        await registry.saveSetting(evaluationName(id), JSON.stringify({ ...earlier, cellId: undefined }));
        for (const [index, row] of rowsOf().entries()) {
          const entry = { ...row, number: 1 + 2 * index, isWithdrawn: undefined };
          await registry.saveSetting(entryName(entry), JSON.stringify(entry));
        }
      });
      await vi.waitFor(async () => expect((await inCell()).entries).toHaveLength(2));
      if (!isOver) await finish(mia);
      const eve = await enter('eve');
      await finish(eve);
      await done();
      await expectSame(3);
      expect((await inCell()).entries.map(({ removed }) => removed?.status)).toEqual([
        undefined,
        'WITHDRAWN',
        undefined,
      ]);
      expect(await problemsOf(await exported())).toEqual([]);
    },
  );

  it('an entry of which the registry alone became durable is added to the cell when that is next used', async () => {
    const mia = await enter('mia');
    await restartedWith(async ({ note, simulations, store: { registry } }) => {
      const empty = { ...note, cellId: '00000000-0000-4000-8000-000000000000' };
      await simulations.creation.createCompetitionMarket(
        note.owner,
        evaluationConfig(empty),
        evaluationCellOf(empty.cellId),
        () => ({
          commands: [evaluationBeginning(empty)],
          alongside: () => registry.saveSetting(evaluationName(id), JSON.stringify(empty)),
        }),
      );
      await simulations.directory.remove(evaluationCellOf(note.cellId ?? ''), note.owner);
    });
    expect((await withdraw(mia)).status).toBe(200);
    await done();
    expect((await inCell()).entries).toMatchObject([{ number: 1, removed: { status: 'WITHDRAWN' } }]);
    expect(await problemsOf(await exported())).toEqual([]);
  });
});
