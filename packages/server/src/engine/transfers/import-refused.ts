/** A file cannot be imported; the message says why. */
export class ImportRefused extends Error {
  override readonly name = 'ImportRefused';
}
