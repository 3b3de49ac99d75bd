import { createHash } from 'node:crypto';
import { exportSimulation } from '../engine/transfers/export.js';
import { LineChain } from '../engine/transfers/simulation-file.js';
import type { KeptConfig } from '../engine/configuration/simulation-config.js';
import type { Store } from '../store/store.js';
import type { ShownCompetition } from './notes.js';

/** Records of a simulation up to its last one that counts. */
export type CountedRecords = readonly (readonly [simulationId: string, last: number])[];

/**
 * The hash of a competition: SHA-256 over the hashes of the exports of its simulations, the market first, then the entries in order of
 * entry. Each is the final chain hash of a simulation's file (D170).
 */
export async function journalHashOf(
  store: Pick<Store, 'journal' | 'registry'>,
  records: CountedRecords,
): Promise<string> {
  const hashes: string[] = [];
  for (const [id, upTo] of records) hashes.push(await journalHashOfCell(store, id, upTo));
  return combinedHash(hashes);
}

export const combinedHash = (hashes: readonly string[]): string =>
  createHash('sha256').update(hashes.join('\n')).digest('hex');

/** The final chain hash of the file of a simulation (D170), up to a record. */
export async function journalHashOfCell(
  store: Pick<Store, 'journal' | 'registry'>,
  id: string,
  upTo: number,
): Promise<string> {
  const entry = store.registry.simulation(id);
  if (entry === undefined) throw new Error(`There is no simulation ${id}`);
  const chain = new LineChain();
  const config = JSON.parse(entry.config) as KeptConfig;
  const pieces = exportSimulation(store, { id, shownId: id, config, upTo }, chain);
  // Reading all pieces computes the chain.
  while ((await pieces.next()).done !== true);
  return chain.hash;
}

/** SHA-256, in hex, of market, rules and scoring as displayed, with their fields in alphabetical order. */
export const settingsHash = ({ market, rules, scoring }: ShownCompetition): string =>
  createHash('sha256').update(JSON.stringify({ market, rules, scoring }, inOrder)).digest('hex');

/** Sorts the fields of objects. */
const inOrder = (_: string, value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
