import type {
  CompetitionRank,
  CompetitionResult,
  CompetitionRules,
  CompetitionTerms,
  FillModel,
  Money,
  PortfolioType,
  Tier,
} from '@sandpit/core';
import type { MaskParts, WantedSimulation } from '../engine/configuration/simulation-config.js';
import type { Registry } from '../store/registry.js';
import { byName } from './leaderboard.js';
import type { LeaderboardRow, Scoring } from './leaderboard.js';

/** Settings of a competition, from its organizer. */
export interface CompetitionSettings {
  readonly name: string;
  /** The simulation of the market, without its seed, which is mixed into the draw. */
  readonly market: Omit<WantedSimulation, 'seed'>;
  readonly seed?: string | number;
  /** Hidden parts of the recording (D209); absent = none. `startsAt`, `endsAt` and `rules` are not masked here. */
  readonly mask?: MaskParts;
  readonly startsAt: CompetitionTerms['startsAt'];
  readonly endsAt: CompetitionTerms['endsAt'];
  readonly rules: CompetitionRules;
  /** Initial state of every entry. */
  readonly portfolio: {
    readonly initialCash: Money;
    readonly portfolioType: PortfolioType;
    readonly brokerId: string;
    readonly fillModel: FillModel;
  };
  readonly entriesPerTenant: number;
  /** Executions that a score needs to count. */
  readonly minTrades: number;
  readonly scoring: Scoring;
  readonly needsCode: boolean;
  readonly capacity: number;
  readonly isPublic: boolean;
}

/** The final result in the note of an earlier version, with names. It is carried over to the cell of the competition. */
export interface EarlierResult extends Omit<CompetitionResult, 'rows'> {
  readonly rows: readonly LeaderboardRow[];
}

/** The parts of a competition that name the recording, masked. */
export interface MaskedCompetition {
  readonly parts: MaskParts;
  /** Simulated, ms. */
  readonly startsAt: number;
  readonly endsAt: number;
  /** Symbols of the market's `replay`. */
  readonly replay?: readonly string[];
  /** Symbols of the rules. */
  readonly symbols?: readonly string[];
}

/** The parts of a competition's body that are fixed once the first entry exists (D194). */
export interface ShownCompetition {
  readonly market: Readonly<Record<string, unknown>>;
  readonly rules: Readonly<Record<string, unknown>>;
  readonly scoring: unknown;
}

/**
 * A competition in the registry: its names, its tenant, its code and its draw. The journal of its market has the entries, the phases,
 * removals and the result; the fields below that repeat them are written in the same commit, for lists and for the other nodes of a cluster.
 */
export interface CompetitionNote {
  readonly id: string;
  /** The tenant that organizes it. */
  readonly organizer: string;
  readonly tier: Tier;
  readonly createdAt: number;
  readonly settings: CompetitionSettings;
  /** The request body that created it, as displayed. */
  readonly shown: ShownCompetition;
  /** 128 bits, hexadecimal: the origin of the synthetic path and all ids. Shown in the export only. */
  readonly draw: string;
  readonly joinCode?: string;
  /** The simulation of its market. */
  readonly marketId: string;
  /** Market and rules as entrants see them, if the recording is masked. */
  readonly masked?: MaskedCompetition;
  readonly isCanceled?: true;
  /** Phase for the other nodes of a cluster; absent = OPEN, or what `isCanceled` and `result` say. */
  readonly phase?: 'RUNNING' | 'PAUSED';
  readonly result?: Pick<CompetitionResult, 'at' | 'journalHash'> | EarlierResult;
}

export interface EntryNote {
  readonly id: string;
  readonly competitionId: string;
  /** From 1, in the order of entering. */
  readonly number: number;
  /** The tenant that entered. */
  readonly tenantId: string;
  readonly displayName: string;
  readonly simulationId: string;
  readonly portfolioId: string;
  readonly createdAt: number;
  /** True if the entry was withdrawn before the competition began. */
  readonly isCalledOff?: true;
}

const COMPETITIONS = 'competition/';
const ENTRIES = 'competition-entry/';

export const competitionName = (id: string): string => `${COMPETITIONS}${id}`;
export const entriesPrefix = (competitionId: string): string => `${ENTRIES}${competitionId}/`;
export const entryName = ({ competitionId, id }: Pick<EntryNote, 'competitionId' | 'id'>): string =>
  `${entriesPrefix(competitionId)}${id}`;
export const COMPETITION_SETTINGS = COMPETITIONS;

const CELLS = 'competition-cell/';

/** A simulation that is being removed from its competition. The value is its tenant. */
export const cellName = (simulationId: string): string => `${CELLS}${simulationId}`;
export const CELL_SETTINGS = CELLS;

/** Name of an entry whose tenant was erased (D279). */
const ERASED_ENTRANT = 'erased entrant';

/** An entry after the erasure of its tenant. It remains in its competition without an owner and a name. */
export const withoutTenant = (entry: EntryNote): EntryNote => ({
  ...entry,
  tenantId: '',
  displayName: ERASED_ENTRANT,
});

/** The rows of a result with the names that the registry has now. */
export const rowsWithNames = (
  rows: readonly CompetitionRank[],
  entries: ReadonlyMap<string, Pick<EntryNote, 'displayName'>>,
): readonly LeaderboardRow[] =>
  rows
    .map(({ rank, entryId, ...row }) => ({
      rank,
      entryId,
      displayName: entries.get(entryId)?.displayName ?? ERASED_ENTRANT,
      ...row,
    }))
    .sort((a, b) => a.rank - b.rank || byName(a, b));

/** Rows of a leaderboard that do not name entries of erased tenants. */
export function rowsWithoutNames(
  rows: readonly LeaderboardRow[],
  erased: ReadonlySet<string>,
): readonly LeaderboardRow[] {
  if (!rows.some(({ entryId }) => erased.has(entryId))) return rows;
  return rows
    .map((row) => (erased.has(row.entryId) ? { ...row, displayName: ERASED_ENTRANT } : row))
    .sort((a, b) => a.rank - b.rank || byName(a, b));
}

/** Deletes the notes of what a tenant organizes, and the tenant from those of its entries. Its simulations stay. */
export async function eraseNotes(registry: Registry, tenantId: string): Promise<void> {
  for (const [name, text] of registry.settings(COMPETITIONS)) {
    const note = JSON.parse(text) as CompetitionNote;
    const { id, organizer } = note;
    const erased = new Set<string>();
    for (const [entryOf, noted] of registry.settings(entriesPrefix(id))) {
      const entry = JSON.parse(noted) as EntryNote;
      if (organizer === tenantId) await registry.deleteSetting(entryOf);
      else if (entry.tenantId === tenantId) {
        erased.add(entry.id);
        await registry.saveSetting(entryOf, JSON.stringify(withoutTenant(entry)));
      }
    }
    if (organizer === tenantId) await registry.deleteSetting(name);
    else if (note.result !== undefined && 'rows' in note.result && erased.size > 0) {
      const rows = rowsWithoutNames(note.result.rows, erased);
      await registry.saveSetting(name, JSON.stringify({ ...note, result: { ...note.result, rows } }));
    }
  }
  for (const [name, owner] of registry.settings(CELLS))
    if (owner === tenantId) await registry.deleteSetting(name);
}

/** The competition that a setting of an entry is of; undefined = it is another setting. */
export const competitionOfEntry = (name: string): string | undefined =>
  name.startsWith(ENTRIES) ? name.slice(ENTRIES.length).split('/')[0] : undefined;
