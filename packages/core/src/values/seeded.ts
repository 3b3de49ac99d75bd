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

/** The character code of one hexadecimal digit: the four bits of `n` above `shift`. */
function hex(n: number, shift: number): number {
  const digit = (n >>> shift) & 15;
  return digit < 10 ? 48 + digit : 87 + digit;
}

const DASH = 45;

/**
 * A UUID in the version 7 layout (RFC 9562): 48 bits of the simulation's own time, then bits derived from seed,
 * stream and counter. Time first keeps ids made together close together in the store's indexes.
 */
export function seededUuid(seed: number, stream: number, counter: number, atMs: number): string {
  const time = Math.floor(atMs / 0x10000) >>> 0;
  const rest = ((atMs % 0x10000) + 0x10000) & 0xffff;
  const a = 0x7000 | (hash32(seed, stream, counter) & 0x0fff);
  const b = 0x80000000 | (hash32(seed ^ 0x5bd1e995, stream, counter) & 0x3fffffff);
  // `mix` is a bijection: two counters of one stream never give the same id, and the id does not tell the count.
  const c = mix(counter ^ mix(seed ^ stream));
  // In one go: a string put together from parts costs three times as much once it is the key of a map.
  // prettier-ignore
  return String.fromCharCode(
    hex(time, 28), hex(time, 24), hex(time, 20), hex(time, 16), hex(time, 12), hex(time, 8), hex(time, 4), hex(time, 0), DASH,
    hex(rest, 12), hex(rest, 8), hex(rest, 4), hex(rest, 0), DASH,
    hex(a, 12), hex(a, 8), hex(a, 4), hex(a, 0), DASH,
    hex(b, 28), hex(b, 24), hex(b, 20), hex(b, 16), DASH,
    hex(b, 12), hex(b, 8), hex(b, 4), hex(b, 0), hex(c, 28), hex(c, 24), hex(c, 20), hex(c, 16), hex(c, 12), hex(c, 8), hex(c, 4), hex(c, 0),
  );
}
