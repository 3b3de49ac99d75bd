import { createHash } from 'node:crypto';
import { calendarById, KnownInstruments } from '@sandpit/core';
import type { BrokerConfiguration, Listing, Rules, RulesInForce, TradingDate } from '@sandpit/core';
import { DamagedJournal } from '../../store/journal.js';
import { settingsOf } from '../../store/registry.js';
import type { Registry } from '../../store/registry.js';

/**
 * The rules of a simulation as its journal names them. Their lists are stored once for all simulations, by digest: an idle simulation costs
 * a line, and a verification finds the brokers and instruments of each decision.
 */
export async function keepRules(registry: ListStore, rules: Rules): Promise<RulesInForce> {
  const { quoteMaxAgeMs, marketCollarBps, portfolioMarginEquity, riskFreeRate } = rules;
  return {
    calendar: rules.calendar.id,
    ...(quoteMaxAgeMs !== undefined && { quoteMaxAgeMs }),
    marketCollarBps,
    portfolioMarginEquity,
    riskFreeRate,
    ...optionsOf(rules),
    brokers: await keepList(registry, rules.brokers, () => [...rules.brokers.values()]),
    instruments: await keepList(registry, rules.instruments, () => rules.instruments.listing),
  };
}

type ListStore = Pick<Registry, 'setting' | 'saveSetting'>;

/** Options that a simulation chose at its creation. */
export function optionsOf({ earlyAssignment, scripts, luld, shortSaleRestriction }: Options): Options {
  return {
    ...(earlyAssignment !== undefined && { earlyAssignment }),
    ...(scripts !== undefined && { scripts }),
    ...(luld !== undefined && { luld }),
    ...(shortSaleRestriction !== undefined && { shortSaleRestriction }),
  };
}
type Options = Pick<Rules, 'earlyAssignment' | 'scripts' | 'luld' | 'shortSaleRestriction'>;

/** Lists are shared between simulations and never change: each is written out and hashed once. */
const digests = new WeakMap<object, string>();

async function keepList(registry: ListStore, list: object, data: () => object): Promise<string> {
  let digest = digests.get(list);
  if (digest !== undefined && registry.setting(listName(digest)) !== undefined) return digest;
  const text = JSON.stringify(data());
  digest = digestOfList(text);
  digests.set(list, digest);
  if (registry.setting(listName(digest)) === undefined) await registry.saveSetting(listName(digest), text);
  return digest;
}

/** The rules that a journal names. Throws if a list is missing or has another digest. */
export function rulesNamed(registry: Pick<Registry, 'setting'>, named: RulesInForce): Rules {
  const { calendar, quoteMaxAgeMs, marketCollarBps, portfolioMarginEquity, riskFreeRate } = named;
  const brokers = listNamed(registry, named.brokers) as BrokerConfiguration[];
  const listing = listNamed(registry, named.instruments) as Listing;
  return {
    calendar: calendarById(calendar),
    quoteMaxAgeMs,
    marketCollarBps,
    portfolioMarginEquity,
    riskFreeRate,
    ...optionsOf(named),
    brokers: new Map(brokers.map((broker) => [broker.id, broker])),
    instruments: new KnownInstruments(listing),
  };
}

function listNamed(registry: Pick<Registry, 'setting'>, digest: string): unknown {
  const text = registry.setting(listName(digest));
  if (text === undefined || digestOfList(text) !== digest)
    throw new DamagedJournal(`the list ${digest} of the rules in force is missing or damaged`);
  return JSON.parse(text);
}

export const sameRules = (a: RulesInForce, b: RulesInForce): boolean => differences(a, b).length === 0;

/** The text of a list by its digest. Throws if it is missing. */
export function listText(registry: Pick<Registry, 'setting'>, digest: string): string {
  const text = registry.setting(listName(digest));
  if (text === undefined) throw new DamagedJournal(`the list ${digest} of the rules in force is missing`);
  return text;
}

/** Differences between two sets of rules, one line each. */
export function differences(before: RulesInForce, now: RulesInForce): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]) as Set<keyof RulesInForce>;
  return [...names]
    .filter((name) => before[name] !== now[name])
    .map((name) => `${name} was ${before[name] ?? 'not set'}, is ${now[name] ?? 'not set'}`);
}

/** The name of the setting that stores a list of this installation. */
export const listName = (digest: string): string => `rules/${digest}`;

/** The name of the setting that stores a list which came with the file of a simulation: it belongs to the simulation (D233). */
export const ownListName = (simulationId: string, digest: string): string =>
  settingsOf(simulationId) + listName(digest);

/** Lists that came with the file of a simulation, or with that of an ancestor. */
export const ownLists = (
  registry: Pick<Registry, 'settings'>,
  simulationId: string,
): readonly (readonly [name: string, text: string])[] => {
  const own = settingsOf(simulationId);
  return registry.settings(`${own}rules/`).map(([name, text]) => [name.slice(own.length), text] as const);
};

/** Characters of the lists in a file that are not those of this installation. */
export const charactersOwned = (
  registry: Pick<Registry, 'setting'>,
  lists: readonly (readonly [digest: string, length: number])[],
): number =>
  lists.reduce(
    (sum, [digest, length]) => (registry.setting(listName(digest)) === undefined ? sum + length : sum),
    0,
  );

/** The lists that the records of a simulation may name: its own, and those of this installation. */
export const listsFor = (registry: Pick<Registry, 'setting'>, simulationId: string): Lists => ({
  setting: (name) => registry.setting(name) ?? registry.setting(settingsOf(simulationId) + name),
});

/** Lists by the names of their settings. */
type Lists = Pick<Registry, 'setting'>;

/** The text of a list of instruments without those that are listed after a date (D209). */
export function listedBy(text: string, date: TradingDate): string {
  const listing = JSON.parse(text) as Listing;
  const { since = {} } = listing;
  const isKnown = (symbol: string): boolean => (since[symbol] ?? date) <= date;
  if (Object.keys(since).every(isKnown)) return text;
  return JSON.stringify({
    ...listing,
    instruments: listing.instruments.filter(({ symbol }) => isKnown(symbol)),
    since: Object.fromEntries(Object.entries(since).filter(([symbol]) => isKnown(symbol))),
  });
}

export const digestOfList = (text: string): string => createHash('sha256').update(text).digest('hex');
