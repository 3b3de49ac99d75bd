/**
 * Cuts JSON text at the elements of its lists, so that it can be parsed in pieces (D232).
 *
 * A list is one that a body may have directly, by its name, or the body itself. Its elements are parsed in pieces of several, the rest of
 * the text, with empty lists, at once. The result is that of `JSON.parse`: pieces that parse as lists, inside a frame that parses, are valid
 * JSON, and valid JSON is cut between elements only.
 */

/** Text that is not JSON. */
export class InvalidJson extends Error {}
/** JSON with more levels than any valid body. */
export class DeepJson extends Error {}
/** An element, or what is outside of the lists, is longer than may be parsed at once. */
export class LongPart extends Error {}

/** The name of a body that is a list itself. */
export const WHOLE_BODY = '';

/** Deeper than any valid body: code that traverses a body, also of libraries, may recurse for each level. */
const MOST_LEVELS = 64;

const [TAB, LINE_FEED, RETURN, SPACE] = [9, 10, 13, 32];
const [QUOTE, COMMA, COLON, BACKSLASH] = [34, 44, 58, 92];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [91, 93, 123, 125];

/** Blanks outside of lists from which on they do not count. */
const MANY_BLANKS = 256;

/** Longest text of the name of a list: each of its characters may be an escape. */
const LONGEST_NAME = 128;

export interface CutLimits {
  /** Bytes of an element, and of everything outside of the lists together. */
  readonly partBytes: number;
  /** Elements are parsed together until they have this many bytes. */
  readonly pieceBytes: number;
}

/** A list in the text, by offsets. */
interface CutList {
  /** Starts and ends of its pieces, in turn. */
  readonly pieces: number[];
}

/** Receives the elements of a list as they are parsed. */
export interface ListKeeper {
  add(element: unknown): void;
  /** The whole list, after its last element. */
  readonly list: unknown;
}

/** A scan of the text, in as many steps as wanted; then the parse, in pieces. */
export class JsonCuts {
  readonly #bytes: Buffer;
  readonly #names: ReadonlySet<string>;
  readonly #limits: CutLimits;
  readonly #lists: CutList[] = [];
  /** Starts and ends of what the frame leaves out, in turn: the contents of lists, and blanks. */
  readonly #gaps: number[] = [];
  /** The value that a name has last: JSON.parse lets the last one win. Undefined = not a list. */
  readonly #last = new Map<string, CutList | undefined>();
  #at = 0;
  #depth = 0;
  #isInString = false;
  #stringStart = 0;
  #isObject = false;
  /** Name of the list that may begin here. */
  #name: string | undefined;
  #list: CutList | undefined;
  /** Levels inside of the list. */
  #listDepth = 0;
  #pieceStart = 0;
  #elementStart = 0;
  #outsideBytes = 0;

  constructor(bytes: Buffer, names: ReadonlySet<string>, limits: CutLimits) {
    this.#bytes = bytes;
    this.#names = names;
    this.#limits = limits;
  }

  /** Scans the next bytes. Returns false at the end of the text. */
  scan(count: number): boolean {
    const bytes = this.#bytes;
    const end = Math.min(this.#at + count, bytes.length);
    let at = this.#at;
    let isInString = this.#isInString;
    for (; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (isInString) {
        if (byte === BACKSLASH) at++;
        else if (byte === QUOTE) isInString = false;
        continue;
      }
      switch (byte) {
        case TAB:
        case LINE_FEED:
        case RETURN:
        case SPACE:
          if (this.#list === undefined) at = this.#passBlanks(at, end);
          break;
        case QUOTE:
          isInString = true;
          if (this.#depth === 1) this.#stringStart = at;
          break;
        case OPEN_BRACKET:
        case OPEN_BRACE:
          this.#open(at, byte);
          break;
        case CLOSE_BRACKET:
        case CLOSE_BRACE:
          this.#depth--;
          if (this.#list !== undefined && this.#depth < this.#listDepth) this.#endList(at, byte);
          break;
        case COMMA:
          if (this.#list !== undefined && this.#depth === this.#listDepth) this.#endElement(at);
          else if (this.#depth === 1) this.#name = undefined;
          break;
        case COLON:
          if (this.#depth === 1 && this.#isObject) this.#enterValue(at);
          break;
      }
    }
    this.#at = at;
    this.#isInString = isInString;
    if (at < bytes.length) return true;
    this.#finish();
    return false;
  }

  /** Parses what was scanned. Yields the bytes of each step before it. */
  *parse(keeperOf: (name: string) => ListKeeper): Generator<number, unknown> {
    yield this.#outsideBytes;
    let value = valueOf(this.#frame());
    for (const list of this.#lists) {
      const name = [...this.#last].find(([, last]) => last === list)?.[0];
      const keeper = name === undefined ? undefined : keeperOf(name);
      const { pieces } = list;
      for (let i = 0; i < pieces.length; i += 2) {
        const [start = 0, end = 0] = [pieces[i], pieces[i + 1]];
        yield end - start;
        const elements = valueOf(`[${this.#bytes.toString('utf8', start, end)}]`) as readonly unknown[];
        // Text before or after a comma is an element.
        if (elements.length === 0 && pieces.length > 2) throw new InvalidJson();
        if (keeper !== undefined) for (const element of elements) keeper.add(element);
      }
      if (name === undefined) continue;
      if (name === WHOLE_BODY) value = keeper?.list;
      else (value as Record<string, unknown>)[name] = keeper?.list;
    }
    return value;
  }

  #open(at: number, byte: number): void {
    this.#depth++;
    if (this.#depth > MOST_LEVELS) throw new DeepJson();
    if (this.#list !== undefined) return;
    if (this.#depth === 1) {
      this.#isObject = byte === OPEN_BRACE;
      this.#name = !this.#isObject && this.#names.has(WHOLE_BODY) ? WHOLE_BODY : undefined;
    }
    const isBelowName = this.#depth === (this.#name === WHOLE_BODY ? 1 : 2);
    if (byte !== OPEN_BRACKET || this.#name === undefined || !isBelowName) return;
    this.#list = { pieces: [] };
    this.#lists.push(this.#list);
    this.#gaps.push(at + 1);
    this.#last.set(this.#name, this.#list);
    this.#listDepth = this.#depth;
    this.#pieceStart = at + 1;
    this.#elementStart = at + 1;
  }

  #enterValue(at: number): void {
    const text = this.#bytes.toString(
      'latin1',
      this.#stringStart,
      Math.min(at, this.#stringStart + LONGEST_NAME),
    );
    const name = nameIn(text.trimEnd());
    this.#name = name !== undefined && name !== WHOLE_BODY && this.#names.has(name) ? name : undefined;
    if (this.#name !== undefined) this.#last.set(this.#name, undefined);
  }

  #endElement(at: number): void {
    const { pieceBytes, partBytes } = this.#limits;
    const length = at - this.#elementStart;
    if (length > partBytes) throw new LongPart();
    // A long element is a piece of its own.
    if (length > pieceBytes && this.#elementStart > this.#pieceStart) this.#cut(this.#elementStart - 1);
    this.#elementStart = at + 1;
    if (at - this.#pieceStart >= pieceBytes) this.#cut(at);
  }

  #cut(at: number): void {
    this.#list?.pieces.push(this.#pieceStart, at);
    this.#pieceStart = at + 1;
  }

  #endList(at: number, byte: number): void {
    if (byte !== CLOSE_BRACKET) throw new InvalidJson();
    this.#endElement(at);
    if (this.#pieceStart <= at) this.#cut(at);
    this.#gaps.push(at);
    this.#list = undefined;
    this.#name = undefined;
  }

  #finish(): void {
    if (this.#isInString || this.#depth !== 0 || this.#list !== undefined) throw new InvalidJson();
    this.#outsideBytes = this.#bytes.length;
    const gaps = this.#gaps;
    for (let i = 0; i < gaps.length; i += 2) this.#outsideBytes -= (gaps[i + 1] ?? 0) - (gaps[i] ?? 0);
    if (this.#outsideBytes > this.#limits.partBytes) throw new LongPart();
  }

  /** Returns the place of the last of the blanks that begin here. All but one of many are a gap. */
  #passBlanks(start: number, end: number): number {
    let last = start;
    while (last + 1 < end && isBlank(this.#bytes[last + 1])) last++;
    if (last - start >= MANY_BLANKS) this.#gaps.push(start + 1, last + 1);
    return last;
  }

  /** The text without its gaps. */
  #frame(): string {
    const gaps = this.#gaps;
    let text = '';
    let from = 0;
    for (let i = 0; i < gaps.length; i += 2) {
      text += this.#bytes.toString('utf8', from, gaps[i]);
      from = gaps[i + 1] ?? 0;
    }
    return text + this.#bytes.toString('utf8', from);
  }
}

const isBlank = (byte: number | undefined): boolean =>
  byte === SPACE || byte === LINE_FEED || byte === RETURN || byte === TAB;

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidJson();
  }
}

/** The name in a string with its quotes; undefined if it is longer than that of any list, or is not a string. */
function nameIn(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined;
  if (!text.includes('\\')) return text.endsWith('"') ? text.slice(1, -1) : undefined;
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}
