/** Chains of an underlying: the displayed one, and those of the legs in the tray. */
import type { Leg, OptionChain, OptionChainContract, Strategy } from '@sandpit/protocol';
import { useRef } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { isoDay } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import { optionNamed } from '../option-legs.ts';
import { useClockMoves } from '../clock-moves.ts';

export interface Chains {
  readonly expirations: readonly string[];
  /** New York date of the market; undefined while it loads. */
  readonly today: string | undefined;
  /** The displayed expiration. */
  readonly chosen: string;
  readonly chain: OptionChain | undefined;
  /** Contracts of all chains that were read, by symbol. */
  readonly contracts: ReadonlyMap<string, OptionChainContract>;
  readonly error: Error | undefined;
}

/** Interval between two reads of the chain, ms. */
export const LOOK_MS = 5000;

export function useChains(underlying: string, asked: string, legs: readonly Leg[]): Chains {
  const broker = useBroker();
  const expirations = useLoad(
    async () => (await broker.call('listOptionExpirations', { params: { underlying } })).expirations,
    [underlying],
  );
  const hours = useLoad(() => broker.call('getMarketHours'), []);
  const listed = expirations.value ?? [];
  const chosen = listed.includes(asked) ? asked : (listed[0] ?? '');
  const dates = [
    ...new Set([chosen, ...legs.map(({ optionSymbol }) => optionNamed(optionSymbol)?.expiration ?? '')]),
  ].filter((date) => listed.includes(date));
  const chains = useLoad(
    () =>
      Promise.all(
        dates.map((expiration) =>
          broker.call('getOptionChain', { params: { underlying }, query: { expiration } }),
        ),
      ),
    [underlying, dates],
  );
  useEvery(LOOK_MS, () => {
    // A list that could not be read is read again; it changes with the date only.
    if (expirations.value === undefined) expirations.reload();
    if (hours.value === undefined) hours.reload();
    chains.reload();
  });
  useClockMoves(() => {
    expirations.reload();
    hours.reload();
    chains.reload();
  });
  // While another expiration is on its way the last chains stay.
  const last = useRef<readonly OptionChain[]>([]);
  if (chains.value !== undefined) last.current = chains.value;
  const own = last.current.filter((chain) => chain.underlying === underlying);
  return {
    expirations: listed,
    today: hours.value === undefined ? undefined : isoDay(hours.value.now),
    chosen,
    chain: own.find(({ expiration }) => expiration === chosen),
    contracts: new Map(
      own.flatMap((chain) => chain.contracts.map((one) => [one.optionSymbol, one] as const)),
    ),
    error: expirations.error ?? (chains.value === undefined ? chains.error : undefined),
  };
}

export interface ChainRow {
  readonly strike: number;
  readonly call: OptionChainContract | undefined;
  readonly put: OptionChainContract | undefined;
}

/** Strikes shown on each side of the money: the middle of a long chain matters most. */
const EACH_SIDE = 12;

/** The strikes around the price of the underlying, ascending. */
export function aroundTheMoney({ contracts, underlyingPrice }: OptionChain): readonly ChainRow[] {
  const byStrike = new Map<number, { call?: OptionChainContract; put?: OptionChainContract }>();
  for (const contract of contracts) {
    const row = byStrike.get(contract.strike) ?? {};
    row[contract.optionType === 'CALL' ? 'call' : 'put'] = contract;
    byStrike.set(contract.strike, row);
  }
  const rows = [...byStrike].map(([strike, { call, put }]) => ({ strike, call, put }));
  rows.sort((a, b) => a.strike - b.strike);
  const middle =
    underlyingPrice === undefined
      ? Math.floor(rows.length / 2)
      : rows.findIndex(({ strike }) => strike >= underlyingPrice);
  const from = Math.max(0, (middle < 0 ? rows.length : middle) - EACH_SIDE);
  return rows.slice(from, from + 2 * EACH_SIDE);
}

/** A strategy with a fixed shape. */
export type Template = Exclude<Strategy, 'CUSTOM'>;

/** Strikes by their distance from the money: −1 is the one below. */
const SHAPES: Readonly<Record<Template, readonly (readonly ['B' | 'S', number, 'CALL' | 'PUT', number])[]>> =
  {
    VERTICAL_SPREAD: [
      ['B', 1, 'CALL', 0],
      ['S', 1, 'CALL', 2],
    ],
    IRON_CONDOR: [
      ['B', 1, 'PUT', -4],
      ['S', 1, 'PUT', -2],
      ['S', 1, 'CALL', 2],
      ['B', 1, 'CALL', 4],
    ],
    BUTTERFLY: [
      ['B', 1, 'CALL', -2],
      ['S', 2, 'CALL', 0],
      ['B', 1, 'CALL', 2],
    ],
    CALENDAR_SPREAD: [
      ['S', 1, 'CALL', 0],
      ['B', 1, 'CALL', 0],
    ],
    STRADDLE: [
      ['B', 1, 'CALL', 0],
      ['B', 1, 'PUT', 0],
    ],
    STRANGLE: [
      ['B', 1, 'PUT', -2],
      ['B', 1, 'CALL', 2],
    ],
  };

/** The legs of a strategy around the money. */
export function legsAround(
  strategy: Template,
  contracts: readonly OptionChainContract[],
  at: number,
  later: readonly OptionChainContract[],
): readonly Leg[] {
  return SHAPES[strategy].flatMap(([side, quantity, optionType, distance], index) => {
    const from = strategy === 'CALENDAR_SPREAD' && index === 1 ? later : contracts;
    const listed = from.filter((one) => one.optionType === optionType);
    const nearest = listed.reduce(
      (best, one, place) =>
        Math.abs(one.strike - at) < Math.abs((listed[best]?.strike ?? Infinity) - at) ? place : best,
      0,
    );
    const contract = listed[Math.min(listed.length - 1, Math.max(0, nearest + distance))];
    if (contract === undefined) return [];
    return [
      {
        optionSymbol: contract.optionSymbol,
        positionIntent: side === 'B' ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
        quantity,
      } as const,
    ];
  });
}
