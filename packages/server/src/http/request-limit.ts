import type { Registry } from '../store/registry.js';
import type { HttpSettings } from './settings.js';

/** Name of the setting in the registry, which every node of a cluster follows. */
const NAME = 'requests-per-minute';

/** Requests per minute, tenant and route: that of an operator, else the setting of the server. */
export class RequestLimit {
  readonly #registry: Registry;
  /** `RATE_LIMIT_DEFAULT` of this node. */
  readonly configured: number;
  /** The limit that an operator has set. In memory, because every request asks for it. */
  #changed: number | undefined;

  constructor(registry: Registry, configured: number) {
    this.#registry = registry;
    this.configured = configured;
    this.#read();
  }

  get perMinute(): number {
    return this.#changed ?? this.configured;
  }

  /** Null = the setting of the server. Durable when it resolves. */
  async change(perMinute: number | null): Promise<void> {
    await this.#registry.saveSetting(NAME, perMinute === null ? '' : String(perMinute));
    this.#read();
  }

  /** Applies a change that another node has written. Returns true if the setting is the limit. */
  followSetting(name: string): boolean {
    if (name !== NAME) return false;
    this.#read();
    return true;
  }

  #read(): void {
    const perMinute = Number(this.#registry.setting(NAME) ?? '');
    // Anything else than a number would be no limit at all.
    this.#changed = Number.isSafeInteger(perMinute) && perMinute > 0 ? perMinute : undefined;
  }
}

/** The settings with the limit in force, whenever it is read. */
export const withLimit = <Settings extends HttpSettings>(settings: Settings, limit: RequestLimit): Settings =>
  Object.defineProperty({ ...settings }, 'rateLimitDefault', {
    get: () => limit.perMinute,
    enumerable: true,
  });
