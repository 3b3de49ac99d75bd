/** The header of the file of a simulation (D170, D233): the configuration as `POST /v1/simulations` could have made it. */
import { Instant, isCalendar, SessionMap, TradingDate } from '@sandpit/core';
import type { RulesInForce } from '@sandpit/core';
import type { MaskTerms } from '../../feeds/mask.js';
import type { Regime } from '../../feeds/regime.js';
import {
  closedObject,
  isRecord,
  listOf,
  matching,
  numberFrom,
  oneOf,
  optionally,
  requireFields,
  textUpTo,
  when,
  wholeNumber,
} from './file-fields.js';
import type { FieldCheck } from './file-fields.js';
import { MOST_GENERATIONS } from '../forks/forks.js';
import { ImportRefused } from './import-refused.js';
import { calendarBehind } from '../configuration/masked-config.js';
import type { ForkTerms, KeptConfig, Stretch, StreamTag } from '../configuration/simulation-config.js';

/** The configuration in a file: it has neither a lifetime nor an author. */
export type FiledConfig = Omit<
  KeptConfig,
  'ttl' | 'ephemeral' | 'madeBy' | 'importedFrom' | 'ownLists' | 'isFromFile'
>;

/** A simulation as a file has it. */
export interface FiledSimulation {
  /** Id of the simulation in the exporting installation; `main` for a tenant's own simulation. */
  readonly simulationId: string;
  readonly config: FiledConfig;
}

/** Grows when an older server would misread a file. */
export const FORMAT = 2;

const LONGEST_NAME = 256;
/** At least one letter or digit that is seen (D237). */
/** Control characters, which names must not contain. */
const CONTROL = /[\u0000-\u001f\u007f]/;
const VISIBLE = /(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]/u;
const LONGEST_MS = 8.64e15;
const FASTEST = 1_000_000;
const MOST_WEEKS = 9999;
const LARGEST_DRIFT = 2;
const MOST_SYMBOLS = 500;
const LONGEST_SYMBOL = 32;

const sequence = wholeNumber(0, Number.MAX_SAFE_INTEGER);
const seed = wholeNumber(0, 2 ** 32 - 1);
const secret = matching(/^[0-9a-f]{32}$/);
const digest = matching(/^[0-9a-f]{64}$/);
const instant = wholeNumber(-LONGEST_MS, LONGEST_MS);
const start = wholeNumber(Instant.first, Instant.last);
const feed = oneOf('synthetic', 'replay', 'push');
const clock = oneOf('wall', 'manual', 'scaled');
const on = optionally(oneOf(true));
const flag = oneOf(true, false);
const date = when((value) => typeof value === 'string' && TradingDate.parse(value) !== undefined);
const calendar = when((value) => typeof value === 'string' && isCalendar(value));
/** An id that a server gave, or `main`. */
const id = matching(/^[\w-]{1,64}$/);
const earlyAssignment = optionally(oneOf('DIVIDENDS', 'MODEL'));

const options = { earlyAssignment, scripts: on, luld: on, shortSaleRestriction: on };

const rules = closedObject<RulesInForce>({
  ...options,
  components: on,
  calendar,
  quoteMaxAgeMs: optionally(sequence),
  marketCollarBps: sequence,
  portfolioMarginEquity: sequence,
  riskFreeRate: numberFrom(-10, 10),
  brokers: digest,
  instruments: digest,
});

const generations = (check: FieldCheck): FieldCheck => listOf(MOST_GENERATIONS, check);

const fork = closedObject<ForkTerms>({
  parentId: id,
  sequence,
  depth: wholeNumber(1, MOST_GENERATIONS),
  origin: closedObject<ForkTerms['origin']>({ start, seed, idSecret: optionally(secret), rules }),
  seed: optionally(seed),
  tags: generations(closedObject<StreamTag>({ after: sequence, tag: matching(/^[0-9a-f]{1,32}$/) })),
  stretches: generations(
    closedObject<Stretch>({
      upTo: sequence,
      feed: oneOf('synthetic', 'replay', 'push', 'live'),
      clock,
      marketSeq: optionally(sequence),
    }),
  ),
});

const config = closedObject<FiledConfig>({
  ...options,
  name: optionally(
    when(
      (name) =>
        typeof name === 'string' && name.length <= LONGEST_NAME && VISIBLE.test(name) && !CONTROL.test(name),
    ),
  ),
  feed,
  clock,
  calendar,
  start,
  speed: numberFrom(0, FASTEST),
  seed,
  idSecret: optionally(secret),
  replay: optionally(
    closedObject<NonNullable<KeptConfig['replay']>>({
      symbols: optionally(listOf(MOST_SYMBOLS, textUpTo(LONGEST_SYMBOL))),
      from: optionally(instant),
    }),
  ),
  liveRecording: on,
  mask: optionally(
    closedObject<MaskTerms>({
      key: secret,
      weeks: wholeNumber(0, MOST_WEEKS),
      sessions: optionally(date),
      symbols: flag,
      prices: flag,
    }),
  ),
  draw: optionally(secret),
  regime: optionally(
    closedObject<Regime>({
      start,
      drift: numberFrom(-LARGEST_DRIFT, LARGEST_DRIFT),
      volatility: optionally(numberFrom(0, 1)),
      jumps: optionally(
        closedObject<NonNullable<Regime['jumps']>>({ perYear: numberFrom(0, 365), size: numberFrom(0, 1) }),
      ),
      gap: optionally(numberFrom(0, 1)),
    }),
  ),
  pathSeed: optionally(seed),
  reseeded: optionally(generations(closedObject<{ after: number; seed: number }>({ after: instant, seed }))),
  fork: optionally(fork),
  // Membership of a competition, and of an installation's market, does not travel: only the verification of a competition reads it.
  competition: optionally(
    closedObject<{ id: string; role: string; marketId: string }>({
      id,
      role: oneOf('MARKET', 'ENTRY', 'CELL', 'EVALUATION'),
      marketId: optionally(id),
    }),
  ),
  joined: optionally(closedObject<NonNullable<KeptConfig['joined']>>({ seq: sequence, marketSeq: sequence })),
  rules,
});

const header = closedObject<FiledSimulation & { type: string; format: number }>({
  type: oneOf('header'),
  format: oneOf(FORMAT),
  simulationId: id,
  config,
});

/** The simulation of a header. Throws `ImportRefused` naming the first field that no export of this server could have. */
export function simulationIn(fields: Readonly<Record<string, unknown>>): FiledSimulation {
  const { format } = fields;
  if (format !== FORMAT) {
    const is = typeof format === 'number' && format > FORMAT ? 'of a newer version' : 'not of a known format';
    throw new ImportRefused(`the file is ${is} (this server knows format ${FORMAT})`);
  }
  const { feed: named } = isRecord(fields.config) ? fields.config : {};
  if (named === 'live') throw new ImportRefused('feed live is not on this server for the past of a file');
  requireFields(fields, header, 'the header');
  const filed = fields as unknown as FiledSimulation;
  const wrong = contradictionIn(filed);
  if (wrong !== undefined) throw new ImportRefused(`${wrong} of the header does not fit the other fields`);
  return { simulationId: filed.simulationId, config: filed.config };
}

/** The first field that contradicts another one. A `main` follows the market of its installation, whatever its own fields say. */
function contradictionIn({ simulationId, config }: FiledSimulation): string | undefined {
  const { feed, clock, calendar, speed, replay, liveRecording, mask } = config;
  const isReplay = feed === 'replay';
  const isMoved = calendar !== 'XNYS' && calendar !== 'always-open';
  if (isMoved && (mask === undefined || calendarBehind(mask) !== calendar)) return 'config.calendar';
  if (mask?.sessions !== undefined && !SessionMap.isSession(TradingDate.dayOf(mask.sessions)))
    return 'config.mask';
  if (simulationId === 'main') return undefined;
  if (clock === 'scaled' ? speed <= 0 : speed !== (clock === 'wall' ? 1 : 0)) return 'config.speed';
  if (!isReplay && replay !== undefined) return 'config.replay';
  if (!isReplay && liveRecording !== undefined) return 'config.liveRecording';
  if (mask !== undefined && (!isReplay || liveRecording === true || (clock === 'wall' && mask.weeks > 0)))
    return 'config.mask';
  return undefined;
}
