/**
 * Chance and identity from a seed: pure functions of (seed, stream, counter), so that a simulation needs to
 * remember only its counters and a re-run gives the same ids and the same draws.
 */

function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** A well-mixed 32-bit unsigned integer of the three inputs. */
export function hash32(seed: number, stream: number, counter: number): number {
  const low = counter | 0;
  const high = Math.floor(counter / 0x100000000) | 0;
  return (
    mix(
      mix(mix(seed ^ 0x9e3779b9) + Math.imul(stream, 0x85ebca77)) +
        mix(low ^ 0x27d4eb2f) +
        Math.imul(high, 0xc2b2ae3d),
    ) >>> 0
  );
}

/** A number in [0, 1) of the three inputs. */
export function uniform(seed: number, stream: number, counter: number): number {
  return hash32(seed, stream, counter) / 0x100000000;
}

/** A 32-bit seed from any text. */
export function seedOf(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return mix(h) >>> 0;
}

const HEX = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, '0'));
const hex32 = (n: number): string =>
  `${HEX[n >>> 24] ?? ''}${HEX[(n >>> 16) & 255] ?? ''}${HEX[(n >>> 8) & 255] ?? ''}${HEX[n & 255] ?? ''}`;

/**
 * A UUID in the version 7 layout (RFC 9562): 48 bits of the simulation's own time, then bits derived from seed,
 * stream and counter. Time first keeps ids made together close together in the store's indexes.
 */
export function seededUuid(seed: number, stream: number, counter: number, atMs: number): string {
  const timeHigh = Math.floor(atMs / 0x10000) >>> 0;
  const timeLow = ((atMs % 0x10000) + 0x10000) & 0xffff;
  const a = hash32(seed, stream, counter);
  const b = hash32(seed ^ 0x5bd1e995, stream, counter);
  const time = hex32(timeHigh);
  const middle = hex32(((timeLow << 16) | 0x7000 | (a & 0x0fff)) >>> 0);
  const tail = hex32(((b & 0x3fffffff) | 0x80000000) >>> 0);
  // `mix` is a bijection: two counters of one stream never give the same id, and the id does not tell the count.
  const counterBits = hex32(mix(counter ^ mix(seed ^ stream)) >>> 0);
  return `${time}-${middle.slice(0, 4)}-${middle.slice(4)}-${tail.slice(0, 4)}-${tail.slice(4)}${counterBits}`;
}
