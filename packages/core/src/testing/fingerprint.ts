/** A hash that depends on every bit of the values; 0 and −0 are different too. */
export function fingerprint(values: readonly number[]): number {
  const view = new DataView(new ArrayBuffer(8));
  let hash = 0x811c9dc5;
  for (const value of values) {
    view.setFloat64(0, value);
    for (const at of [0, 4]) hash = Math.imul(hash ^ view.getUint32(at), 0x01000193) ^ (hash >>> 15);
  }
  return hash >>> 0;
}
