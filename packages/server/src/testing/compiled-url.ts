import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { programs } from './joined-programs.js';

const FOLDER = programs();

/** Replaces `threads/compiled-url.ts` in tests: threads run the joined programs, which load in less than half the time. */
export const compiledUrl = (path: string): URL => pathToFileURL(join(FOLDER, path));
