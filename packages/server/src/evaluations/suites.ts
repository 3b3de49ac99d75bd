import type { Suite } from './definition.js';
import { DESK } from './desk.js';

/** Suites that ship with the server. */
export const SUITES: readonly Suite[] = [DESK];
