import { announcementOf } from '@sandpit/core';
import type { Brokerage, Command, Event, Halt, Instant, Quote } from '@sandpit/core';
import type { DurableRecord } from '../records/records.js';

/** A record of the market as its followers see it. */
export interface MarketChange {
  readonly seq: number;
  readonly at: Instant;
  /** Quotes that were pushed, in order. */
  readonly quotes: readonly Quote[];
  /** True when a symbol among them was listed by that. */
  readonly listsSymbols: boolean;
  readonly commands: readonly Command[];
  /** The clock was moved to this instant, from an earlier one if that is known. */
  readonly clock?: { readonly now: Instant; readonly since?: Instant };
  /** True when a cell processes every earlier quote first: the phases of a competition. */
  readonly isWalkedTo?: true;
}

/** The change of a record of the market; `undefined` if it concerns the market alone. */
export function marketChangeOf({
  seq,
  at,
  events,
}: Pick<DurableRecord, 'seq' | 'at' | 'events'>): MarketChange | undefined {
  const quotes: Quote[] = [];
  const commands: Command[] = [];
  let listsSymbols = false;
  let clock: MarketChange['clock'];
  for (const event of events) {
    if (event.type === 'QuotesPushed') {
      quotes.push(...event.quotes);
      listsSymbols ||= event.listed.length > 0;
    } else if (event.type === 'ClockMoved') clock = event;
    else {
      const command = commandFollowing(event);
      if (command !== undefined) commands.push(command);
    }
  }
  if (quotes.length === 0 && commands.length === 0 && clock === undefined) return undefined;
  const isWalkedTo = commands.some(({ type }) => type === 'SetCompetitionPhase');
  return {
    seq,
    at,
    quotes,
    listsSymbols,
    commands,
    ...(clock !== undefined && { clock }),
    ...(isWalkedTo && { isWalkedTo }),
  };
}

/**
 * The command by which a cell repeats the effect of an event on the market. Effects of time (sessions, dividends and splits) each cell
 * produces by itself.
 */
function commandFollowing(event: Event): Command | undefined {
  switch (event.type) {
    case 'InstrumentsListed':
      return { type: 'ListInstruments', instruments: event.instruments };
    case 'ActionsAnnounced':
      return {
        type: 'AnnounceActions',
        actions: event.actions.map(({ action }) => action),
        ...(event.byKind === true && { byKind: event.byKind }),
      };
    case 'ActionWithdrawn':
      return { type: 'WithdrawAction', actionId: event.actionId };
    // Each cell receives halts of the feed from the feed itself.
    case 'TradingHalted':
      return event.isTold === true ? undefined : haltFollowing(event.halt);
    // Each cell runs the timers of its own clock.
    case 'CompetitionPhaseChanged':
      return event.isByClock === true ? undefined : { type: 'SetCompetitionPhase', phase: event.phase };
    case 'EntryRemoved': {
      const { cell, status, reason } = event;
      if (cell === undefined || status === 'ELIMINATED') return undefined;
      return { type: 'RemoveEntry', cell, status, ...(reason !== undefined && { reason }) };
    }
    // A halt that ends automatically has ended in the cell already, which then refuses this.
    case 'TradingResumed':
      return event.isTold === true ? undefined : { type: 'LiftHalt', symbol: event.symbol };
    default:
      return undefined;
  }
}

/** A command of a change as one of its followers repeats it; undefined if it is about another one. */
export function commandFor(cellId: string, command: Command): Command | undefined {
  if (command.type !== 'RemoveEntry' || command.cell === undefined) return command;
  const { cell, ...own } = command;
  return cell === cellId ? own : undefined;
}

const haltFollowing = ({ symbol, reason, until }: Halt): Command => ({
  type: 'HaltTrading',
  symbol,
  reason,
  ...(until !== undefined && { until }),
  isFollowed: true,
});

/** The commands that bring a cell to the state of its market, with the quotes in force if `hasQuotes`. */
export function commandsToMeet(market: Brokerage, cell: Brokerage, hasQuotes: boolean): readonly Command[] {
  const commands: Command[] = [];
  const instruments = [...market.state.listed.values()].filter(
    (listed) => !isSame(listed, cell.state.listed.get(listed.symbol)),
  );
  if (instruments.length > 0) commands.push({ type: 'ListInstruments', instruments });
  const isAnnounced = ({ state }: Brokerage, actionId: string): boolean =>
    state.actions.get(actionId)?.status === 'ANNOUNCED';
  const actions = [...market.state.actions.values()]
    .filter(({ actionId, status }) => status === 'ANNOUNCED' && !isAnnounced(cell, actionId))
    .map(({ action }) => action);
  if (actions.length > 0) commands.push(announcementOf(actions));
  for (const { actionId, status } of cell.state.actions.values())
    if (status === 'ANNOUNCED' && !isAnnounced(market, actionId))
      commands.push({ type: 'WithdrawAction', actionId });
  const halts = { market: market.state.halts.inForce, cell: cell.state.halts.inForce };
  for (const [symbol, halt] of halts.market) {
    const known = halts.cell.get(symbol);
    if (known?.reason !== halt.reason || known.until !== halt.until) commands.push(haltFollowing(halt));
  }
  for (const symbol of halts.cell.keys())
    if (!halts.market.has(symbol)) commands.push({ type: 'LiftHalt', symbol });
  const phase = market.state.competition?.phase;
  if (phase !== undefined && phase !== cell.state.competition?.phase)
    commands.push({ type: 'SetCompetitionPhase', phase });
  if (!hasQuotes) return commands;
  const quotes = [...market.state.books.values()]
    .flatMap(({ quote }) => quote ?? [])
    .filter(
      (quote) =>
        market.instrument(quote.symbol) !== undefined &&
        // A quote would list a symbol again that a split has freed.
        !market.state.adjusted.has(quote.symbol) &&
        !isSame(quote, cell.quote(quote.symbol)),
    );
  if (quotes.length > 0) commands.push({ type: 'UpdateMarket', quotes, pushed: false });
  return commands;
}

/** True when two flat objects have equal fields, in any order. */
export function isSame(a: object, b: object | undefined): boolean {
  if (b === undefined) return false;
  const text = (of: object): string =>
    JSON.stringify(Object.entries(of).sort(([x], [y]) => (x < y ? -1 : 1)));
  return a === b || text(a) === text(b);
}
