import type { Money } from '@sandpit/core';
import type { Access } from '../access/access.js';
import type { Simulations } from '../engine/directory/simulations.js';
import type { Store } from '../store/store.js';
import type { TokenSettings } from './auth.js';

/** Settings of the HTTP server. */
export interface HttpSettings extends TokenSettings {
  /** Requests per minute, tenant and route; the two routes of the contract and health have their own. */
  readonly rateLimitDefault: number;
  readonly streamHeartbeatMs: number;
  /** Origins whose pages may use the API (D144). */
  readonly corsOrigins: ReadonlySet<string>;
  /** True when the API reference gets a token of the demo tenant from any browser on this machine. */
  readonly demoToken: boolean;
  /** Webhooks may go to addresses that are not public. */
  readonly webhookAllowPrivate: boolean;
  readonly initialCash: Money;
  /** Accounts a PRO tenant may have. */
  readonly proAccounts: number;
  /** Maximum number of simulations of a tenant of the tier. */
  readonly basicSimulations: number;
  readonly proSimulations: number;
  /** Open connections in all. */
  readonly maxConnections: number;
  /** Addresses and CIDR ranges of proxies, whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Bytes of the bodies of a tenant within ten seconds. */
  readonly bytesPerTenant: number;
  /** Members that the invitations of a tenant may have. */
  readonly maxMembers: number;
  /** Bytes of a file that is imported (D170). */
  readonly importMaxBytes: number;
}

/** Dependencies of the handlers. */
export interface HttpDeps {
  readonly simulations: Simulations;
  readonly store: Store;
  readonly access: Access;
  readonly settings: HttpSettings;
  /** Real time, in milliseconds: tokens, idempotency keys and health go by it. */
  readonly clockMs: () => number;
  /** Monotonic milliseconds, independent of the machine's clock: for rate limits. */
  readonly monotonicMs: () => number;
}
