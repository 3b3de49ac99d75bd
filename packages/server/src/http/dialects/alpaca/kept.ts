/** What Alpaca keeps of an account beside its trading: watchlists and configurations. Settings of the registry, one of each a portfolio. */
import { createHash } from 'node:crypto';
import type { Registry } from '../../../store/registry.js';

export interface Watchlist {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly symbols: readonly string[];
}

export interface AccountConfiguration {
  readonly suspend_trade: boolean;
  readonly no_shorting: boolean;
  readonly fractional_trading: boolean;
  readonly max_margin_multiplier: string;
  readonly max_options_trading_level: number | null;
  readonly trade_confirm_email: string;
  readonly ptp_no_exception_entry: boolean;
}

const DEFAULT: AccountConfiguration = {
  suspend_trade: false,
  no_shorting: false,
  fractional_trading: true,
  max_margin_multiplier: '4',
  max_options_trading_level: null,
  trade_confirm_email: 'all',
  ptp_no_exception_entry: false,
};

export class Kept {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  watchlists(portfolioId: string): readonly Watchlist[] {
    return (this.#read(`alpaca-watchlists:${portfolioId}`) ?? []) as readonly Watchlist[];
  }

  async saveWatchlists(portfolioId: string, watchlists: readonly Watchlist[]): Promise<void> {
    await this.#registry.saveSetting(`alpaca-watchlists:${portfolioId}`, JSON.stringify(watchlists));
  }

  configuration(portfolioId: string): AccountConfiguration {
    return {
      ...DEFAULT,
      ...(this.#read(`alpaca-configuration:${portfolioId}`) as Partial<AccountConfiguration> | undefined),
    };
  }

  async saveConfiguration(portfolioId: string, configuration: AccountConfiguration): Promise<void> {
    await this.#registry.saveSetting(`alpaca-configuration:${portfolioId}`, JSON.stringify(configuration));
  }

  #read(name: string): unknown {
    const text = this.#registry.setting(name);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

const ASSETS = 'f3d0d0a6-6d3b-5a52-8a47-5f1b6f0c2b1d';
const known = new Map<string, string>();
const MOST_KNOWN = 20_000;

/** The id of an asset: the UUID of its symbol, the same on every server and for ever. */
export function assetIdOf(symbol: string): string {
  const found = known.get(symbol);
  if (found !== undefined) return found;
  const id = uuidOf(symbol);
  if (known.size < MOST_KNOWN) known.set(symbol, id);
  return id;
}

/** A version 5 UUID (RFC 9562) of a name. */
export function uuidOf(name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(ASSETS.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

export const isAssetId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(text);
