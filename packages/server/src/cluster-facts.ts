import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadBrokers } from './brokers/load-brokers.js';
import { digestOf, JWT_FACT } from './cluster/fitness.js';
import type { Settings } from './config.js';

/** Version of this server; nodes of one cluster have the same. */
export const VERSION = '0.1.0';

/** Placeholder for a random secret that the database stores. */
export const DRAWN_SECRET = 'drawn';

/** Digests of settings that must be the same on all nodes of a cluster, by the name under which a difference is reported. */
export async function factsOf(settings: Settings): Promise<Readonly<Record<string, string>>> {
  const { feed, clock, clockSpeed, calendar, replayPath, cluster, jwtSecret, jwksUrl } = settings;
  const { marketCollarBps, portfolioMarginEquity, riskFreeRate, quoteMaxAgeMs } = settings;
  const { earlyAssignment, scriptedOrders, live, recordDir } = settings;
  const brokers = await loadBrokers(settings.brokersFile);
  return {
    version: VERSION,
    brokers: digestOf(brokers),
    rules: digestOf([
      [calendar, marketCollarBps, portfolioMarginEquity, riskFreeRate],
      [quoteMaxAgeMs, earlyAssignment, scriptedOrders],
    ]),
    'the market (MARKET_FEED, MARKET_CLOCK, CLOCK_SPEED)': digestOf([feed, clock, clockSpeed]),
    ...(live !== undefined && {
      'the source (LIVE_SOURCE, LIVE_PLAN, LIVE_OPTIONS)': digestOf([live.source, live.plan, live.options]),
      'whether RECORD_DIR is set': digestOf(recordDir !== undefined),
    }),
    ...(feed === 'replay' &&
      replayPath !== undefined && { 'REPLAY_PATH (the files)': digestOf(filesIn(replayPath)) }),
    CLUSTER_SECRET: digestOf(cluster?.secret),
    [JWT_FACT]: jwksUrl !== undefined ? digestOf(jwksUrl) : secretFact(jwtSecret),
  };
}

/** The digest of the secret that signs tokens, or the placeholder of a secret that the database stores. Nodes compare it. */
export const secretFact = (secret: string | undefined): string =>
  secret === undefined ? DRAWN_SECRET : digestOf(secret);

/** Names and sizes of all files under a path. */
function filesIn(path: string): readonly (readonly [name: string, bytes: number])[] {
  if (statSync(path).isFile()) return [['', statSync(path).size]];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((name) => [name.slice(path.length), statSync(name).size] as const);
}
