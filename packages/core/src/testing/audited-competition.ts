import type { Event } from '../event.js';
import type { State } from '../state.js';

interface AuditedEntry {
  readonly entryId: string;
  readonly cell: string | undefined;
  isRemoved: boolean;
}

/** A competition recomputed from the events of its cell: phases, entries, removals and the result. Throws on the first violation. */
export class AuditedCompetition {
  private readonly entries: AuditedEntry[] = [];
  private readonly isOpenEnded: boolean;
  private phase: string;
  private hasResult = false;

  constructor({ terms, phase }: Extract<Event, { type: 'CompetitionBegun' }>) {
    this.isOpenEnded = terms.isOpenEnded === true;
    this.phase = phase;
  }

  notePhase({ phase }: Extract<Event, { type: 'CompetitionPhaseChanged' }>): void {
    insist(phase !== this.phase, 'a competition changes to the phase that it is in');
    insist(phase !== 'OPEN', 'a competition returns to OPEN');
    const isOver = this.phase === 'FINISHED' || this.phase === 'CANCELED';
    const resumes = this.isOpenEnded && this.phase === 'FINISHED' && phase === 'RUNNING';
    insist(!isOver || resumes, 'a competition continues after its end');
    this.phase = phase;
    this.hasResult = false;
  }

  noteEntry({ entryId, number, cell, isHouse }: Extract<Event, { type: 'EntryAdded' }>): void {
    insist(this.phase !== 'FINISHED' && this.phase !== 'CANCELED', 'an entry is added after the end');
    insist(
      !this.isOpenEnded || isHouse === true || this.phase === 'RUNNING',
      'an entrant does not start the evaluation',
    );
    insist(number === this.entries.length + 1, 'entries are not numbered in the order of entering');
    insist(
      !this.entries.some((other) => other.entryId === entryId || (cell !== undefined && other.cell === cell)),
      'an entry is added twice',
    );
    this.entries.push({ entryId, cell, isRemoved: false });
  }

  noteRemoval({ cell, entryId }: Extract<Event, { type: 'EntryRemoved' }>): void {
    // Without either it is the removal of the simulation itself.
    if (cell === undefined && entryId === undefined) return;
    const entry = this.entries.find((one) =>
      cell === undefined ? one.entryId === entryId : one.cell === cell,
    );
    insist(entry !== undefined, 'an entry is removed that was not added');
    insist(!entry.isRemoved, 'an entry is removed twice');
    entry.isRemoved = true;
  }

  noteResult(): void {
    insist(this.phase === 'FINISHED', 'a competition has a result before its end');
    insist(!this.hasResult, 'a competition has two results');
    this.hasResult = true;
  }

  /** Differences to the state of the core. */
  differences(core: State['competition']): readonly string[] {
    const pairs: readonly (readonly [what: string, core: unknown, audit: unknown])[] = [
      ['phase', core?.phase, this.phase],
      ['result', core?.result !== undefined, this.hasResult],
      [
        'entries',
        JSON.stringify(
          [...(core?.entries?.values() ?? [])].map((one) => [one.entryId, one.removed !== undefined]),
        ),
        JSON.stringify(this.entries.map(({ entryId, isRemoved }) => [entryId, isRemoved])),
      ],
    ];
    return pairs.flatMap(([what, one, other]) =>
      one === other ? [] : [`competition ${what}: core ${String(one)}, audit ${String(other)}`],
    );
  }
}

function insist(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`audit: ${what}`);
}
