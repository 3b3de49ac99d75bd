import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { allOf } from '../fixtures.contract.js';
import { StoreInUse } from '../journal.js';
import { newDirectory, openTestStore, removeDirectories } from './data-directory.contract.js';

/** Another process runs compiled code, as servers do. */
const STORE = new URL('../../../dist/store/sqlite/sqlite-store.js', import.meta.url).href;

afterAll(removeDirectories);

function run(directory: string, script: string): ReturnType<typeof spawn> {
  const source = `
    const { openSqliteStore } = await import(${JSON.stringify(STORE)});
    const open = () => openSqliteStore({ directory: ${JSON.stringify(directory)} });
    ${script}`;
  return spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function* linesOf(child: ReturnType<typeof spawn>): AsyncIterable<string> {
  if (child.stdout !== null) yield* createInterface(child.stdout);
}

describe('A data directory', () => {
  it('is used by one process at a time', async () => {
    const directory = newDirectory();
    const store = await openTestStore(directory);
    const second = run(
      directory,
      'await open().then(() => console.log("opened"), (error) => console.log(error.name, error.message))',
    );
    const lines: string[] = [];
    for await (const line of linesOf(second)) lines.push(line);
    expect(lines).toEqual([`StoreInUse Another process uses the data directory ${directory}`]);
    await expect(openTestStore(directory)).rejects.toThrow(StoreInUse);

    await store.probe();
    await store.close();
    await (await openTestStore(directory)).close();
  });

  it('is released when its process is killed, with every acknowledged record', async () => {
    const directory = newDirectory();
    const child = run(
      directory,
      `const { registry, journal } = await open();
       await registry.createSimulation({ id: 'main', tenantId: null, config: '{}', createdAt: 0 });
       const payload = JSON.stringify({ events: [], filling: 'x'.repeat(1_000) });
       for (let seq = 1; ; seq += 1) {
         const append = journal.append({ simulationId: 'main', seq, at: seq, payload }).then(() => console.log(seq));
         if (seq % 5 === 0) await append;
       }`,
    );
    let acknowledged = 0;
    for await (const line of linesOf(child)) {
      acknowledged = Number(line);
      if (acknowledged >= 500) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    const store = await openTestStore(directory);
    const recovered = (await allOf(store.journal.read('main', 0))).length;
    await store.close();
    expect(acknowledged).toBeGreaterThanOrEqual(500);
    expect(recovered).toBeGreaterThanOrEqual(acknowledged);
  });
});
