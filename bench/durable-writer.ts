/** The thread of the durable bare server: a group of requests is one transaction, synced before it is answered. */
import { parentPort, workerData } from 'node:worker_threads';
import { DatabaseSync } from '@photostructure/sqlite';

const database = new DatabaseSync(workerData as string);
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
database.exec('CREATE TABLE request (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT');
const insert = database.prepare('INSERT INTO request (body) VALUES (?)');

parentPort?.on('message', (bodies: readonly string[]) => {
  database.exec('BEGIN IMMEDIATE');
  for (const body of bodies) insert.run(body);
  database.exec('COMMIT');
  parentPort?.postMessage('committed');
});
