import { randomUUID } from 'node:crypto';
import { Brokerage, Instant, symbolsTraded } from '@sandpit/core';
import type { Command, Quote } from '@sandpit/core';
import { acceptsQuotes } from '../../feeds/feed.js';
import type { Feed } from '../../feeds/feed.js';
import { isLive, isRecording } from '../../feeds/live-feed.js';
import { settingsOf } from '../../store/registry.js';
import { ownLists } from '../configuration/rules-in-force.js';
import { originOf } from '../configuration/simulation-config.js';
import type { SimulationConfig } from '../configuration/simulation-config.js';
import { pointInPast, pointNow } from '../forks/fork-points.js';
import type { RecentPoints } from '../forks/fork-points.js';
import { forkConfigOf, MOST_GENERATIONS } from '../forks/forks.js';
import type { WantedFork } from '../forks/forks.js';
import type { Snapshot, Snapshots } from '../forks/snapshots.js';
import { commandsToMeet } from '../market/market-change.js';
import { brokerageAt } from '../recovery/recovery.js';
import { inSlices } from '../scheduling/slice.js';
import type { Simulation } from '../simulation/simulation.js';
import type { SimulationCreation } from './creation.js';
import type { SimulationDirectory } from './directory.js';
import { register } from './entries.js';
import type { SimulationEntries } from './entries.js';
import type { SimulationOpener } from './opener.js';
import type { SharedDependencies } from './shared-dependencies.js';

/** A fork of a fork of a fork …: its parent is as many generations from a simulation that is none as there may be. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

interface ForkingParts {
  readonly shared: Pick<SharedDependencies, 'store'>;
  readonly opener: SimulationOpener;
  readonly entries: SimulationEntries;
  readonly directory: SimulationDirectory;
  readonly creation: SimulationCreation;
  readonly snapshots: Snapshots;
  readonly points: RecentPoints;
}

/** Forks simulations, and takes the snapshots from which they may begin. */
export class SimulationForking {
  readonly #parts: ForkingParts;

  constructor(parts: ForkingParts) {
    this.#parts = parts;
  }

  /** Takes a snapshot (D171). Rejects as `Snapshots.take` does; undefined if the tenant has no such simulation. */
  async takeSnapshot(id: string, tenantId: string, name?: string): Promise<Snapshot | undefined> {
    const { creation, entries, snapshots } = this.#parts;
    const simulation = await creation.findOrKeep(id, tenantId);
    if (simulation === undefined) return undefined;
    return snapshots.take(simulation, originOf(entries.configOfOpen(simulation)), name);
  }

  /**
   * A simulation that continues from a point in another's journal (D172). Throws `NoSuchPoint`, `TooDeep` and `TooManySimulations`;
   * undefined if the tenant has no such parent.
   */
  async fork(
    parentId: string,
    tenantId: string,
    wanted: WantedFork,
    allowed = Infinity,
  ): Promise<{ readonly simulation: Simulation; readonly stateHash: string } | undefined> {
    const { shared, opener, entries, directory, creation, snapshots, points } = this.#parts;
    const { registry } = shared.store;
    const parent = await creation.findOrKeep(parentId, tenantId);
    if (parent === undefined) return undefined;
    // A fork is independent, even of a competition of its parent.
    const { competition: _, ...before } = entries.configOfOpen(parent);
    if ((before.fork?.depth ?? 0) >= MOST_GENERATIONS) throw new TooDeep();
    return creation.counted(tenantId, allowed, async () => {
      const point =
        wanted.from === undefined
          ? await pointNow(parent, points)
          : await pointInPast(shared.store, points, parent, originOf(before), wanted.from, (snapshotId) =>
              snapshots.find(parent.id, snapshotId),
            );
      const { sequence, stateHash } = point;
      if (before.ownLists !== undefined) entries.requireRoomForLists(tenantId, before.ownLists);
      const id = randomUUID();
      const shownSeed = entries.info(parentId, tenantId)?.config.seed ?? before.seed;
      const isRecorded = isLive(parent.feed) && (await parent.feed.hasRecorded(point.at));
      const config = forkConfigOf(id, parentId, before, wanted, point, shownSeed, parent.tags, isRecorded);
      const ready = await opener.feedAndRules(config);
      if (isRecording(ready.feed) && wanted.from === undefined)
        ready.feed.startWith(quotesInForce(parent.feed, point.at), point.at);
      const brokerage = await inSlices(Brokerage.restoring(ready.rules, point.saved));
      brokerage.resume();
      const commands = await this.#commandsToPart(
        parent,
        brokerage,
        point.at,
        wanted.from === undefined,
        isRecorded,
      );
      const letGoOfAncestors = await this.#ancestorsFor(config, parent.id, tenantId, sequence);
      // In one turn, and so in one commit: a fork that is there has its first record.
      const registered = register(registry, { id, tenantId, config }, ready.inForce, {
        simulationId: parent.id,
        sequence,
      }).finally(letGoOfAncestors);
      // Records of ancestors name these lists, and the parent may be deleted.
      const lists = ownLists(registry, parent.id).map(([name, text]) =>
        registry.saveSetting(settingsOf(id) + name, text),
      );
      // A start from its ancestors' checkpoints reads little more than one from its own would.
      const forked = { brokerage, seq: sequence, checkpointSeq: sequence, commands };
      const opened = opener.open({ id, tenantId, config: { ...config, rules: ready.inForce } }, ready, {
        forked,
      });
      directory.addFork(id, opened);
      const living =
        config.ttl === undefined ? undefined : directory.lifetimes.begin(id, tenantId, config.ttl.ms);
      await Promise.all([registered, ...lists]);
      await living;
      const simulation = await opened;
      directory.forkOpened(simulation);
      return { simulation, stateHash };
    });
  }

  /** Brings what an ephemeral fork has in common with its parent into memory. Returns what is called once the fork is registered. */
  async #ancestorsFor(
    { ephemeral }: SimulationConfig,
    parentId: string,
    tenantId: string,
    sequence: number,
  ): Promise<() => void> {
    const part = this.#parts.shared.store.ephemeral;
    if (ephemeral !== true || part === undefined) return () => undefined;
    part.requireRoom(tenantId);
    return part.copyAncestors(parentId, tenantId, sequence);
  }

  /**
   * Commands that give a fork its parent's market at a point, as far as the journal does not contain it: that of the installation, and data
   * from a live source.
   */
  async #commandsToPart(
    parent: Simulation,
    fork: Brokerage,
    at: Instant,
    isNow: boolean,
    isRecorded: boolean,
  ): Promise<readonly Command[]> {
    const { market } = parent;
    const isOfSource = isLive(parent.feed);
    if (market === parent && !(isOfSource && isNow)) return [];
    const then = isNow && isOfSource ? market.brokerage : await this.#marketAt(market, at);
    const hasQuotes = (isOfSource && !isRecorded) || acceptsQuotes(parent.feed);
    const commands = commandsToMeet(then, fork, hasQuotes).map((command) =>
      // The fork's journal has no other record of them.
      command.type === 'UpdateMarket' ? { ...command, pushed: true } : command,
    );
    if (!isOfSource) return commands;
    const symbols = [...fork.state.holders.keys(), ...fork.state.alertsOn.keys(), ...then.state.books.keys()];
    for (const { terms } of fork.state.orders.values()) symbols.push(...symbolsTraded(terms));
    const instruments = [...new Set(symbols)].flatMap((symbol) =>
      fork.instrument(symbol) === undefined ? (parent.brokerage.instrument(symbol) ?? []) : [],
    );
    return instruments.length === 0 ? commands : [{ type: 'ListInstruments', instruments }, ...commands];
  }

  /** A market that others follow, as its journal has it at an instant. */
  async #marketAt(market: Simulation, at: Instant): Promise<Brokerage> {
    await market.durable();
    const origin = originOf(this.#parts.entries.configOfOpen(market));
    const sequence = await market.journal.lastAt(market.id, at);
    return brokerageAt(this.#parts.shared.store, market.id, market.brokerage.rules, origin, sequence);
  }
}

/** The quotes in force of all symbols that a source or its recording has told of. */
function quotesInForce(feed: Feed, at: Instant): readonly Quote[] {
  if (isRecording(feed)) return feed.quotesInForce();
  if (!isLive(feed)) return [];
  const latest = new Map<string, Quote>();
  for (const { quotes } of feed.take(Instant.earliest, at, () => true))
    for (const quote of quotes) latest.set(quote.symbol, quote);
  return [...latest.values()];
}
