import { calendarById, Instant, isIdle, KnownInstruments } from '@sandpit/core';
import type { Instruments, Listing, Rules, RulesInForce } from '@sandpit/core';
import { isRecorded } from '../../feeds/feed.js';
import type { Feed } from '../../feeds/feed.js';
import { isLive } from '../../feeds/live-feed.js';
import { NO_CHECKPOINTS } from '../../store/checkpoints.js';
import type { Store } from '../../store/store.js';
import { ClockKeeper, NO_NOTES } from '../clocks/clock-keeper.js';
import { ManualClock, ScaledClock, WallClock } from '../clocks/clock.js';
import type { Clock } from '../clocks/clock.js';
import { keepRules, optionsOf, sameRules } from '../configuration/rules-in-force.js';
import { originOf } from '../configuration/simulation-config.js';
import type { KeptConfig, SimulationConfig } from '../configuration/simulation-config.js';
import { WORTH_A_CHECKPOINT } from '../recovery/checkpoint-schedule.js';
import { recover } from '../recovery/recovery.js';
import type { KnownStart, Recovered } from '../recovery/recovery.js';
import { Simulation } from '../simulation/simulation.js';
import type { ForkStart } from '../simulation/simulation.js';
import { atStakeOf, MARKET } from '../values/cell-names.js';
import { durableOf, tagsOfLosses } from './entries.js';
import type { OutOfService } from './out-of-service.js';
import type { SharedDependencies } from './shared-dependencies.js';

/** Four days: a long weekend. A longer gap in a recording is missing data (D131). */
const RECORDING_HOLE_MS = 4 * 86_400_000;

/** Age after which quotes of a live source no longer count as a market (D47). */
export const LIVE_MAX_AGE_MS = 60_000;

/** Current feed and rules of a simulation. */
export interface FeedAndRules {
  readonly feed: Feed;
  readonly rules: Rules;
  readonly inForce: RulesInForce;
}

/** Differences of an opening from that of a simulation with a market of its own, from its journal. */
interface Opening {
  /** The market that it follows. */
  readonly market?: Simulation;
  /** Clock of another simulation. */
  readonly sharedClock?: Clock | undefined;
  /** State and first commands of a new fork. */
  readonly forked?: Recovered & Pick<ForkStart, 'commands'>;
  /** State from which recovery may begin. */
  readonly known?: KnownStart | undefined;
  /** Another node decides for it. Only of the market of the installation. */
  readonly isReplica?: boolean;
}

/** Makes simulations from their configurations and journals: feed, rules, clock and recovered state. */
export class SimulationOpener {
  /** Saved positions of clocks. */
  readonly clocks: ClockKeeper;
  readonly #ephemeralClocks = new ClockKeeper(NO_NOTES);
  readonly #shared: SharedDependencies;
  readonly #outOfService: OutOfService;
  /** Lists of feeds that are the same for many simulations, indexed once. */
  readonly #listings = new WeakMap<Listing, Instruments>();

  constructor(shared: SharedDependencies, outOfService: OutOfService) {
    const { registry, ownership } = shared.store;
    this.#shared = shared;
    this.#outOfService = outOfService;
    this.clocks = new ClockKeeper(registry, ownership && (() => ownership.nowMs()));
  }

  /** Opens the feed of a configuration, or continues with one that was kept, and stores the rules in force. */
  async feedAndRules(config: SimulationConfig, kept?: Feed): Promise<FeedAndRules> {
    const calendar = calendarById(config.calendar);
    const feed = kept ?? (await this.#shared.openFeed(config, calendar));
    const rules = this.#rulesFor(feed, calendar, config);
    const { ephemeral } = this.#shared.store;
    const lists =
      config.ephemeral === true && ephemeral !== undefined ? ephemeral.lists : durableOf(this.#shared.store);
    return { feed, rules, inForce: await keepRules(lists, rules) };
  }

  /**
   * Feed and rules of a simulation that follows a market: the rules of the market, and its feed, except for a recording, which each
   * simulation reads separately.
   */
  async followingMarket(market: Simulation, config: SimulationConfig, kept?: Feed): Promise<FeedAndRules> {
    const { rules } = market.brokerage;
    const feed = isRecorded(market.feed)
      ? (kept ?? (await this.#shared.openFeed(config, calendarById(rules.calendar.id))))
      : market.feed;
    return { feed, rules, inForce: await keepRules(durableOf(this.#shared.store), rules) };
  }

  /** The rules of a simulation: the brokers and settings of the server, the instruments of the feed. */
  #rulesFor(feed: Feed, calendar: Rules['calendar'], config: SimulationConfig): Rules {
    const { brokers, quoteMaxAgeMs, marketCollarBps, portfolioMarginEquity, riskFreeRate } = this.#shared;
    const listing = feed.listing();
    let instruments = this.#listings.get(listing);
    if (instruments === undefined) {
      instruments = new KnownInstruments(listing);
      this.#listings.set(listing, instruments);
    }
    return {
      calendar,
      brokers,
      instruments,
      quoteMaxAgeMs: quoteMaxAgeMs ?? maxAgeOf(feed),
      marketCollarBps,
      portfolioMarginEquity,
      riskFreeRate,
      ...optionsOf(config),
      components: true,
    };
  }

  /** A simulation as of its last durable record, or a new fork, that has processed everything due. */
  async open(
    of: { readonly id: string; readonly tenantId: string | null; readonly config: KeptConfig },
    { feed, rules, inForce }: FeedAndRules,
    { market, sharedClock, forked, known, isReplica = false }: Opening = {},
  ): Promise<Simulation> {
    const { id, tenantId, config } = of;
    const { onError, time, tell, onMarketRecorded, classesInUseElsewhere } = this.#shared;
    const store = this.#shared.store.ephemeral?.storeOf(id) ?? this.#shared.store;
    if (config.start < Instant.first || config.start > Instant.last)
      throw new RangeError(`it begins at ${config.start} ms, outside of 1970-01-01 to 2199-12-31`);
    const origin = originOf(config);
    const { brokerage, seq, checkpointSeq } =
      forked ?? (await recover(readFrom(store, id), id, rules, origin, known));
    const { state } = brokerage;
    const { fork } = config;
    const isBeginning = fork?.sequence === seq;
    if (config.clock === 'wall') time.check(seq > 0 ? state.now : undefined);
    await market?.resumeFrom(state.now);
    const clockAt = isBeginning ? undefined : state.clock;
    const now = Instant.max(clockAt ?? Instant.ofMs(config.start), state.now);
    const isChanged = !sameRules(state.rules ?? origin.rules, inForce);
    const clocks = config.ephemeral === true ? this.#ephemeralClocks : this.clocks;
    const stake = atStakeOf(tenantId ?? '');
    const losses = tagsOfLosses(store.registry, id);
    const simulation = new Simulation({
      id,
      tenantId,
      brokerage,
      feed,
      clock:
        market?.sharedClock ?? sharedClock ?? clockOf(config, now, lastOf(clocks, id, config), time, feed),
      ...(market !== undefined && {
        market,
        joinsAt: config.joined?.seq === seq ? config.joined.marketSeq : undefined,
        // Competitions are opened at a start by themselves.
        ...(config.competition === undefined &&
          store.registry.setting(stake) !== '1' && {
            onStake: () => void store.registry.saveSetting(stake, '1').catch(() => undefined),
            hasStake: !isIdle(state),
          }),
      }),
      clocks,
      store,
      seq,
      checkpointSeq,
      tags: [...(fork?.tags ?? []), ...losses],
      lossTags: losses.map(({ tag }) => tag),
      isEphemeral: config.ephemeral === true,
      ...(isBeginning && {
        begins: {
          now,
          ...(fork.seed !== undefined && { seed: fork.seed }),
          commands: forked?.commands ?? [],
        },
      }),
      ...(isChanged && { changedRules: inForce }),
      onError,
      onOutOfService: (reason) => this.#outOfService.log(id, reason),
      tell,
      ...(id === MARKET && { isReplica, onRecorded: onMarketRecorded, classesInUseElsewhere }),
    });
    try {
      await simulation.start();
    } catch (error) {
      // Another opening begins from the journal. This one must neither follow the market nor append to it.
      simulation.retire();
      await simulation.close().catch(() => undefined);
      throw error;
    }
    return simulation;
  }
}

/** The store without checkpoints for a short journal, which is read from its beginning: thousands are opened when a node is lost. */
function readFrom({ journal, checkpoints }: Store, id: string): Pick<Store, 'journal' | 'checkpoints'> {
  const last = journal.lastSeq(id);
  // 0 also if another node owns the simulation.
  const isShort = last > 0 && last < WORTH_A_CHECKPOINT;
  return { journal, checkpoints: isShort ? NO_CHECKPOINTS : checkpoints };
}

/** Default age in ms from which a quote no longer fills orders (D47). */
function maxAgeOf(feed: Feed): number | undefined {
  if (feed.maxAgeMs !== undefined) return feed.maxAgeMs;
  if (isLive(feed)) return LIVE_MAX_AGE_MS;
  return isRecorded(feed) ? RECORDING_HOLE_MS : undefined;
}

/** Last position of a scaled clock. The clock of a competition is stopped until trading begins. */
const lastOf = (
  clocks: ClockKeeper,
  id: string,
  { competition, speed, start }: SimulationConfig,
): ReturnType<ClockKeeper['lastOf']> =>
  clocks.lastOf(id, speed) ??
  (competition === undefined ? undefined : { now: Instant.ofMs(start), speed: 0 });

/** A clock at `now` or later: a scaled clock resumes at its last instant and speed. */
function clockOf(
  config: SimulationConfig,
  now: Instant,
  last: ReturnType<ClockKeeper['lastOf']>,
  time: SharedDependencies['time'],
  feed: Feed,
): Clock {
  // A delayed source reports past prices: the clock runs behind by the same delay (D183).
  const delayMs = isLive(feed) ? feed.delayMs : 0;
  switch (config.clock) {
    case 'wall':
      return new WallClock(() => Instant.plusMs(time.now(), -delayMs));
    case 'manual':
      return new ManualClock(now);
    case 'scaled':
      return new ScaledClock(Instant.max(last?.now ?? now, now), config.speed, last?.speed);
  }
}
