import type { Journal, JournalRecord, StoredAnswer } from '../journal.js';
import type { ForkBeginning } from '../registry.js';
import type { ParsedPayload } from '../projection.js';
import type { Commits } from './commits.js';
import type { MemoryRegistry } from './memory-registry.js';

export class MemoryJournal implements Journal {
  readonly #commits: Commits;
  readonly #registry: MemoryRegistry;
  readonly #records = new Map<string, JournalRecord[]>();
  readonly #accepted = new Map<string, number>();
  readonly #answers = new Map<string, StoredAnswer>();
  onCommitted: (record: JournalRecord, parsed: ParsedPayload) => void = () => undefined;

  constructor(commits: Commits, registry: MemoryRegistry) {
    this.#commits = commits;
    this.#registry = registry;
  }

  append(record: JournalRecord, answer?: StoredAnswer): Promise<void> {
    const { simulationId, seq } = record;
    if (!this.#registry.isOpen(simulationId))
      return Promise.reject(new Error(`There is no simulation ${simulationId}`));
    const last = this.#accepted.get(simulationId) ?? 0;
    if (seq !== last + 1)
      return Promise.reject(new Error(`Record ${seq} cannot follow record ${last} of ${simulationId}`));
    this.#accepted.set(simulationId, seq);
    return this.#commits.add(() => {
      const records = this.#records.get(simulationId) ?? [];
      records.push(record);
      this.#records.set(simulationId, records);
      if (answer !== undefined) this.#keep(answer);
      this.onCommitted(record, parsed(record));
    });
  }

  saveAnswer(answer: StoredAnswer): Promise<void> {
    return this.#commits.add(() => this.#keep(answer));
  }

  #keep(answer: StoredAnswer): void {
    this.#answers.set(answerName(answer.tenantId, answer.simulationId, answer.route, answer.key), answer);
  }

  findAnswer(
    tenantId: string,
    simulationId: string,
    route: string,
    key: string,
    nowMs: number,
  ): StoredAnswer | undefined {
    const answer = this.#answers.get(answerName(tenantId, simulationId, route, key));
    return answer !== undefined && answer.expiresAt > nowMs ? answer : undefined;
  }

  deleteAnswers(tenantId: string): Promise<void> {
    return this.#commits.add(() => {
      for (const [name, answer] of this.#answers)
        if (answer.tenantId === tenantId) this.#answers.delete(name);
    });
  }

  *read(simulationId: string, afterSeq: number): Iterable<JournalRecord> {
    const records = this.#records.get(simulationId) ?? [];
    // Records appended during the read are not part of it.
    const end = records.length;
    for (let seq = afterSeq; seq < end; seq += 1) {
      const record = records[seq];
      if (record !== undefined) yield record;
    }
  }

  /** A fork begins with the records of its parent, up to one of them. */
  begin(simulationId: string, { simulationId: parent, sequence }: ForkBeginning): readonly JournalRecord[] {
    const records = (this.#records.get(parent) ?? [])
      .slice(0, sequence)
      .map((record) => ({ ...record, simulationId }));
    this.#records.set(simulationId, records);
    return [...records];
  }

  /** Records may follow from here on. */
  accept(simulationId: string, lastSeq: number): void {
    this.#accepted.set(simulationId, lastSeq);
  }

  lastAt(simulationId: string, at: number): number {
    return this.#records.get(simulationId)?.findLast((record) => record.at <= at)?.seq ?? 0;
  }

  record(simulationId: string, seq: number): JournalRecord | undefined {
    return this.#records.get(simulationId)?.[seq - 1];
  }

  lastSeq(simulationId: string): number {
    return this.#records.get(simulationId)?.length ?? 0;
  }

  remove(simulationId: string): void {
    this.#records.delete(simulationId);
    this.#accepted.delete(simulationId);
  }
}

export function parsed({ payload }: JournalRecord): ParsedPayload {
  const { command, events } = JSON.parse(payload) as Partial<ParsedPayload>;
  return { command, events: events ?? [] };
}

function answerName(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
