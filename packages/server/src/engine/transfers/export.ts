import { calendarById } from '@sandpit/core';
import type { CorporateAction, Instant, RulesInForce, TradingDate } from '@sandpit/core';
import { StoreUnavailable } from '../../store/journal.js';
import type { Registry } from '../../store/registry.js';
import type { Store } from '../../store/store.js';
import { payloadOf } from '../records/record-text.js';
import type { Payload } from '../records/record-text.js';
import { digestOfList, listedBy, listsFor, listText } from '../configuration/rules-in-force.js';
import {
  headerLine,
  LineChain,
  listLine,
  recordLineOf,
  settingLine,
  trailerLine,
} from './simulation-file.js';
import { originOf } from '../configuration/simulation-config.js';
import type { KeptConfig } from '../configuration/simulation-config.js';
import { Slice } from '../scheduling/slice.js';

/** Characters of a piece of a file. */
const PIECE = 65_536;

const RULES_CHANGE = '{"command":{"type":"ChangeRules"';
const ANNOUNCEMENT = '{"command":{"type":"AnnounceActions"';

export interface ExportedSimulation {
  readonly id: string;
  /** Id of the simulation in the file. */
  readonly shownId: string;
  readonly config: KeptConfig;
  /** Sequence of the last record to export. */
  readonly upTo: number;
  /** Settings of the simulation, by their names within it. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
}

interface List {
  readonly digest: string;
  readonly text: string;
}

/** The last list of instruments that was made: the hash of a competition needs it for each of its entries. */
let latest: { readonly whole: string; readonly date: TradingDate; readonly list: List } | undefined;

/** The part of a market that was known on a date: without later listings and later declared actions (D209). */
class KnownMarket {
  readonly #lists: Pick<Registry, 'setting'>;
  readonly #date: TradingDate;

  constructor(lists: Pick<Registry, 'setting'>, at: Instant) {
    this.#lists = lists;
    this.#date = calendarById('XNYS').dateOf(at);
  }

  /** The list of instruments, by the digest of the whole one. */
  instruments(whole: string): List {
    const date = this.#date;
    if (latest?.whole === whole && latest.date === date) return latest.list;
    const text = listText(this.#lists, whole);
    const known = listedBy(text, date);
    const list = { digest: known === text ? whole : digestOfList(known), text: known };
    latest = { whole, date, list };
    return list;
  }

  config<Config extends Omit<KeptConfig, 'madeBy' | 'ttl' | 'ephemeral' | 'ownLists' | 'isFromFile'>>(
    config: Config,
  ): Config {
    const { rules, fork } = config;
    return {
      ...config,
      rules: this.rules(rules),
      ...(fork !== undefined && {
        fork: { ...fork, origin: { ...fork.origin, rules: this.rules(fork.origin.rules) } },
      }),
    };
  }

  rules(rules: RulesInForce): RulesInForce {
    return { ...rules, instruments: this.instruments(rules.instruments).digest };
  }

  /** A payload without the actions that are declared later; an import announces them in time. */
  announcement(payload: Payload): string {
    const isKnown = ({ knownFrom }: CorporateAction): boolean =>
      knownFrom === undefined || knownFrom <= this.#date;
    const { command } = payload;
    const actions = command.type === 'AnnounceActions' ? command.actions.filter(isKnown) : [];
    const events = payload.events
      .map((event) =>
        event.type === 'ActionsAnnounced'
          ? { ...event, actions: event.actions.filter(({ action }) => isKnown(action)) }
          : event,
      )
      .filter((event) => event.type !== 'ActionsAnnounced' || event.actions.length > 0);
    return JSON.stringify({ ...payload, command: { ...command, actions }, events });
  }

  /** A payload that changes the rules, with the lists of this file. */
  change(payload: Payload): string {
    const { command } = payload;
    const events = payload.events.map((event) =>
      event.type === 'RulesChanged' ? { ...event, rules: this.rules(event.rules) } : event,
    );
    return JSON.stringify({
      ...payload,
      command: command.type === 'ChangeRules' ? { ...command, rules: this.rules(command.rules) } : command,
      events,
    });
  }
}

/** Instant of the last record; the start of the simulation if there is none. */
async function lastInstant(
  journal: Store['journal'],
  id: string,
  upTo: number,
  { start }: KeptConfig,
): Promise<Instant> {
  for await (const { at } of journal.read(id, Math.max(0, upTo - 1))) return at as Instant;
  return start as Instant;
}

/**
 * The file of a simulation, piece by piece, in constant memory. The event loop runs between pieces. Throws if the journal ends before the
 * requested record: the simulation was deleted meanwhile.
 */
export async function* exportSimulation(
  { journal, registry }: Pick<Store, 'journal' | 'registry'>,
  { id, shownId, config, upTo, settings = [] }: ExportedSimulation,
  chain = new LineChain(),
): AsyncGenerator<string> {
  const slice = new Slice();
  const lists = listsFor(registry, id);
  const known = new KnownMarket(lists, await lastInstant(journal, id, upTo, config));
  const listed = new Set<string>();
  let piece = '';
  const add = (line: string): void => {
    chain.take(line);
    piece += `${line}\n`;
  };
  const addList = ({ digest, text }: List): void => {
    if (listed.has(digest)) return;
    listed.add(digest);
    add(listLine(digest, text));
  };
  const addLists = ({ brokers, instruments }: RulesInForce): void => {
    addList({ digest: brokers, text: listText(lists, brokers) });
    addList(known.instruments(instruments));
  };
  // The retention here does not apply there, and where it came from does not matter there.
  const { madeBy: _, ttl: __, ownLists: ___, isFromFile: ____, ephemeral: _____, ...kept } = config;
  add(headerLine(shownId, known.config(kept)));
  addLists(originOf(config).rules);
  addLists(config.rules);
  for (const [name, value] of settings) add(settingLine(name, value));
  let last = 0;
  if (upTo > 0)
    for await (const record of journal.read(id, 0)) {
      let { payload } = record;
      if (payload.startsWith(RULES_CHANGE)) {
        const changed = payloadOf(record);
        if (changed.command.type === 'ChangeRules') addLists(changed.command.rules);
        payload = known.change(changed);
      } else if (payload.startsWith(ANNOUNCEMENT)) payload = known.announcement(payloadOf(record));
      add(recordLineOf({ ...record, payload }));
      last = record.seq;
      if (piece.length >= PIECE) {
        yield piece;
        piece = '';
      }
      await slice.breathe();
      if (last === upTo) break;
    }
  if (last !== upTo) throw new StoreUnavailable('the simulation was deleted');
  yield `${piece}${trailerLine(last, chain.hash)}\n`;
}
