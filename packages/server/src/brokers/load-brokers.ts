import { readFile } from 'node:fs/promises';
import { Money, type BrokerConfiguration, type CommissionSchedule } from '@sandpit/core';
import { validateBody } from '@sandpit/protocol';
import { type BrokerEntry, BrokersFile, type CommissionEntry } from './broker-file.js';
import { BUILT_IN_BROKERS } from './built-in-brokers.js';

/** A brokers file that cannot be used. The message names the file and every field that is wrong. */
export class BrokersFileError extends Error {
  readonly problems: readonly string[];

  constructor(source: string, problems: readonly string[]) {
    super(`${source}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'BrokersFileError';
    this.problems = problems;
  }
}

/**
 * The broker configurations of a server: the built-in ones, and those of the file at `path` (see `BrokersFile`) if given. `default` comes
 * first, the others in the order of the table, then of the file.
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
  return BUILT_IN_BROKERS.map(configurationOf);
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
  const checked = validateBody(BrokersFile, file);
  if (!checked.ok) throw new BrokersFileError(source, checked.messages);
  const { includeBuiltIn = true, brokers } = checked.value;

  const own = brokers.map(configurationOf);
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

function configurationOf(entry: BrokerEntry): BrokerConfiguration {
  const {
    equityCommission,
    optionCommission,
    futureCommission,
    optionLevel,
    marginInterestTiers,
    houseMaintenanceLong,
    houseMaintenanceShort,
    shortBoxCost,
    portfolioMarginFactor,
    futuresIntradayFraction,
    ...asItIs
  } = entry;
  return {
    ...asItIs,
    equityCommission: scheduleOf(equityCommission),
    optionCommission: scheduleOf(optionCommission),
    futureCommission: scheduleOf(futureCommission),
    optionLevel: optionLevel as BrokerConfiguration['optionLevel'],
    marginInterestTiers: marginInterestTiers.map(({ from, rateAnnual }) => ({
      from: dollars(from),
      rateAnnualBps: basisPoints(rateAnnual),
    })),
    houseMaintenanceLongBps: basisPoints(houseMaintenanceLong),
    houseMaintenanceShortBps: basisPoints(houseMaintenanceShort),
    ...(shortBoxCost !== undefined && { shortBoxCostBps: basisPoints(shortBoxCost) }),
    ...(portfolioMarginFactor !== undefined && {
      portfolioMarginFactorBps: basisPoints(portfolioMarginFactor),
    }),
    ...(futuresIntradayFraction !== undefined && {
      futuresIntradayFractionBps: basisPoints(futuresIntradayFraction),
    }),
  };
}

function scheduleOf(entry: CommissionEntry): CommissionSchedule {
  const { perOrder = '0', perShare, perContract, minimum, maximum, maximumOfValue } = entry;
  return {
    perOrder: dollars(perOrder),
    perUnit: dollars(perShare ?? perContract ?? '0'),
    ...(minimum !== undefined && { minimum: dollars(minimum) }),
    ...(maximum !== undefined && { maximum: dollars(maximum) }),
    ...(maximumOfValue !== undefined && { maximumOfValueBps: basisPoints(maximumOfValue) }),
  };
}

/** The amount of a text that has been validated. */
function dollars(text: string): Money {
  const money = Money.parse(text);
  if (money === undefined) throw new RangeError(`not an amount: ${text}`);
  return money;
}

/** Money's unit is 1/10,000: the count of units of a fraction is its basis points. */
const basisPoints = (text: string): number => Number(dollars(text));
