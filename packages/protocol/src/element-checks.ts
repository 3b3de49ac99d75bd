/** Validation of a long list element by element, so that a server has other work in between. */
import type { TSchema } from 'typebox';
import { type Check, inside, judgedLists, maxMessages, type Messages } from './check.js';
import { checkOf } from './compile.js';
import type { Keywords } from './leaf-check.js';

/** Names of the lists directly in a body that may have many elements. */
export function longListsOf(schema: TSchema): readonly string[] {
  return Object.entries((schema as Keywords).properties ?? {})
    .filter(([, property]) => ((property as Keywords).maxItems ?? 0) >= MANY)
    .map(([name]) => name);
}

const MANY = 100;

/**
 * Receives the elements of a list of a body, then has the list, with which the body is validated as if its elements were not checked yet.
 * Elements after one that breaks a rule are not kept: the body is refused.
 */
export class ElementChecks {
  /** As long as the list, up to the first length that is too long. */
  readonly list: unknown[] = [];
  readonly #check: Check;
  readonly #most: number;
  readonly #within: string;
  readonly #messages: Messages = [];
  #final: unknown[] | undefined;

  constructor(body: TSchema, name: string) {
    const { items, maxItems = Infinity } = (body as Keywords).properties?.[name] as Keywords;
    if (items === undefined) throw new TypeError(`${name} is not a list`);
    this.#check = checkOf(items);
    this.#most = maxItems;
    this.#within = inside('', name);
    judgedLists.set(this.list, () => ({ final: this.#final ?? this.list, messages: this.#messages }));
  }

  add(element: unknown): void {
    const index = this.list.length;
    if (index > this.#most) return;
    if (this.#messages.length >= maxMessages) {
      this.list.push(undefined);
      return;
    }
    const settled = this.#check(element, this.#within, String(index), this.#messages);
    const isKept = this.#messages.length === 0;
    if (isKept && settled !== element) this.#final ??= [...this.list];
    this.list.push(isKept ? element : undefined);
    if (isKept) this.#final?.push(settled);
  }
}
