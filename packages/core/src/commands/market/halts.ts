import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import { WHOLE_MARKET } from '../../instruments/halted-by.js';
import { isOver } from '../../market/halts.js';
import type { Halt } from '../../market/halts.js';
import type { Rejection } from '../../rejection.js';
import { Instant } from '../../values/instant.js';
import { haltIn } from './halted.js';
import { resumeLiquidations } from '../margin/margin-watch.js';
import { pauseScripts } from '../orders/run-script.js';

const MINUTE_MS = 60_000;
/** Default duration of a halt: volatility pauses, by their reasons. */
const USUAL_MS: Readonly<Record<string, number>> = {
  LUDP: 5 * MINUTE_MS,
  LUDS: 5 * MINUTE_MS,
  M: 5 * MINUTE_MS,
};
/** Market-wide circuit breakers: the rule sets the length of their halts. */
const CIRCUIT_BREAKER = /^MWC[0-3]$/;
const BREAKER_MS = 15 * MINUTE_MS;
/** Time before the close from which only a decline of level 3 halts trading. */
const LAST_BREAKER_MS = 35 * MINUTE_MS;

/** A pause that begins this long before the close lasts to the close (D179). */
const LAST_PAUSE_MS = 10 * MINUTE_MS;

/** Halts trading in a symbol or in the whole market (D178). Replaces a halt of the same symbol that is in force. */
export function haltTrading(
  d: Decision,
  command: Extract<Command, { type: 'HaltTrading' }>,
): Halt | Rejection {
  const { symbol, reason } = command;
  const instrument = symbol === WHOLE_MARKET ? undefined : d.instrument(symbol);
  if (symbol !== WHOLE_MARKET && instrument === undefined)
    return { code: 'UNKNOWN_SYMBOL', message: `Unknown symbol ${symbol}`, symbol };
  if (instrument?.assetClass === 'OPTION' || instrument?.assetClass === 'FUTURE')
    return { code: 'INVALID', messages: ['symbol must be an EQUITY, an INDEX or *'] };
  const end =
    CIRCUIT_BREAKER.test(reason) && command.isFollowed !== true && command.isTold !== true
      ? breakerEnd(d, command)
      : endOf(d, command);
  if (Array.isArray(end)) return { code: 'INVALID', messages: end };
  const { until } = end;
  const halt: Halt = { symbol, reason, since: d.at, ...(until !== undefined && { until }) };
  d.emit({ type: 'TradingHalted', halt, ...(command.isTold === true && { isTold: true }) });
  pauseScripts(d);
  return halt;
}

type HaltEnd = { readonly until: Instant | undefined };

function endOf(
  d: Decision,
  { reason, until, forMs }: Extract<Command, { type: 'HaltTrading' }>,
): HaltEnd | string[] {
  if (until !== undefined) return until > d.at ? { until } : ['until must be in the future'];
  const lastsMs = forMs ?? USUAL_MS[reason];
  if (lastsMs === undefined) return { until: undefined };
  return lastsMs > 0 ? { until: Instant.plusMs(d.at, lastsMs) } : ['for must be longer than nothing'];
}

/** The end of a halt by a circuit breaker, or the refusal. */
function breakerEnd(
  d: Decision,
  { symbol, reason, until, forMs }: Extract<Command, { type: 'HaltTrading' }>,
): HaltEnd | string[] {
  const problems: string[] = [];
  if (symbol !== WHOLE_MARKET) problems.push(`symbol must be * for ${reason}`);
  if (until !== undefined) problems.push(`until should not exist for ${reason}`);
  if (forMs !== undefined) problems.push(`for should not exist for ${reason}`);
  if (problems.length > 0) return problems;
  // One that is carried over from the day before has no set end.
  if (reason === 'MWC0') return { until: undefined };
  const { calendar } = d.rules;
  const date = calendar.dateOf(d.at);
  const day = calendar.tradingDay(date);
  if (day === undefined || d.at < day.regularOpen || d.at >= day.regularClose)
    return [`reason ${reason} is only allowed in the regular session`];
  if (reason === 'MWC3') return { until: day.extendedClose };
  const last = Instant.plusMs(day.regularClose, -LAST_BREAKER_MS);
  if (d.at > last) return [`reason ${reason} is only allowed until ${calendar.format(last)}`];
  if (d.state.halts.breakers.get(reason) === date)
    return [`reason ${reason} is only allowed once a trading day`];
  return { until: Instant.plusMs(d.at, BREAKER_MS) };
}

/** Ends a halt before its time. */
export function liftHalt(
  d: Decision,
  { symbol, isTold }: Extract<Command, { type: 'LiftHalt' }>,
): Halt | Rejection {
  const { inForce } = d.state.halts;
  const halt = inForce.get(symbol);
  if (halt === undefined) return { code: 'NOT_FOUND', what: 'Halt' };
  d.emit({
    type: 'TradingResumed',
    symbol,
    pushes: d.state.counters.push,
    ...(isTold === true && { isTold: true }),
  });
  pauseScripts(d);
  resumeLiquidations(d);
  return halt;
}

/** Ends expired halts. Quotes of this very instant come after them. */
export function endHalts(d: Decision): void {
  const { inForce } = d.state.halts;
  if (inForce.size === 0) return;
  const over = [...inForce.values()].filter((halt) => isOver(halt, d.at));
  if (over.length === 0) return;
  for (const { symbol } of over.sort((a, b) => (a.symbol < b.symbol ? -1 : 1)))
    d.emit({ type: 'TradingResumed', symbol, pushes: -1 });
  pauseScripts(d);
  resumeLiquidations(d);
}

/**
 * Pauses trading after a limit state of 15 seconds in every symbol whose limit state began with that of this one, in the order of symbols:
 * the order of their timers is another one after a restart.
 */
export function endLimitStates(d: Decision, symbol: string): void {
  const since = d.state.bands.get(symbol)?.limitSince;
  if (since === undefined) return;
  const symbols = [...d.state.bands].flatMap(([one, { limitSince }]) => (limitSince === since ? [one] : []));
  for (const one of symbols.sort()) endLimitState(d, one);
}

/** Pauses trading in a symbol; near the close, until the close. */
function endLimitState(d: Decision, symbol: string): void {
  const band = d.state.bands.get(symbol);
  if (band?.limitSince === undefined || haltIn(d, symbol) !== undefined) return;
  const hours = d.hours(d.tradable(symbol));
  if (!hours.isOpen('REGULAR', d.at)) return;
  const close = hours.nextClose('REGULAR', d.at);
  const until = close - d.at <= LAST_PAUSE_MS ? close : Instant.plusMs(d.at, 5 * MINUTE_MS);
  d.emit({ type: 'TradingHalted', halt: { symbol, reason: 'LUDP', since: d.at, until } });
  pauseScripts(d);
}
