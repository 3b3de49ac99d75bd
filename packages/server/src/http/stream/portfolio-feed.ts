import type { Brokerage } from '@sandpit/core';
import type { DurableRecord } from '../../engine/records/records.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { holdingsOf, ownClosedPortfolio, ownPortfolio } from '../owned.js';
import { closedUpdate, portfolioUpdate } from '../translate/portfolios.js';
import type { Connection } from './connection.js';
import { Poller } from './poller.js';

/** Portfolios that a reader follows: named ones, or all of an account. */
export type Followed = { readonly portfolioIds: ReadonlySet<string> } | { readonly accountId: string };

interface PortfolioReader {
  readonly connection: Connection;
  readonly followed: Followed;
  /** Last message about each portfolio, and its time. */
  readonly told: Map<string, { readonly text: string; readonly atMs: number }>;
}

/** At most one event per portfolio in this time. */
const INTERVAL_MS = 1000;
/** Changes within this time are read together. */
const GATHER_MS = 20;

/**
 * The portfolios of one simulation for all of their readers. Each is read when an event changed it, and once a second, because the market
 * moves without notice. It is sent when it differs from the last message.
 */
export class PortfolioFeed {
  readonly #simulation: Simulation;
  readonly #clockMs: () => number;
  readonly #looks: Poller<PortfolioReader>;

  constructor(simulation: Simulation, clockMs: () => number) {
    this.#simulation = simulation;
    this.#clockMs = clockMs;
    this.#looks = new Poller(simulation, clockMs, {
      delayAfter: (record) => (mayChange(record) ? GATHER_MS : undefined),
      look: async (readers) => ({ inMs: await this.#tellWhatChanged(readers), restMs: 0 }),
      intervalMs: INTERVAL_MS,
    });
  }

  /** Follows portfolios, beginning with a snapshot. Returns the id of the present. */
  follow(connection: Connection, followed: Followed): () => string {
    return this.#looks.add({ connection, followed, told: new Map() });
  }

  /** Returns the time of the next poll. */
  async #tellWhatChanged(readers: readonly PortfolioReader[]): Promise<number> {
    const { brokerage } = this.#simulation;
    const symbols = holdingsOf(
      readers.flatMap((reader) => idsOf(brokerage, reader).map((id) => brokerage.state.portfolios.get(id))),
    );
    const seen = await this.#simulation.read(readers, (current) => snapshotsOf(current, readers), symbols);
    const nowMs = this.#clockMs();
    let nextMs = INTERVAL_MS;
    for (const reader of readers) {
      const open = seen.idsOf.get(reader) ?? [];
      const closed = await this.#closedOf(reader, open, seen.texts);
      for (const id of [...open, ...closed]) {
        const text = seen.texts.get(id);
        const before = reader.told.get(id);
        if (text === undefined || text === before?.text) continue;
        const waitMs = before === undefined ? 0 : before.atMs + INTERVAL_MS - nowMs;
        if (waitMs > 0) {
          nextMs = Math.min(nextMs, waitMs);
          continue;
        }
        reader.told.set(id, { text, atMs: nowMs });
        this.#looks.tell(reader, 'portfolio-update', text);
        if ('accountId' in reader.followed && closed.includes(id)) reader.told.delete(id);
      }
      if (seen.gone.has(reader) && reader.told.size === 0) {
        reader.connection.end(this.#looks.presentId(), 404, 'Account not found');
      }
    }
    return nextMs;
  }

  /** Portfolios that a reader followed and that have closed since, or were closed when it began. The reader receives each once. */
  async #closedOf(
    reader: PortfolioReader,
    open: readonly string[],
    texts: Map<string, string>,
  ): Promise<readonly string[]> {
    const { followed, told } = reader;
    const known = [...('portfolioIds' in followed ? followed.portfolioIds : told.keys())];
    const closed = known.filter((id) => !open.includes(id));
    for (const id of closed) {
      if (texts.has(id)) continue;
      const portfolio = await ownClosedPortfolio(this.#simulation, id);
      if (portfolio === undefined) continue;
      texts.set(id, JSON.stringify(closedUpdate(this.#simulation.brokerage, portfolio)));
    }
    return closed;
  }
}

/** True when a record may have changed a followed portfolio. */
const mayChange = ({ events }: DurableRecord): boolean =>
  events.some(({ type }) => type !== 'ClockMoved' && type !== 'ActionsAnnounced');

/** The portfolios that a reader follows now: those of an account may change. */
function idsOf(brokerage: Brokerage, { followed }: PortfolioReader): readonly string[] {
  if ('accountId' in followed) {
    return [...(brokerage.state.accounts.get(followed.accountId)?.portfolioIds ?? [])];
  }
  return [...followed.portfolioIds].filter((id) => ownPortfolio(brokerage, id) !== undefined);
}

/** True when the account that a reader follows is deleted. */
const isGone = ({ state }: Brokerage, { followed }: PortfolioReader): boolean =>
  'accountId' in followed && !state.accounts.has(followed.accountId);

/** The text of every followed open portfolio, each serialized once; and the readers of accounts that no longer exist. */
function snapshotsOf(brokerage: Brokerage, readers: readonly PortfolioReader[]) {
  const texts = new Map<string, string>();
  const idsOfReader = new Map<PortfolioReader, readonly string[]>();
  const gone = new Set<PortfolioReader>();
  for (const reader of readers) {
    if (isGone(brokerage, reader)) gone.add(reader);
    const ids = idsOf(brokerage, reader);
    idsOfReader.set(reader, ids);
    for (const id of ids) {
      const portfolio = texts.has(id) ? undefined : brokerage.state.portfolios.get(id);
      if (portfolio !== undefined) texts.set(id, JSON.stringify(portfolioUpdate(brokerage, portfolio)));
    }
  }
  return { texts, idsOf: idsOfReader, gone };
}
