import { readFile } from 'node:fs/promises';
import {
  Money,
  type BrokerConfiguration,
  type CommissionSchedule,
  type MarginInterestTier,
} from '@sandpit/core';
import { BUILT_IN_BROKERS } from './built-in-brokers.js';

/** A brokers file that cannot be used. The message names the file and every field that is wrong. */
export class BrokersFileError extends Error {
  readonly source: string;
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    super(`${source}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'BrokersFileError';
    this.source = source;
    this.problems = problems;
  }
}

/**
 * The broker configurations of a server: the built-in ones, and those of the file at `path` (see `BrokersFile`) where
 * one is given. `default` comes first, the others in the order of the table, then of the file.
 */
export async function loadBrokers(path?: string): Promise<BrokerConfiguration[]> {
  if (path === undefined) return builtInBrokers();
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new BrokersFileError(path, [
      `cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
  return parseBrokersFile(text, path);
}

/** The contract's 22. */
export function builtInBrokers(): BrokerConfiguration[] {
  return readEntries(BUILT_IN_BROKERS, 'built-in brokers');
}

/** Parses the text of a brokers file; `source` is what errors call it. */
export function parseBrokersFile(text: string, source: string): BrokerConfiguration[] {
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new BrokersFileError(source, [
      `is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    ]);
  }
  const problems: string[] = [];
  const top = new ObjectReader(file, '', problems);
  const includeBuiltIn = top.optional('includeBuiltIn', isBoolean, 'true or false') ?? true;
  const entries = top.required('brokers', isArray, 'a list of broker configurations') ?? [];
  top.refuseOthers();
  if (problems.length > 0) throw new BrokersFileError(source, problems);

  const own = readEntries(entries, source);
  const ownById = new Map(own.map((broker) => [broker.id, broker]));
  const builtIn = includeBuiltIn ? builtInBrokers() : [];
  const builtInIds = new Set(builtIn.map((broker) => broker.id));
  const all = [
    ...builtIn.map((broker) => ownById.get(broker.id) ?? broker),
    ...own.filter((broker) => !builtInIds.has(broker.id)),
  ];
  if (!all.some((broker) => broker.id === 'default')) {
    throw new BrokersFileError(source, ['brokers must contain an entry with the id "default"']);
  }
  return all.sort((a, b) => Number(b.id === 'default') - Number(a.id === 'default'));
}

function readEntries(entries: readonly unknown[], source: string): BrokerConfiguration[] {
  const problems: string[] = [];
  const brokers: BrokerConfiguration[] = [];
  const seen = new Map<string, number>();
  entries.forEach((entry, index) => {
    const broker = readBroker(entry, `brokers[${index}]`, problems);
    if (broker === undefined) return;
    const earlier = seen.get(broker.id);
    if (earlier !== undefined)
      problems.push(`brokers[${index}].id repeats "${broker.id}" of brokers[${earlier}]`);
    seen.set(broker.id, index);
    brokers.push(broker);
  });
  if (problems.length > 0) throw new BrokersFileError(source, problems);
  return brokers;
}

const ID = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;
const ORDER_TYPES = [
  'MARKET',
  'LIMIT',
  'STOP',
  'STOP_LIMIT',
  'TRAILING_STOP',
  'TRAILING_STOP_LIMIT',
] as const;
const TIMES_IN_FORCE = ['DAY', 'GTC', 'IOC', 'FOK', 'GTD'] as const;
const SESSIONS = ['REGULAR', 'EXTENDED'] as const;
const OPTION_LEVELS = [0, 1, 2, 3, 4] as const;
const DAY_TRADE_REGIMES = ['LEGACY_PDT', 'INTRADAY_MARGIN'] as const;

/** FINRA Rule 4210(c): the least that any member may ask (docs/rules/brokers.md). */
const FINRA_MAINTENANCE_LONG_BPS = 2500;
const FINRA_MAINTENANCE_SHORT_BPS = 3000;

/** `undefined` after noting at least one problem. */
function readBroker(value: unknown, at: string, problems: string[]): BrokerConfiguration | undefined {
  const before = problems.length;
  const reader = new ObjectReader(value, at, problems);
  const isId = (id: unknown): id is string => typeof id === 'string' && ID.test(id);
  const id = reader.required('id', isId, 'lower-case letters and digits, joined by - or _');
  const name = reader.required('name', isText, 'a text that is not empty');
  const equityCommission = readCommission(reader, 'equityCommission', 'perShare');
  const optionCommission = readCommission(reader, 'optionCommission', 'perContract');
  const futureCommission = readCommission(reader, 'futureCommission', 'perContract');
  const passesRegulatoryFees = reader.required('passesRegulatoryFees', isBoolean, 'true or false');
  const orderTypes = reader.someOf('orderTypes', ORDER_TYPES);
  const timesInForce = reader.someOf('timesInForce', TIMES_IN_FORCE);
  const sessions = reader.someOf('sessions', SESSIONS);
  const fractionalShares = reader.required('fractionalShares', isBoolean, 'true or false');
  const shortSelling = reader.required('shortSelling', isBoolean, 'true or false');
  const optionLevel = reader.required('optionLevel', isOneOf(OPTION_LEVELS), 'a whole number from 0 to 4');
  const futures = reader.required('futures', isBoolean, 'true or false');
  const queuesWhenClosed = reader.required('queuesWhenClosed', isBoolean, 'true or false');
  const marginInterestTiers = readTiers(reader);
  const houseMaintenanceLongBps = reader.basisPoints('houseMaintenanceLong', FINRA_MAINTENANCE_LONG_BPS);
  const houseMaintenanceShortBps = reader.basisPoints('houseMaintenanceShort', FINRA_MAINTENANCE_SHORT_BPS);
  const regimes = DAY_TRADE_REGIMES.join(' or ');
  const dayTradeRegime = reader.optional('dayTradeRegime', isOneOf(DAY_TRADE_REGIMES), regimes);
  reader.refuseOthers();

  if (sessions !== undefined && !sessions.includes('REGULAR')) {
    problems.push(`${at}.sessions must contain REGULAR`);
  }
  if (
    problems.length > before ||
    id === undefined ||
    name === undefined ||
    equityCommission === undefined ||
    optionCommission === undefined ||
    futureCommission === undefined ||
    passesRegulatoryFees === undefined ||
    orderTypes === undefined ||
    timesInForce === undefined ||
    sessions === undefined ||
    fractionalShares === undefined ||
    shortSelling === undefined ||
    optionLevel === undefined ||
    futures === undefined ||
    queuesWhenClosed === undefined ||
    houseMaintenanceLongBps === undefined ||
    houseMaintenanceShortBps === undefined
  ) {
    return undefined;
  }
  return {
    id,
    name,
    equityCommission,
    optionCommission,
    futureCommission,
    passesRegulatoryFees,
    orderTypes,
    timesInForce,
    sessions,
    fractionalShares,
    shortSelling,
    optionLevel,
    futures,
    queuesWhenClosed,
    marginInterestTiers,
    houseMaintenanceLongBps,
    houseMaintenanceShortBps,
    ...(dayTradeRegime !== undefined && { dayTradeRegime }),
  };
}

function readCommission(
  parent: ObjectReader,
  field: string,
  perUnitField: 'perShare' | 'perContract',
): CommissionSchedule | undefined {
  const reader = parent.object(field);
  if (reader === undefined) return undefined;
  const perOrder = reader.dollars('perOrder', 'whole cents') ?? Money.zero;
  const perUnit = reader.dollars(perUnitField, 'four decimals') ?? Money.zero;
  const minimum = reader.dollars('minimum', 'whole cents');
  const maximum = reader.dollars('maximum', 'whole cents');
  const maximumOfValueBps = reader.has('maximumOfValue')
    ? reader.basisPoints('maximumOfValue', 1)
    : undefined;
  reader.refuseOthers();
  return {
    perOrder,
    perUnit,
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(maximumOfValueBps !== undefined && { maximumOfValueBps }),
  };
}

function readTiers(parent: ObjectReader): MarginInterestTier[] {
  const list = parent.required('marginInterestTiers', isArray, 'a list of { from, rateAnnual }');
  if (list === undefined) return [];
  const at = parent.path('marginInterestTiers');
  if (list.length === 0) parent.problem('marginInterestTiers', 'must have at least one tier');
  const tiers: MarginInterestTier[] = [];
  list.forEach((value, index) => {
    const reader = new ObjectReader(value, `${at}[${index}]`, parent.problems);
    const from = reader.has('from') ? reader.dollars('from', 'whole cents') : undefined;
    if (!reader.has('from')) reader.problem('from', 'is missing');
    const rateAnnualBps = reader.basisPoints('rateAnnual', 0);
    reader.refuseOthers();
    if (from === undefined || rateAnnualBps === undefined) return;
    const previous = tiers.at(-1);
    if (index === 0 && from !== Money.zero) reader.problem('from', 'must be 0 in the first tier');
    if (previous !== undefined && from <= previous.from)
      reader.problem('from', 'must rise from tier to tier');
    tiers.push({ from, rateAnnualBps });
  });
  return tiers;
}

type Check<Value> = (value: unknown) => value is Value;

const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';
const isArray = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isDecimal = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{1,12}(\.\d+)?$/.test(value);

function isOneOf<const Value>(allowed: readonly Value[]): Check<Value> {
  return (value): value is Value => (allowed as readonly unknown[]).includes(value);
}

/** Reads the fields of one object, noting what is wrong by its path, and which fields nobody asked for. */
class ObjectReader {
  readonly problems: string[];
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #at: string;
  readonly #asked = new Set<string>();

  constructor(value: unknown, at: string, problems: string[]) {
    this.#at = at;
    this.problems = problems;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject) problems.push(`${at === '' ? 'the file' : at} must be an object`);
    this.#fields = new Map(isObject ? Object.entries(value) : []);
  }

  path(field: string): string {
    return this.#at === '' ? field : `${this.#at}.${field}`;
  }

  problem(field: string, what: string): void {
    this.problems.push(`${this.path(field)} ${what}`);
  }

  has(field: string): boolean {
    this.#asked.add(field);
    return this.#fields.has(field);
  }

  optional<Value>(field: string, check: Check<Value>, expected: string): Value | undefined {
    if (!this.has(field)) return undefined;
    const value = this.#fields.get(field);
    if (check(value)) return value;
    this.problem(field, `must be ${expected}`);
    return undefined;
  }

  required<Value>(field: string, check: Check<Value>, expected: string): Value | undefined {
    if (!this.has(field)) {
      this.problem(field, 'is missing');
      return undefined;
    }
    return this.optional(field, check, expected);
  }

  object(field: string): ObjectReader | undefined {
    if (!this.has(field)) {
      this.problem(field, 'is missing');
      return undefined;
    }
    return new ObjectReader(this.#fields.get(field), this.path(field), this.problems);
  }

  /** A list without repetitions that is not empty. */
  someOf<const Value extends string>(field: string, allowed: readonly Value[]): readonly Value[] | undefined {
    const list = this.required(field, isArray, `a list of ${allowed.join(', ')}`);
    if (list === undefined) return undefined;
    const check = isOneOf(allowed);
    const values = list.filter(check);
    if (values.length < list.length) {
      this.problem(field, `may contain only ${allowed.join(', ')}`);
      return undefined;
    }
    if (new Set(values).size < values.length) {
      this.problem(field, 'must not repeat a value');
      return undefined;
    }
    if (values.length > 0) return values;
    this.problem(field, 'must not be empty');
    return undefined;
  }

  /** An amount of dollars that is not negative; `undefined` where absent. */
  dollars(field: string, precision: 'whole cents' | 'four decimals'): Money | undefined {
    const expected = `a decimal string of dollars with at most ${precision === 'whole cents' ? 'two' : 'four'} decimals`;
    const text = this.optional(field, isDecimal, expected);
    if (text === undefined) return undefined;
    const money = Money.parse(text);
    if (money === undefined || !Money.isPostable(money)) {
      this.problem(field, `must be ${expected}`);
      return undefined;
    }
    if (precision === 'whole cents' && Money.toCents(money) !== money) {
      this.problem(field, `must be ${expected}`);
      return undefined;
    }
    return money;
  }

  /** A fraction between `least` and 1 in whole basis points. */
  basisPoints(field: string, least: number): number | undefined {
    const expected = `a fraction from ${least / 10_000} to 1 as a decimal string with at most four decimals`;
    const text = this.required(field, isDecimal, expected);
    if (text === undefined) return undefined;
    // Money's unit is 1/10,000: the count of units of a fraction is its basis points.
    const bps = Money.parse(text);
    if (bps === undefined || bps < least || bps > 10_000) {
      this.problem(field, `must be ${expected}`);
      return undefined;
    }
    return Number(bps);
  }

  refuseOthers(): void {
    for (const field of this.#fields.keys()) {
      if (!this.#asked.has(field)) this.problem(field, 'is not a field that is known here');
    }
  }
}
