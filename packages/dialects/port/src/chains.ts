/** Options on an underlying, and bars of a stretch of time. What is not listed has none. */
import type { OptionContract } from '@sandpit/core';
import { barsBetween, type Timeframe, type VolumeBar } from './bars.js';
import type { Desk } from './port.js';
import { Refused } from './refused.js';
import type { OptionChainContract } from '@sandpit/protocol';

/** The result of a read; none where `/v1` does not know the symbol. */
export async function orNone<T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.details.code === 'UNKNOWN_SYMBOL'))
      return [];
    throw error;
  }
}

/** The contracts of an expiration, by strike. */
export const chainOf = (
  desk: Desk,
  underlying: string,
  expiration: string,
): Promise<readonly OptionChainContract[]> =>
  orNone(async () => {
    const query = { expiration };
    return (await desk.run('getOptionChain', { params: { underlying }, query })).contracts;
  });

/** The row of a contract in its chain. */
export const contractIn = async (
  desk: Desk,
  { underlying, expiration, symbol }: Pick<OptionContract, 'underlying' | 'expiration' | 'symbol'>,
): Promise<OptionChainContract | undefined> =>
  (await chainOf(desk, underlying, expiration)).find(({ optionSymbol }) => optionSymbol === symbol);

export const expirationsOf = (desk: Desk, underlying: string): Promise<readonly string[]> =>
  orNone(async () => (await desk.run('listOptionExpirations', { params: { underlying } })).expirations);

export const strikesOf = async (
  desk: Desk,
  underlying: string,
  expiration: string,
): Promise<readonly number[]> => [
  ...new Set((await chainOf(desk, underlying, expiration)).map(({ strike }) => strike)),
];

/** The third Friday of a month, on which its standard options expire. */
export function isStandardExpiration(date: string): boolean {
  const day = Number(date.slice(8));
  return new Date(date).getUTCDay() === 5 && day > 14 && day < 22;
}

const MOST_BARS = 20_000;

/** All bars that begin in [from, until], oldest first. */
export const barsIn = (
  desk: Desk,
  symbol: string,
  timeframe: Timeframe,
  from: number,
  until: number,
): Promise<readonly VolumeBar[]> =>
  orNone(async () => {
    const bars: VolumeBar[] = [];
    for (let at: number | undefined = from; at !== undefined && bars.length < MOST_BARS;) {
      const page: Awaited<ReturnType<typeof barsBetween>> = await barsBetween(
        desk,
        symbol,
        timeframe,
        at,
        until,
        MOST_BARS,
      );
      bars.push(...page.bars);
      at = page.next;
    }
    return bars;
  });
