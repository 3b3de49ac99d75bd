import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { executeFile, headerProblems } from '../competitions/verify-competition.js';
import { payloadOf } from '../engine/records/record-text.js';
import { contest } from '../testing/competitions.js';
import { credentialsIn, inDirectory, ServerProcess } from '../testing/server-process.js';
import { type Body, orderBody } from '../testing/test-app.js';
import { settingsFiled } from './translate/competitions.js';

const SETTINGS = { MARKET_FEED: 'push', RATE_LIMIT_DEFAULT: '1000000' };
const ENTRIES = 6;

const CONTEST = contest({ rules: { entriesPerTenant: 100 } });

/** Moments at which the server is killed. */
const MOMENTS = ['a third of the entries', 'the start was sent'] as const;

it('a server that is killed while a competition is entered and started keeps every acknowledged entry and starts it once', async () => {
  await inDirectory(async (directory) => {
    const environment = { ...SETTINGS, DATA_DIR: directory };
    let server = ServerProcess.launch(environment);
    let baseUrl = await server.listening;
    const { token: organizer } = credentialsIn(directory);
    const send = async (method: string, path: string, body?: object, token = organizer): Promise<Body> => {
      const response = await fetch(`${baseUrl}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
      return response.json();
    };

    for (const moment of MOMENTS) {
      const next = ServerProcess.prepare(environment);
      const cup = await send('POST', '/competitions', CONTEST);
      const path = `/competitions/${cup.competitionId as string}`;
      await send(
        'PUT',
        '/simulation/quotes',
        { quotes: [{ symbol: 'AAA', bid: 99, ask: 100, last: 99 }] },
        cup.token,
      );
      let killed: Promise<unknown> | undefined;
      const acknowledged: Body[] = [];
      const enter = async (displayName: string): Promise<void> => {
        const entry = await send('POST', `${path}/entries`, { displayName }).catch(() => undefined);
        if (entry === undefined) return;
        acknowledged.push(entry);
        if (moment === 'a third of the entries' && acknowledged.length === ENTRIES / 3)
          killed = server.end('SIGKILL');
      };
      await Promise.all(Array.from({ length: ENTRIES }, (_, number) => enter(`Entry ${number}`)));
      const started = moment === 'a third of the entries' ? undefined : send('POST', `${path}/start`);
      started?.catch(() => undefined);
      killed ??= server.end('SIGKILL');
      await killed;

      next.go();
      server = next;
      baseUrl = await server.listening;
      const found = await send('GET', path);
      expect(['OPEN', 'RUNNING'], moment).toContain(found.status);
      expect(found.entries, moment).toBeGreaterThanOrEqual(acknowledged.length);
      await send('POST', `${path}/start`);
      await send('POST', `${path}/start`);
      expect((await send('GET', path)).status).toBe('RUNNING');
      for (const { portfolioId, token } of acknowledged) {
        const order = { symbol: 'AAA', orderType: 'MARKET', limitPrice: undefined, quantity: 1 };
        await send('POST', '/orders', orderBody(portfolioId as string, order), token as string);
      }
      // A name whose entry was not acknowledged is either in use or free.
      const listed = (await send('GET', `${path}/entries?limit=100`)).data as Body[];
      for (let number = 0; number < ENTRIES; number++) {
        const displayName = `Entry ${number}`;
        if (!listed.some((entry) => entry.displayName === displayName))
          await send('POST', `${path}/entries`, { displayName });
      }
      await send('POST', `${path}/finish`);
      const board = await send('GET', `${path}/leaderboard`);
      expect(board.rows, moment).toHaveLength(ENTRIES);

      const exported = await fetch(`${baseUrl}/v1${path}/export`, {
        headers: { authorization: `Bearer ${organizer}` },
      });
      const file = join(directory, 'cup.ndjson');
      const text = await exported.text();
      writeFileSync(file, text);
      const executed = await executeFile(file);
      expect([...executed.problems, ...headerProblems(executed, settingsFiled)], moment).toEqual([]);
      expect(startsOf(text), moment).toEqual(Array.from({ length: ENTRIES + 1 }, () => 1));
      await send('DELETE', path);
    }
    await server.end('SIGTERM');
  });
}, 60_000);

/** Times that each simulation of a file went from OPEN to RUNNING; an entry that came later began in RUNNING. */
function startsOf(text: string): readonly number[] {
  const starts: number[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('{"type":"header"')) starts.push(0);
    if (!line.startsWith('{"seq":')) continue;
    const { events } = payloadOf({ payload: line });
    for (const event of events)
      if (
        (event.type === 'CompetitionPhaseChanged' || event.type === 'CompetitionBegun') &&
        event.phase === 'RUNNING'
      )
        starts[starts.length - 1] = (starts.at(-1) ?? 0) + 1;
  }
  return starts;
}
