/** Watchlists and configurations of accounts, and ids that clients chose for replacements: settings of the registry that belong to the simulation and are deleted with it. */
import { createHash } from 'node:crypto';
import { type Registry, settingsOf } from '../../../store/registry.js';
import type { OrderName } from './order-names.js';

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
  readonly max_options_trading_level: number;
  readonly trade_confirm_email: string;
  readonly ptp_no_exception_entry: boolean;
  readonly disable_overnight_trading: boolean;
}

const DEFAULT: AccountConfiguration = {
  suspend_trade: false,
  no_shorting: false,
  fractional_trading: true,
  max_margin_multiplier: '4',
  max_options_trading_level: 3,
  trade_confirm_email: 'all',
  ptp_no_exception_entry: false,
  disable_overnight_trading: false,
};

/** The portfolio of a setting. Ids of portfolios are unique in their simulation only. */
export interface Owner {
  readonly simulation: { readonly id: string };
  readonly portfolioId: string;
}

const nameOf = ({ simulation, portfolioId }: Owner, setting: 'watchlists' | 'configuration'): string =>
  `${settingsOf(simulation.id)}alpaca/${portfolioId}/${setting}`;

/** Chosen ids are not among the settings in the file of a simulation. */
const idsOf = ({ simulation, portfolioId }: Owner): string =>
  `${settingsOf(simulation.id)}alpaca-ids/${portfolioId}/`;

const replacementKey = (owner: Owner, { number, replacement }: OrderName): string =>
  `${idsOf(owner)}replacements/${number}-${replacement}`;
const chosenKey = (owner: Owner, chosenId: string): string =>
  `${idsOf(owner)}chosen/${encodeURIComponent(chosenId)}`;

export class AlpacaStore {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  watchlists(owner: Owner): readonly Watchlist[] {
    return (this.#read(nameOf(owner, 'watchlists')) ?? []) as readonly Watchlist[];
  }

  async saveWatchlists(owner: Owner, watchlists: readonly Watchlist[]): Promise<void> {
    await this.#registry.saveSetting(nameOf(owner, 'watchlists'), JSON.stringify(watchlists));
  }

  configuration(owner: Owner): AccountConfiguration {
    return {
      ...DEFAULT,
      ...(this.#read(nameOf(owner, 'configuration')) as Partial<AccountConfiguration> | undefined),
    };
  }

  async saveConfiguration(owner: Owner, configuration: AccountConfiguration): Promise<void> {
    await this.#registry.saveSetting(nameOf(owner, 'configuration'), JSON.stringify(configuration));
  }

  /** The id that a client chose for a replacement. */
  chosenId(owner: Owner, name: OrderName): string | undefined {
    return this.#registry.setting(replacementKey(owner, name));
  }

  /** The replacement that a client gave an id. */
  replacementOf(owner: Owner, chosenId: string): OrderName | undefined {
    const text = this.#registry.setting(chosenKey(owner, chosenId)) ?? '';
    const [, number, replacement] = /^(\d{1,15})-(\d{1,4})$/.exec(text) ?? [];
    if (number === undefined) return undefined;
    const name = { number: Number(number), replacement: Number(replacement) };
    return this.chosenId(owner, name) === chosenId ? name : undefined;
  }

  async saveChosenId(owner: Owner, name: OrderName, chosenId: string): Promise<void> {
    await this.#registry.saveSetting(chosenKey(owner, chosenId), `${name.number}-${name.replacement}`);
    await this.#registry.saveSetting(replacementKey(owner, name), chosenId);
  }

  async deleteChosenId(owner: Owner, name: OrderName): Promise<void> {
    const chosenId = this.chosenId(owner, name);
    if (chosenId === undefined) return;
    await this.#registry.deleteSetting(replacementKey(owner, name));
    await this.#registry.deleteSetting(chosenKey(owner, chosenId));
  }

  #read(name: string): unknown {
    const text = this.#registry.setting(name);
    return text === undefined ? undefined : JSON.parse(text);
  }
}

const ASSETS = 'f3d0d0a6-6d3b-5a52-8a47-5f1b6f0c2b1d';
const known = new Map<string, string>();
const MOST_KNOWN = 20_000;

/** The id of an asset, the same on every server: of an option its symbol as a number, of anything else the UUID of its symbol. */
export function assetIdOf(symbol: string): string {
  const contract = contractIdOf(symbol);
  if (contract !== undefined) return contract;
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

const OPTION = /^([A-Z0-9]{1,6})(\d{6})([CP])(\d{8})$/;
const ROOT_DIGITS = 37n;
const ROOT_LENGTH = 6;
/** The letters and digits of roots; the first stands for none. */
const ROOT_LETTERS = ' ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const DATES = 1_000_000n;
const STRIKES = 100_000_000n;
/** Digits of a UUID that are not the version's or the variant's. */
const FREE_DIGITS = 30;

/** A version 8 UUID (RFC 9562) that has the symbol of an option in it. */
function contractIdOf(symbol: string): string | undefined {
  const [, root, date, type, strike] = OPTION.exec(symbol) ?? [];
  if (root === undefined || date === undefined || strike === undefined) return undefined;
  let number = 0n;
  for (const letter of root.padEnd(ROOT_LENGTH))
    number = number * ROOT_DIGITS + BigInt(ROOT_LETTERS.indexOf(letter));
  number = (number * DATES + BigInt(date)) * 2n + (type === 'P' ? 1n : 0n);
  const hex = (number * STRIKES + BigInt(strike)).toString(16).padStart(FREE_DIGITS, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18)}`;
}

/** The symbol of the option that an id names; undefined when it is none. */
export function contractOfId(id: string): string | undefined {
  const plain = id.toLowerCase();
  const number = BigInt(`0x${plain.replace(/-/g, '').replace(/^(.{12})8(.{3})8/, '$1$2')}`);
  const strike = String(number % STRIKES).padStart(8, '0');
  const dated = number / STRIKES / 2n;
  const type = (number / STRIKES) % 2n === 1n ? 'P' : 'C';
  const date = String(dated % DATES).padStart(6, '0');
  let letters = dated / DATES;
  let root = '';
  for (let i = 0; i < ROOT_LENGTH; i++) {
    root = (ROOT_LETTERS[Number(letters % ROOT_DIGITS)] ?? '') + root;
    letters /= ROOT_DIGITS;
  }
  const symbol = `${root.trimEnd()}${date}${type}${strike}`;
  return contractIdOf(symbol) === plain ? symbol : undefined;
}

export const isAssetId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[58][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(text);
