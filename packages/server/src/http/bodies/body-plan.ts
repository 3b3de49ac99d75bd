import {
  ElementChecks,
  longListsOf,
  type OperationId,
  type Route,
  validateBody,
  type Validation,
} from '@sandpit/protocol';
import { type BodyWork } from './body-turns.js';
import { DeepJson, InvalidJson, JsonCuts, type ListKeeper, LongPart, WHOLE_BODY } from './json-cuts.js';
import { DEEP_JSON, INVALID_JSON, LONG_PART } from './refused-body.js';

/** Bytes of JSON that one step parses. */
const MOST_OF_PART = 262_144;
/** Bytes of elements that are parsed together. */
const PIECE = 32_768;
/** Bytes that one step scans. */
const SCANNED_AT_ONCE = 65_536;

const MOST_BYTES = 1_048_576;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent = a body without lists. */
    readonly body?: BodyPlan;
    /** Absent = a route of a dialect with paths of its own, or of the tools. */
    readonly operation?: OperationId;
  }
}

/** Plan for reading the bodies of a route. */
export interface BodyPlan {
  readonly mostBytes: number;
  /** Names of its lists. */
  readonly lists: ReadonlySet<string>;
  /** A long body is validated as it is parsed. */
  readonly route?: Pick<Route, 'body' | 'bodyIsOptional' | 'takesFile'>;
}

export const PLAIN_BODY: BodyPlan = { mostBytes: MOST_BYTES, lists: new Set() };

/** A list of messages: a batch of JSON-RPC, or of orders. */
export const LIST_BODY: BodyPlan = { mostBytes: MOST_BYTES, lists: new Set([WHOLE_BODY]) };

/** The plan of an operation. */
export function planOf(route: Route): BodyPlan {
  const lists = route.body === undefined ? [] : longListsOf(route.body);
  return {
    mostBytes: route.maxBodyBytes ?? MOST_BYTES,
    lists: new Set(route.takesFile === true ? [...lists, WHOLE_BODY] : lists),
    route,
  };
}

/** Maximum bytes of JSON with this plan. */
export const mostJson = ({ lists, mostBytes }: BodyPlan): number =>
  lists.size > 0 ? mostBytes : MOST_OF_PART;

/** A body that was validated as it was parsed. */
export class ValidatedBody {
  readonly result: Validation<unknown>;

  constructor(result: Validation<unknown>) {
    this.result = result;
  }
}

/** Parses and validates a long body in steps. */
export function* parseLong(bytes: Buffer, { lists, route }: BodyPlan): BodyWork {
  const cuts = new JsonCuts(bytes, lists, { partBytes: MOST_OF_PART, pieceBytes: PIECE });
  try {
    do yield 0;
    while (cuts.scan(SCANNED_AT_ONCE));
    const schema = route?.body;
    const value = yield* cuts.parse((name) => {
      if (name === WHOLE_BODY) return route?.takesFile === true ? NO_LIST : new PlainList();
      return schema === undefined ? new PlainList() : new ElementChecks(schema, name);
    });
    yield 0;
    if (isFile(value, route)) return { file: bytes.toString('utf8') };
    if (schema === undefined) return value;
    const given = route?.bodyIsOptional === true ? (value ?? {}) : value;
    const result = validateBody(schema, given);
    yield 0;
    return new ValidatedBody(result);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Parses a short body. */
export function parseShort(bytes: Buffer, { route }: BodyPlan): unknown {
  // A scan for the levels alone.
  const cuts = new JsonCuts(bytes, NO_LISTS, { partBytes: Infinity, pieceBytes: Infinity });
  try {
    cuts.scan(bytes.length);
    const text = bytes.toString('utf8');
    const value: unknown = JSON.parse(text);
    return isFile(value, route) ? { file: text } : value;
  } catch (error) {
    throw refusalOf(error);
  }
}

/** True for a list on a route that accepts files: the handler reads its text. */
const isFile = (value: unknown, route: BodyPlan['route']): boolean =>
  route?.takesFile === true && Array.isArray(value);

const NO_LIST: ListKeeper = { list: [], add: () => undefined };

const NO_LISTS: ReadonlySet<string> = new Set();

function refusalOf(error: unknown): unknown {
  if (error instanceof InvalidJson || error instanceof SyntaxError) return INVALID_JSON;
  if (error instanceof DeepJson) return DEEP_JSON;
  return error instanceof LongPart ? LONG_PART : error;
}

class PlainList implements ListKeeper {
  readonly list: unknown[] = [];

  add(element: unknown): void {
    this.list.push(element);
  }
}
