/**
 * Random numbers from a seed: pure functions of (seed, stream, counter), so that a simulation needs to remember only
 * its counters and a re-run gives the same draws.
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
