import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Money, type BrokerConfiguration } from '@sandpit/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrokerEntry } from './broker-file.js';
import { BUILT_IN_BROKERS } from './built-in-brokers.js';
import { BrokersFileError, builtInBrokers, loadBrokers, parseBrokersFile } from './load-brokers.js';

/** The table of contract 2.6: id, equity commission (`s` = per share), option commission. */
const CONTRACT_TABLE: readonly (readonly [string, string, string])[] = [
  ['default', '0', '0.5'],
  ['broker_01', '0', '0.5'],
  ['broker_02', '0', '0'],
  ['broker_03', '0.003 s', '0.3'],
  ['broker_04', '0', '0.5'],
  ['broker_05', '0', '0.65'],
  ['broker_06', '0', '0'],
  ['broker_07', '0.005 s', '0.5'],
  ['broker_08', '0', '0.65'],
  ['broker_09', '0.0045 s', '0.5'],
  ['broker_10', '0', '0.65'],
  ['broker_11', '0', '0.5'],
  ['broker_12', '0', '0'],
  ['broker_13', '0', '0'],
  ['broker_14', '0', '0.65'],
  ['broker_15', '0', '0'],
  ['broker_16', '0', '1'],
  ['broker_17', '0', '0.65'],
  ['broker_18', '0', '0.5'],
  ['broker_19', '0.0035 s', '0.35'],
  ['broker_20', '0', '1'],
  ['broker_21', '0', '0'],
];

describe('the built-in brokers', () => {
  const brokers = builtInBrokers();

  test("have the ids and both commission columns of the contract's table, in its order", () => {
    const columns = brokers.map(({ id, equityCommission, optionCommission }) => [
      id,
      equityCommission.perUnit > 0
        ? `${Money.format(equityCommission.perUnit)} s`
        : Money.format(equityCommission.perOrder),
      Money.format(optionCommission.perUnit),
    ]);
    expect(columns).toEqual(CONTRACT_TABLE);
  });

  test('have the costs in the table and no others: no minimum, no maximum, no second part', () => {
    for (const { equityCommission, optionCommission } of brokers) {
      expect(Object.keys(equityCommission).sort()).toEqual(['perOrder', 'perUnit']);
      expect(Object.keys(optionCommission).sort()).toEqual(['perOrder', 'perUnit']);
      expect(Math.min(equityCommission.perOrder, equityCommission.perUnit)).toBe(0);
      expect(optionCommission.perOrder).toBe(0);
    }
  });

  test("default asks FINRA's minimums, allows everything and passes no fees on", () => {
    expect(brokers[0]).toMatchObject({
      passesRegulatoryFees: false,
      orderTypes: ['MARKET', 'LIMIT', 'STOP', 'STOP_LIMIT', 'TRAILING_STOP', 'TRAILING_STOP_LIMIT'],
      timesInForce: ['DAY', 'GTC', 'IOC', 'FOK', 'GTD'],
      sessions: ['REGULAR', 'EXTENDED'],
      fractionalShares: true,
      shortSelling: true,
      optionLevel: 4,
      futures: true,
      queuesWhenClosed: true,
      houseMaintenanceLongBps: 2500,
      houseMaintenanceShortBps: 3000,
    });
  });

  test.each<keyof BrokerConfiguration>([
    'passesRegulatoryFees',
    'orderTypes',
    'timesInForce',
    'sessions',
    'fractionalShares',
    'shortSelling',
    'optionLevel',
    'futures',
    'queuesWhenClosed',
    'marginInterestTiers',
    'houseMaintenanceLongBps',
    'houseMaintenanceShortBps',
    'dayTradeRegime',
  ])('%s differs between some of them', (field) => {
    expect(new Set(brokers.map((broker) => JSON.stringify(broker[field]))).size).toBeGreaterThan(1);
  });

  test('are valid as a file, too', () => {
    const text = JSON.stringify({ includeBuiltIn: false, brokers: BUILT_IN_BROKERS });
    expect(parseBrokersFile(text, 'copy.json')).toEqual(brokers);
  });
});

const own: BrokerEntry = {
  id: 'my-firm',
  name: 'My firm',
  equityCommission: { perShare: '0.0045', minimum: '1.00', maximum: '50', maximumOfValue: '0.01' },
  optionCommission: { perOrder: '1', perContract: '0.65' },
  futureCommission: {},
  passesRegulatoryFees: true,
  orderTypes: ['MARKET'],
  timesInForce: ['DAY'],
  sessions: ['REGULAR'],
  fractionalShares: false,
  shortSelling: false,
  optionLevel: 0,
  futures: false,
  queuesWhenClosed: true,
  marginInterestTiers: [
    { from: '0', rateAnnual: '0.08' },
    { from: '25000', rateAnnual: '0.0725' },
  ],
  houseMaintenanceLong: '0.30',
  houseMaintenanceShort: '0.35',
  dayTradeRegime: 'LEGACY_PDT',
};

const parse = (file: unknown): BrokerConfiguration[] =>
  parseBrokersFile(JSON.stringify(file), 'brokers.json');

function problemsOf(file: unknown): readonly string[] {
  try {
    parse(file);
  } catch (error) {
    if (error instanceof BrokersFileError) return error.problems;
    throw error;
  }
  return [];
}

describe('a brokers file', () => {
  test('converts dollars to money and fractions to basis points', () => {
    expect(parse({ brokers: [own] }).at(-1)).toEqual({
      id: 'my-firm',
      name: 'My firm',
      equityCommission: {
        perOrder: 0,
        perUnit: 45,
        minimum: 10_000,
        maximum: 500_000,
        maximumOfValueBps: 100,
      },
      optionCommission: { perOrder: 10_000, perUnit: 6500 },
      futureCommission: { perOrder: 0, perUnit: 0 },
      passesRegulatoryFees: true,
      orderTypes: ['MARKET'],
      timesInForce: ['DAY'],
      sessions: ['REGULAR'],
      fractionalShares: false,
      shortSelling: false,
      optionLevel: 0,
      futures: false,
      queuesWhenClosed: true,
      marginInterestTiers: [
        { from: 0, rateAnnualBps: 800 },
        { from: 250_000_000, rateAnnualBps: 725 },
      ],
      houseMaintenanceLongBps: 3000,
      houseMaintenanceShortBps: 3500,
      dayTradeRegime: 'LEGACY_PDT',
    });
  });

  test('extends the built-in brokers, and an entry with a known id replaces that broker', () => {
    const brokers = parse({ brokers: [own, { ...own, id: 'broker_02' }] });
    expect(brokers.map((broker) => broker.id)).toEqual([...CONTRACT_TABLE.map(([id]) => id), 'my-firm']);
    expect(brokers.find((broker) => broker.id === 'broker_02')?.name).toBe('My firm');
  });

  test('replaces all brokers on request, and then needs a default, which comes first', () => {
    const brokers = parse({ includeBuiltIn: false, brokers: [own, { ...own, id: 'default' }] });
    expect(brokers.map((broker) => broker.id)).toEqual(['default', 'my-firm']);
    expect(problemsOf({ includeBuiltIn: false, brokers: [own] })).toEqual([
      'brokers must contain an entry with the id "default"',
    ]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['id', { id: 'My Firm' }, 'brokers.0.id must be lower-case letters and digits, joined by - or _'],
    ['name', { name: ' ' }, 'brokers.0.name should not be empty'],
    [
      'a number where a decimal string belongs',
      { equityCommission: { perShare: 0.003 } },
      'brokers.0.equityCommission.perShare must be a decimal string of dollars with at most four decimals',
    ],
    [
      'a rate that is too fine',
      { equityCommission: { perShare: '0.00001' } },
      'brokers.0.equityCommission.perShare must be a decimal string of dollars with at most four decimals',
    ],
    [
      'a negative amount',
      { optionCommission: { perContract: '-0.5' } },
      'brokers.0.optionCommission.perContract must be a decimal string of dollars with at most four decimals',
    ],
    [
      'a fraction of a cent per order',
      { optionCommission: { perOrder: '0.005' } },
      'brokers.0.optionCommission.perOrder must be a decimal string of dollars with at most two decimals',
    ],
    [
      "another asset class's unit",
      { optionCommission: { perShare: '0.5' } },
      'property brokers.0.optionCommission.perShare should not exist',
    ],
    ['a commission', { futureCommission: null }, 'brokers.0.futureCommission must be an object'],
    [
      'an order type',
      { orderTypes: ['MARKET', 'ICEBERG'] },
      'brokers.0.orderTypes.1 must be one of MARKET, LIMIT, STOP, STOP_LIMIT, TRAILING_STOP, TRAILING_STOP_LIMIT',
    ],
    ['an empty list', { timesInForce: [] }, 'brokers.0.timesInForce must contain 1 to 5 elements'],
    ['a repetition', { timesInForce: ['DAY', 'DAY'] }, 'brokers.0.timesInForce must not contain duplicates'],
    ['sessions', { sessions: ['EXTENDED'] }, 'brokers.0.sessions must contain REGULAR'],
    ['a flag', { futures: 'yes' }, 'brokers.0.futures must be a boolean'],
    ['option level', { optionLevel: 5 }, 'brokers.0.optionLevel must be an integer from 0 to 4'],
    ['no tier', { marginInterestTiers: [] }, 'brokers.0.marginInterestTiers must contain 1 to 100 elements'],
    [
      'first tier',
      { marginInterestTiers: [{ from: '1', rateAnnual: '0.05' }] },
      'brokers.0.marginInterestTiers must start from 0',
    ],
    [
      'order of tiers',
      {
        marginInterestTiers: [
          { from: '0', rateAnnual: '0.05' },
          { from: '0', rateAnnual: '0.04' },
        ],
      },
      'brokers.0.marginInterestTiers must rise from tier to tier',
    ],
    [
      'a tier without its start',
      { marginInterestTiers: [{ rateAnnual: '0.05' }] },
      'brokers.0.marginInterestTiers.0.from must be a decimal string of dollars with at most two decimals',
    ],
    [
      'maintenance below the minimum',
      { houseMaintenanceLong: '0.2' },
      'brokers.0.houseMaintenanceLong must be a fraction from 0.25 to 1 as a decimal string with at most four decimals',
    ],
    ['regime', { dayTradeRegime: 'NONE' }, 'brokers.0.dayTradeRegime must be LEGACY_PDT or INTRADAY_MARGIN'],
    ['an unknown field', { color: 'red' }, 'property brokers.0.color should not exist'],
  ])('names the file and the field: %s', (_what, change, problem) => {
    expect(problemsOf({ brokers: [{ ...own, ...change }] })).toEqual([problem]);
  });

  test('reports every problem at once', () => {
    const unnamed = { ...own, name: undefined };
    expect(problemsOf({ brokers: [{ ...unnamed, futures: 1 }, 7, own, own] })).toEqual([
      'brokers.0.name must be a string',
      'brokers.0.futures must be a boolean',
      ...problemsOf({ brokers: [7] }).map((problem) => problem.replace('.0', '.1')),
      'brokers.2.id repeats "my-firm" of brokers.0',
      'brokers.3.id repeats "my-firm" of brokers.0',
    ]);
  });

  test('of another shape altogether is refused', () => {
    expect(problemsOf([])).toEqual(['body must be an object']);
    expect(problemsOf({})).toEqual(['brokers must be an array']);
    expect(problemsOf({ brokers: {} })).toEqual(['brokers must be an array']);
    expect(() => parseBrokersFile('{', 'brokers.json')).toThrow(/^brokers\.json:\n {2}is not JSON: /);
  });
});

describe('loadBrokers', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandpit-brokers-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('without a path gives the built-in ones', async () => {
    expect(await loadBrokers()).toEqual(builtInBrokers());
  });

  test('reads the file at a path', async () => {
    const path = join(directory, 'own.json');
    await writeFile(path, JSON.stringify({ brokers: [own] }));
    expect(await loadBrokers(path)).toHaveLength(23);
  });

  test('a missing file is an error that names it', async () => {
    const path = join(directory, 'missing.json');
    await expect(loadBrokers(path)).rejects.toThrow(`${path}:\n  cannot be read: ENOENT`);
  });
});

describe('docs/rules/brokers.md', () => {
  const yes = (flag: boolean): string => (flag ? 'yes' : 'no');
  const percent = (bps: number): string => `${Number((bps / 100).toFixed(2))} %`;
  const commission = (broker: BrokerConfiguration): string =>
    broker.equityCommission.perUnit > 0
      ? `${Money.format(broker.equityCommission.perUnit)} per share`
      : Number(Money.format(broker.equityCommission.perOrder)).toFixed(2);
  const dollars = (money: Money): string => Number(Money.format(money)).toFixed(2);

  const charges = (broker: BrokerConfiguration): string[] => [
    broker.id,
    broker.name,
    commission(broker),
    dollars(broker.optionCommission.perUnit),
    broker.futures ? dollars(broker.futureCommission.perUnit) : '–',
    yes(broker.passesRegulatoryFees),
    broker.marginInterestTiers
      .map(
        ({ from, rateAnnualBps }) =>
          `${percent(rateAnnualBps)}${from > 0 ? ` from ${Money.format(from)}` : ''}`,
      )
      .join(', '),
    percent(broker.houseMaintenanceLongBps),
    percent(broker.houseMaintenanceShortBps),
  ];
  const access = (broker: BrokerConfiguration): string[] => [
    broker.id,
    broker.orderTypes.join(' '),
    [...broker.timesInForce, ...(broker.auctionOrders === true ? ['OPG', 'CLS'] : [])].join(' '),
    yes(broker.sessions.includes('EXTENDED')),
    yes(broker.fractionalShares),
    yes(broker.shortSelling),
    String(broker.optionLevel),
    yes(broker.futures),
    yes(broker.queuesWhenClosed),
    broker.dayTradeRegime ?? 'by date',
  ];

  test('shows every field of every built-in broker unchanged', async () => {
    const page = await readFile(new URL('../../../../docs/rules/brokers.md', import.meta.url), 'utf8');
    const rows = page
      .split('\n')
      .filter((line) => /^\| (default|broker_\d\d) /.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    const brokers = builtInBrokers();
    expect(rows).toEqual([...brokers.map(charges), ...brokers.map(access)]);
  });
});
