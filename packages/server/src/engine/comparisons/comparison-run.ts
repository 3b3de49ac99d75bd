import { Brokerage, Instant, Money, saveState, valuationOf } from '@sandpit/core';
import type { Quote, Rules } from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import { CannotBegin, ComparisonRow, HouseOrders, beginOf } from './comparison-row.js';
import type { RowSurroundings } from './comparison-row.js';
import type {
  ComparedRow,
  ComparedStretch,
  ComparisonResult,
  ComparisonTask,
  JournalPoint,
  RecordLine,
  Variant,
} from './comparison.js';
import { marketChangeOf } from '../market/market-change.js';
import type { MarketChange } from '../market/market-change.js';
import { commandOf, payloadOf } from '../records/record-text.js';
import type { Payload } from '../records/record-text.js';
import { applyPayload } from '../recovery/recovery.js';
import { rulesNamed } from '../configuration/rules-in-force.js';
import { originOf } from '../configuration/simulation-config.js';
import { acceptsQuotes } from '../../feeds/feed.js';

/** Records between progress reports. */
const REPORT_EVERY = 500;

/** The journals and feeds that a comparison reads. */
export interface ComparisonSources {
  /** Records of the simulation, in order. */
  readonly own: AsyncIterator<RecordLine, undefined>;
  /** Records of the market that it follows, in order. */
  readonly market: AsyncIterator<RecordLine, undefined>;
  /** A feed for one row. */
  readonly openFeed: () => Promise<Feed>;
  readonly onProgress: (progress: number) => void;
}

/** A row, and why it went no further. */
interface Running {
  readonly variant: Variant | undefined;
  row: ComparisonRow | undefined;
  reason: string | undefined;
}

/**
 * Executes a journal again, once unchanged and once for each variant, record by record side by side (D173). What followed from time and the
 * market follows again, by each row's own rules: consequences in the journal are passed over.
 */
export class ComparisonRun {
  readonly #task: ComparisonTask;
  readonly #sources: ComparisonSources;
  readonly #rows: Running[];
  /** The state that follows from the journal itself. */
  #applied: Brokerage;
  #rules: Rules;
  #stretch: ComparedStretch;
  #isPush = false;
  #nextOfMarket: MarketChange | undefined;
  /** True after the records by which a cell joined its market. */
  #hasJoined = false;

  constructor(task: ComparisonTask, sources: ComparisonSources) {
    this.#task = task;
    this.#sources = sources;
    this.#stretch = stretchAt(task, 1);
    this.#rules = rulesNamed(listsOf(task), originOf(task.config).rules);
    this.#applied = beginOf(this.#rules, task.config);
    this.#rows = [undefined, ...task.variants].map((variant) => ({
      variant,
      row: undefined,
      reason: undefined,
    }));
  }

  async run(): Promise<ComparisonResult> {
    const { own, onProgress } = this.#sources;
    const { from, until } = this.#task;
    let line: RecordLine | undefined;
    const next = async (): Promise<RecordLine | undefined> => (await own.next()).value;
    let began = 0;
    let lastAt: number = originOf(this.#task.config).start;
    for (line = await next(); line !== undefined && isWithin(line, from); line = await next()) {
      this.#stretch = stretchAt(this.#task, line.seq);
      this.#apply(line, payloadOf(line));
      began = line.seq;
      lastAt = line.at;
    }
    await this.#begin(began > 0);
    const total = Math.max(1, Math.min(until.sequence, this.#task.lastSequence) - began);
    for (; line !== undefined && isWithin(line, until); line = await next()) {
      await this.#enter(stretchAt(this.#task, line.seq), lastAt);
      const payload = payloadOf(line);
      await this.#repeat(line.at, payload);
      this.#apply(line, payload);
      lastAt = line.at;
      if (line.seq % REPORT_EVERY === 0) onProgress((line.seq - began) / total);
    }
    const end = Instant.ofMs(Number.isFinite(until.at) ? until.at : lastAt);
    if (this.#stretch.followsMarket) await this.#followMarket(Number.POSITIVE_INFINITY, end);
    await this.#each((row) => row.walkTo(end, this.#stretch.isManual));
    return this.#result();
  }

  /** A fork continues from its parent once the parent has processed everything of its market. */
  async #enter(stretch: ComparedStretch, at: number): Promise<void> {
    if (stretch === this.#stretch) return;
    if (this.#stretch.followsMarket) await this.#followMarket(Number.POSITIVE_INFINITY, Instant.ofMs(at));
    this.#stretch = stretch;
  }

  #apply(line: RecordLine, payload: Payload): void {
    const { command } = payload;
    if (command.type === 'ChangeRules') {
      this.#rules = rulesNamed(listsOf(this.#task), command.rules);
      if (line.seq > 1) this.#applied = Brokerage.restore(this.#rules, saveState(this.#applied.state));
      else this.#applied = beginOf(this.#rules, this.#task.config);
    }
    applyPayload(this.#applied, line.at, payload);
  }

  /** Creates the rows, at the beginning of the journal or at `from`. */
  async #begin(isUnderWay: boolean): Promise<void> {
    const { config, from, lastOrder } = this.#task;
    const surroundings: RowSurroundings = { config, lastOrder, houseOrders: new HouseOrders() };
    const saved = !isUnderWay ? undefined : saveState(this.#applied.state);
    for (const running of this.#rows) {
      const { variant } = running;
      const rules = rulesOf(this.#rules, variant);
      let brokerage: Brokerage;
      if (saved === undefined) brokerage = beginOf(rules, config, variant);
      else {
        const { fillModel } = variant ?? {};
        const portfolios =
          fillModel === undefined
            ? saved.portfolios
            : saved.portfolios.map((one) => ({ ...one, terms: { ...one.terms, fillModel } }));
        brokerage = Brokerage.restore(rules, { ...saved, seed: variant?.seed ?? saved.seed, portfolios });
        brokerage.resume();
      }
      const feed = await this.#sources.openFeed();
      this.#isPush = acceptsQuotes(feed);
      const base = this.#rows[0]?.row;
      await this.#guarded(running, async () => {
        const row = new ComparisonRow(brokerage, feed, surroundings, variant, base);
        running.row = row;
        row.takeBrokers();
        await row.loadInitialQuotes();
        if (Number.isFinite(from.at) && from.at > row.clock)
          await row.walkTo(Instant.ofMs(from.at), this.#stretch.isManual);
      });
    }
  }

  async #repeat(recordedAt: number, payload: Payload): Promise<void> {
    const at = Instant.ofMs(recordedAt);
    if (payload.command.type === 'ChangeRules') {
      const command = payload.command;
      const rules = rulesNamed(listsOf(this.#task), command.rules);
      return this.#each((row, variant) => row.changeRules(rulesOf(rules, variant), command));
    }
    const { followsMarket, isManual } = this.#stretch;
    if (followsMarket && payload.market !== undefined) await this.#followMarket(payload.market);
    if (this.#isConsequence(payload, at)) return;
    if (payload.command.type === 'BeginFork') {
      const { command } = payload;
      return this.#each(async (row) => {
        await row.walkTo(at, isManual);
        await row.beginFork(command);
      });
    }
    if (payload.command.type === 'TagIds') {
      const { command } = payload;
      return this.#each((row) => row.meet(command));
    }
    if (payload.command.type === 'MoveClock') {
      const { now } = payload.command;
      return this.#each((row) => row.walkTo(now, true));
    }
    const command = commandOf(payload);
    const isRequest = 'by' in command;
    if (isRequest) this.#hasJoined = true;
    else if (followsMarket && this.#hasJoined) return;
    const quotes = payload.quotes ?? [];
    await this.#each(async (row) => {
      await row.walkTo(at, isManual);
      row.know(quotes);
      if (isRequest) row.repeat(command, payload.events);
      else row.meet(command);
    });
  }

  /** True when every row derives the command from its own clock and feed: advances of time, and the feed's quotes. */
  #isConsequence({ command }: Payload, at: Instant): boolean {
    if (command.type === 'AdvanceClock' || command.type === 'LookAtMargin') return true;
    if (command.type !== 'UpdateMarket' || command.pushed || this.#isPush) return false;
    // On a stopped clock a request has caused the quote; on a moving clock it arrives without one.
    return !this.#stretch.isManual || at > (this.#rows[0]?.row?.clock ?? 0);
  }

  /** Applies the market's records up to a number. */
  async #followMarket(sequence: number, until = Instant.last): Promise<void> {
    for (;;) {
      const change = (this.#nextOfMarket ??= await this.#readMarket());
      if (change === undefined || change.seq > sequence || change.at > until) return;
      this.#nextOfMarket = undefined;
      const { quotes, commands, clock } = change;
      const began = originOf(this.#task.config).start;
      if (change.at < began) {
        // Before the cell began: it knew the quotes in force, and received the others when it joined.
        await this.#each((row) => row.know(quotes.filter(({ at }) => at <= began)));
        continue;
      }
      await this.#each(async (row) => {
        await row.walkTo(clock?.now ?? change.at, this.#stretch.isManual);
        if (quotes.length > 0) row.meet({ type: 'UpdateMarket', quotes, pushed: true });
        if (this.#hasJoined) for (const command of commands) row.meet(command);
      });
    }
  }

  async #readMarket(): Promise<MarketChange | undefined> {
    for (;;) {
      const line = (await this.#sources.market.next()).value;
      if (line === undefined) return undefined;
      const { events } = payloadOf(line);
      const change = marketChangeOf({ seq: line.seq, at: Instant.ofMs(line.at), events });
      if (change !== undefined) return change;
    }
  }

  /** The base first: what its house places is known when the others need it. */
  async #each(
    work: (row: ComparisonRow, variant: Variant | undefined) => void | Promise<void>,
  ): Promise<void> {
    for (const running of this.#rows) {
      const { row, variant } = running;
      if (row !== undefined && running.reason === undefined)
        await this.#guarded(running, () => work(row, variant));
    }
  }

  /** A variant that fails is dropped. The base must not fail. */
  async #guarded(running: Running, work: () => void | Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (running.variant === undefined) throw error;
      const message = error instanceof Error ? error.message : String(error);
      running.reason = error instanceof CannotBegin ? message : `A decision failed: ${message}`;
      running.row = undefined;
    }
  }

  #result(): ComparisonResult {
    const first = this.#rows[0]?.row;
    if (first === undefined) throw new Error('There is no base');
    const base = first.figures();
    const difference = base.totalEquity - this.#equityOfJournal(first);
    const variants = this.#rows.slice(1).map(({ variant, row, reason }): ComparedRow => {
      const name = variant?.name ?? '';
      if (row === undefined) return { name, status: 'FAILED', reason: reason ?? 'unknown' };
      const figures = row.figures();
      const firstDifference = row.firstDifference();
      return {
        name,
        status: 'DONE',
        ...figures,
        difference: Money.ofUnits(figures.totalEquity - base.totalEquity),
        ...(firstDifference !== undefined && { firstDifference }),
      };
    });
    const baseMatches = Math.abs(difference) < CENT;
    return {
      baseMatches,
      ...(!baseMatches && { baseDifference: Money.ofUnits(difference) }),
      base: { name: 'base', status: 'DONE', difference: Money.zero, ...base },
      variants,
    };
  }

  /** Equity of the portfolios according to the journal, at the final quotes of the base. */
  #equityOfJournal({ brokerage }: ComparisonRow): number {
    const applied = this.#applied;
    const quotes: Quote[] = [];
    for (const { positions } of applied.state.portfolios.values())
      for (const symbol of positions.keys()) {
        for (const known of [symbol, underlyingOf(brokerage, symbol)]) {
          const quote = known === undefined ? undefined : brokerage.quote(known);
          if (quote !== undefined) quotes.push(quote);
        }
      }
    applied.recall(quotes);
    applied.apply([], brokerage.state.now);
    let sum = 0;
    for (const portfolio of applied.state.portfolios.values()) {
      const broker =
        applied.rules.brokers.get(portfolio.settings.brokerId) ?? applied.rules.brokers.get('default');
      if (broker !== undefined) sum += valuationOf(portfolio, applied, broker).totalEquity;
    }
    return sum;
  }
}

const CENT = 100;

const isWithin = ({ seq, at }: RecordLine, point: JournalPoint): boolean =>
  seq <= point.sequence && at <= point.at;

/** The stretch that a record is in. */
function stretchAt({ stretches }: ComparisonTask, seq: number): ComparedStretch {
  const found = stretches.find(({ upTo }) => seq <= upTo);
  if (found === undefined) throw new RangeError(`Record ${seq} is in no stretch`);
  return found;
}

function underlyingOf(brokerage: Brokerage, symbol: string): string | undefined {
  const instrument = brokerage.instrument(symbol);
  return instrument?.assetClass === 'OPTION' ? instrument.underlying : undefined;
}

/** The rules of a variant. */
function rulesOf(rules: Rules, variant: Variant | undefined): Rules {
  const { dayTradeRegime } = variant ?? {};
  if (dayTradeRegime === undefined) return rules;
  const brokers = [...rules.brokers.values()].map((broker) => ({ ...broker, dayTradeRegime }));
  return { ...rules, brokers: new Map(brokers.map((broker) => [broker.id, broker])) };
}

const known = new WeakMap<ComparisonTask, Map<string, string>>();

/** The lists of the rules in force. */
function listsOf(task: ComparisonTask): { readonly setting: (name: string) => string | undefined } {
  let lists = known.get(task);
  if (lists === undefined) known.set(task, (lists = new Map(task.lists)));
  const found = lists;
  return { setting: (name) => found.get(name) };
}
