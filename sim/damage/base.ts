import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ServerProcess } from '../../packages/server/src/testing/server-process.js';
import { Chance } from '../chance.js';
import { JWT_SECRET, TENANT, tokenOf } from '../tokens.js';
import type { Ask } from './asker.js';
import { Life, newLife } from './life.js';
import type { LifeRecord } from './life.js';

/** Settings of this rig's servers. The clock moves only on request, so that two of them answer alike. */
export const SETTINGS = {
  MARKET_FEED: 'push',
  MARKET_CLOCK: 'manual',
  CLOCK_START: '2026-03-02T10:00:00-05:00',
  MARKET_CALENDAR: 'XNYS',
  RATE_LIMIT_DEFAULT: '1000000000',
  JWT_SECRET,
};

/** A data directory with what was lived in it. */
export interface Base {
  readonly name: string;
  readonly directory: string;
  readonly earlier: string;
  readonly lived: LifeRecord;
}

export function askOver(baseUrl: string): Ask {
  return async ({ method, path, body, key, simulationId }) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${tokenOf(TENANT, JWT_SECRET, simulationId)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, text: await response.text(), replayed };
  };
}

/**
 * Two installations by real servers of these `programs`, below `folder`: `stopped`, ended in good order, and `killed`, the same a little later and ended
 * by SIGKILL, with much in its write-ahead logs. And a third one, that has nothing to do with them.
 */
export async function makeBases(
  folder: string,
  seed: number,
  programs: string,
): Promise<{ readonly bases: readonly Base[]; readonly foreign: string }> {
  const chance = new Chance(seed);
  const live = async (
    directory: string,
    lives: readonly ('first' | 'more')[],
    lived: LifeRecord,
    end: NodeJS.Signals,
  ) => {
    const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: directory, SEED: String(seed) }, programs);
    const life = new Life(askOver(await server.listening), chance.fork(), lived, `run-${chance.int(1, 1e9)}`);
    for (const what of lives) await life[what]();
    await server.end(end);
  };
  const path = (name: string): string => join(folder, name);
  mkdirSync(folder, { recursive: true });

  const first = newLife();
  await live(path('growing'), ['first'], first, 'SIGTERM');
  cpSync(path('growing'), path('earlier'), { recursive: true });
  await live(path('growing'), ['more'], first, 'SIGTERM');
  cpSync(path('growing'), path('stopped'), { recursive: true });
  const second = structuredClone(first);
  await live(path('growing'), ['more'], second, 'SIGKILL');
  cpSync(path('growing'), path('killed'), { recursive: true });
  await live(path('foreign'), ['first'], newLife(), 'SIGTERM');
  return {
    bases: [
      { name: 'stopped', directory: path('stopped'), earlier: path('earlier'), lived: first },
      { name: 'killed', directory: path('killed'), earlier: path('stopped'), lived: second },
    ],
    foreign: path('foreign'),
  };
}
