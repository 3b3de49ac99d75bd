import { hash32 } from '@sandpit/core';

/** 128 bits, as four 32-bit words. */
type Draw = readonly [number, number, number, number];

/** The origin of a synthetic path: a 32-bit integer, or the 128 bits that a competition draws so that no entrant can search for them. */
export type Seed = number | Draw;

/** The words of 128 bits that are written as 32 hexadecimal digits. */
export function drawOf(hexadecimal: string): Draw {
  const word = (place: number): number => Number.parseInt(hexadecimal.slice(place * 8, place * 8 + 8), 16);
  return [word(0), word(1), word(2), word(3)];
}

/** A well-mixed 32-bit unsigned integer that depends on every bit of the seed. */
export function chanceOf(seed: Seed, stream: number, counter: number): number {
  if (typeof seed === 'number') return hash32(seed, stream, counter);
  const [first, second, third, fourth] = seed;
  const one = hash32(first, stream, counter);
  const two = hash32(second ^ one, stream, counter);
  const three = hash32(third ^ two, stream, counter);
  return hash32(fourth ^ three, stream, counter);
}
