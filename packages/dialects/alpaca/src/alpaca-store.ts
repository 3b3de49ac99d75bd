/** Watchlists and configurations of accounts, and ids that clients chose for replacements: settings of the registry that belong to the simulation and are deleted with it. */
import { type Book, type Keep, uuidOf } from '@sandpit/dialect-port';
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

/** The store of one portfolio. Ids of portfolios are unique in their simulation only. */
export class AlpacaStore {
  readonly #keep: Keep;
  readonly #portfolioId: string;

  constructor({ keep, portfolioId }: Pick<Book, 'keep' | 'portfolioId'>) {
    this.#keep = keep;
    this.#portfolioId = portfolioId;
  }

  watchlists(): readonly Watchlist[] {
    return (this.#read('watchlists') ?? []) as readonly Watchlist[];
  }

  async saveWatchlists(watchlists: readonly Watchlist[]): Promise<void> {
    await this.#keep.save(this.#nameOf('watchlists'), JSON.stringify(watchlists));
  }

  configuration(): AccountConfiguration {
    return {
      ...DEFAULT,
      ...(this.#read('configuration') as Partial<AccountConfiguration> | undefined),
    };
  }

  async saveConfiguration(configuration: AccountConfiguration): Promise<void> {
    await this.#keep.save(this.#nameOf('configuration'), JSON.stringify(configuration));
  }

  /** The id that a client chose for a replacement. */
  chosenId(name: OrderName): string | undefined {
    return this.#keep.get(this.#replacementKey(name));
  }

  /** The replacement that a client gave an id. */
  replacementOf(chosenId: string): OrderName | undefined {
    const text = this.#keep.get(this.#chosenKey(chosenId)) ?? '';
    const [, number, replacement] = /^(\d{1,15})-(\d{1,4})$/.exec(text) ?? [];
    if (number === undefined) return undefined;
    const name = { number: Number(number), replacement: Number(replacement) };
    return this.chosenId(name) === chosenId ? name : undefined;
  }

  async saveChosenId(name: OrderName, chosenId: string): Promise<void> {
    await this.#keep.save(this.#chosenKey(chosenId), `${name.number}-${name.replacement}`);
    await this.#keep.save(this.#replacementKey(name), chosenId);
  }

  async deleteChosenId(name: OrderName): Promise<void> {
    const chosenId = this.chosenId(name);
    if (chosenId === undefined) return;
    await this.#keep.delete(this.#replacementKey(name));
    await this.#keep.delete(this.#chosenKey(chosenId));
  }

  #nameOf(setting: 'watchlists' | 'configuration'): string {
    return `alpaca/${this.#portfolioId}/${setting}`;
  }

  /** Chosen ids are not among the settings in the file of a simulation. */
  #replacementKey({ number, replacement }: OrderName): string {
    return `alpaca-ids/${this.#portfolioId}/replacements/${number}-${replacement}`;
  }

  #chosenKey(chosenId: string): string {
    return `alpaca-ids/${this.#portfolioId}/chosen/${encodeURIComponent(chosenId)}`;
  }

  #read(setting: 'watchlists' | 'configuration'): unknown {
    const text = this.#keep.get(this.#nameOf(setting));
    return text === undefined ? undefined : JSON.parse(text);
  }
}

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

const OPTION = /^([A-Z0-9]{1,6})(\d{6})([CP])(\d{8})$/;
const ROOT_DIGITS = 37n;
const ROOT_LENGTH = 6;
/** The letters and digits of roots; the first means none. */
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
