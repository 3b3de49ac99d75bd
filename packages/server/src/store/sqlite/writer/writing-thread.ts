/** The thread that writes. Apart from the writer: other threads import that for stores in memory, and must not begin to write. */
import { parentPort, workerData } from 'node:worker_threads';
import type { WriterData } from '../journal/batch.js';
import { writeInThread } from './journal-writer.js';

if (parentPort !== null) writeInThread(parentPort, workerData as WriterData);
