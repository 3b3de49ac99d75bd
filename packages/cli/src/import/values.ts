/** Texts of vendors' files in the words of the neutral layout. Prices stay decimal texts: none goes through a binary fraction. */

/** An unusable value of a row, described in words. */
export class BadValue extends Error {
  override readonly name = 'BadValue';
}

const PLACES = 8;

/** A decimal without superfluous zeros, its point moved to the left by this many places. Throws `BadValue`. */
export function decimalOf(text: string, places = 0): string {
  const match = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text.trim());
  if (match === null || (match[2] ?? '') + (match[3] ?? '') === '')
    throw new BadValue(`"${text}" is no number`);
  const fraction = match[3] ?? '';
  const digits = `${'0'.repeat(places)}${match[2] ?? ''}${fraction}`;
  const point = digits.length - fraction.length - places;
  const whole = digits.slice(0, point).replace(/^0+(?=\d)/, '') || '0';
  const rest = digits.slice(point).replace(/0+$/, '');
  if (rest.length > PLACES) throw new BadValue(`"${text}" has more than ${PLACES} decimals`);
  return `${match[1] ?? ''}${whole}${rest === '' ? '' : `.${rest}`}`;
}

const NS_PER = { s: 1_000_000_000n, ms: 1_000_000n, us: 1000n, ns: 1n } as const;
const NS_PER_MS = 1_000_000n;
const EARLIEST = Date.UTC(1980);

/** Converts a count since 1970 to ms, rounded up: an instant after a full minute stays after it. The resulting date verifies the unit. */
export function epochOf(text: string, unit: keyof typeof NS_PER): number {
  if (!/^\d{1,19}$/.test(text)) throw new BadValue(`"${text}" is no count of ${unit}`);
  const ms = Number((BigInt(text) * NS_PER[unit] + NS_PER_MS - 1n) / NS_PER_MS);
  if (ms < EARLIEST || ms > Date.now() + 86_400_000)
    throw new BadValue(`"${text}" in ${unit} is no time of ours`);
  return ms;
}

const LOCAL = /^(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?$/;
const AMERICAN = /^(\d{2})\/(\d{2})\/(\d{4})(?: (\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?)?$/;

/** An instant as text, ms since 1970. Without an offset it is in the zone. */
export function instantOf(text: string, zone: 'UTC' | 'America/New_York'): number {
  if (/(Z|[+-]\d{2}:?\d{2})$/.test(text) && text.length > 11) {
    // Nanoseconds are more than a Date reads.
    const ms = Date.parse(text.replace(' ', 'T').replace(/(\.\d{3})\d+/, '$1'));
    if (Number.isNaN(ms)) throw new BadValue(`"${text}" is no time`);
    return ms;
  }
  const local = localOf(text);
  return zone === 'UTC' ? local : newYork(local, text);
}

/** A date, `2015-12-24`, of a text that begins with one. */
export function dateOf(text: string): string {
  const ms = localOf(text.length > 10 && /[T ]/.test(text[10] ?? '') ? text.slice(0, 10) : text);
  return new Date(ms).toISOString().slice(0, 10);
}

function localOf(text: string): number {
  const american = AMERICAN.exec(text);
  const [, year, month, day, ...time] =
    american === null
      ? (LOCAL.exec(text) ?? [])
      : [american[0], american[3], american[1], american[2], ...american.slice(4)];
  if (year === undefined) throw new BadValue(`"${text}" is no time`);
  const [hour = 0, minute = 0, second = 0] = time.slice(0, 3).map((part) => Number(part ?? 0));
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), hour, minute, second);
  const made = new Date(ms);
  if (made.getUTCDate() !== Number(day) || hour > 23 || minute > 59)
    throw new BadValue(`"${text}" is no time`);
  return ms;
}

const HOUR_MS = 3_600_000;
const offsets = new Map<number, number>();
const clock = new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', timeZoneName: 'longOffset' });

/** Hours that New York is behind UTC at an instant. */
function behind(ms: number): number {
  const hour = Math.floor(ms / HOUR_MS);
  let hours = offsets.get(hour);
  if (hours === undefined) {
    const name = clock.formatToParts(hour * HOUR_MS).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    hours = Number(/GMT-(\d+)/.exec(name)?.[1] ?? 0);
    offsets.set(hour, hours);
  }
  return hours;
}

function newYork(local: number, text: string): number {
  const possible = [4, 5].map((hours) => local + hours * HOUR_MS).filter((ms, i) => behind(ms) === 4 + i);
  if (possible.length === 0) throw new BadValue(`"${text}" never was in New York`);
  if (possible.length > 1) throw new BadValue(`"${text}" was twice in New York`);
  return possible[0] ?? local;
}

const OSI = /^([A-Z]{1,6})\s*(\d{6}[CP]\d{8})$/;
const ONE_DIGIT_FUTURE = /^([A-Z0-9]{1,3}[FGHJKMNQUVXZ])(\d)$/;

/** A symbol in Sandpit's form: options unpadded, classes of shares with a point, futures with two digits of the year. */
export function symbolOf(text: string, year: number): string {
  const plain = text
    .trim()
    .toUpperCase()
    .replace(/^[OI]:/, '')
    .replace(/^\^/, '');
  const option = OSI.exec(plain);
  if (option !== null) return `${option[1] ?? ''}${option[2] ?? ''}`;
  const future = ONE_DIGIT_FUTURE.exec(plain);
  if (future !== null) {
    // The next year that ends so: a contract that trades is not over.
    const ahead = (Number(future[2]) - (year % 10) + 10) % 10;
    return `${future[1] ?? ''}${String((year + ahead) % 100).padStart(2, '0')}`;
  }
  const share = plain.replace(/\.US$/, '').replace(/^([A-Z]+)[./ _-]([A-Z])$/, '$1.$2');
  if (!/^[A-Z0-9]{1,6}(\.[A-Z])?$/.test(share)) throw new BadValue(`"${text}" is no symbol`);
  return share;
}

/** The symbol of an option by its terms. */
export function optionOf(root: string, expiration: string, strike: string, right: string): string {
  const side = /^[CP]/i.exec(right)?.[0].toUpperCase();
  if (side === undefined) throw new BadValue(`"${right}" is neither call nor put`);
  const thousandths = decimalOf(strike).split('.');
  const digits = `${thousandths[0] ?? ''}${(thousandths[1] ?? '').padEnd(3, '0')}`;
  if (digits.length > 8) throw new BadValue(`"${strike}" is no strike`);
  const day = dateOf(expiration).replaceAll('-', '').slice(2);
  return symbolOf(`${root.replace(/^\^/, '')}${day}${side}${digits.padStart(8, '0')}`, 2000);
}
