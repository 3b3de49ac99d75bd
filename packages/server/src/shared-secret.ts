import { setTimeout as later } from 'node:timers/promises';
import { DRAWN_SECRET, secretFact } from './cluster-facts.js';
import { JWT_FACT } from './cluster/fitness.js';
import { BadSetting } from './config.js';
import type { Settings } from './config.js';
import { settingInDatabase } from './open-store.js';
import { signingSecret } from './signing-secret.js';
import { StoreUnavailable } from './store/journal.js';
import { MARKET_TENANT } from './store/ownership.js';
import type { Store } from './store/store.js';

const SETTING = 'jwt-secret';
const WAIT_MS = 10_000;
const RETRY_MS = 100;

/**
 * The secret for signing tokens if a database stores the data: `JWT_SECRET`, or a random one that the database stores (D200). An existing
 * secret of the data directory is used. Rejects with `BadSetting` if another node signs with another secret.
 */
export async function sharedSecret(settings: Settings, store: Store): Promise<string | undefined> {
  const { registry, ownership } = store;
  if (settings.jwksUrl !== undefined) return undefined;
  const secret = settings.jwtSecret ?? (await drawnSecret(settings, store));
  const kept = registry.setting(SETTING);
  for (const { incarnation, facts, nodeId } of ownership?.nodes ?? []) {
    if (incarnation === ownership?.incarnation) continue;
    const theirs = facts[JWT_FACT] === DRAWN_SECRET ? secretFact(kept) : facts[JWT_FACT];
    if (theirs !== secretFact(secret))
      throw new BadSetting(
        `JWT_SECRET: node ${nodeId} signs tokens with another secret; set the same JWT_SECRET on all nodes, or on none`,
      );
  }
  return secret;
}

/** Reads the shared secret for a command. Throws `BadSetting` before a server has created it. */
export async function secretForCommand(settings: Settings): Promise<string | undefined> {
  const { databaseUrl, jwtSecret, jwksUrl } = settings;
  if (databaseUrl === undefined || jwtSecret !== undefined || jwksUrl !== undefined)
    return signingSecret(settings);
  const secret = await settingInDatabase(databaseUrl, SETTING);
  if (secret === undefined)
    throw new BadSetting(
      'the database has no secret for tokens yet: start the server once, or set JWT_SECRET for both',
    );
  return secret;
}

/** One node draws it: the one that owns the market. */
async function drawnSecret(settings: Settings, { registry, ownership }: Store): Promise<string> {
  const isDrawnHere = ownership?.owned.has(MARKET_TENANT) ?? true;
  if (isDrawnHere && registry.setting(SETTING) === undefined)
    await registry.saveSetting(SETTING, signingSecret(settings) ?? '');
  for (let waited = 0; waited < WAIT_MS; waited += RETRY_MS) {
    const kept = registry.setting(SETTING);
    if (kept !== undefined) return kept;
    await later(RETRY_MS);
    await ownership?.refreshRegistry();
  }
  throw new StoreUnavailable('no node has drawn a JWT_SECRET');
}
