import { NO_CHECKPOINTS } from './checkpoints.js';
import type { Checkpoints } from './checkpoints.js';
import { EphemeralCells, EphemeralFull } from './ephemeral-cells.js';
import type { EphemeralCell } from './ephemeral-cells.js';
import { StoreUnavailable } from './journal.js';
import type { Journal, JournalRecord, StoredAnswer } from './journal.js';
import { MemoryAnswers } from './memory-answers.js';
import type { ForkBeginning, Registry, SimulationEntry } from './registry.js';
import { routedHistory } from './routed-history.js';
import type { EphemeralPart, Store } from './store.js';

/**
 * Bytes of memory for a byte of a record: its text, and the rows that lists are read from. Measured with orders; `bench/embedded.ts` shows
 * the present figure.
 */
const ROWS_FACTOR = 3;
const RECORD_BYTES = 128;
const ANSWER_BYTES = 512;

/** Records of a stored simulation that are copied before other work has a turn. */
const COPIED_AT_ONCE = 256;

/** Prefix of the ids of copies. */
const COPY = 'copy/';

/** Settings that belong to a simulation and begin with its id, and those that name it in their values. */
const OF_SIMULATION = /^(?:simulation|ttl|clock)\/([^/]+)/;
const NAMING_SIMULATION = ['key-pair:', 'comparison/'];

/**
 * A store in memory beside a durable one (D255): ephemeral simulations are in it with their records, rows, answers and settings. All other
 * data is in the durable one.
 */
export function withEphemeral(durable: Store, memory: Store, mostBytes: number): Store {
  const cells = new EphemeralCells(mostBytes);
  const answers = new MemoryAnswers(({ endsWith, body }) => {
    const cell = endsWith === undefined ? undefined : cells.find(endsWith);
    if (cell !== undefined) cells.add(cell, -answerBytes(body));
  });
  const registry = new EphemeralRegistry(durable.registry, memory.registry, cells, answers);
  const isEphemeral = (id: string): boolean => cells.find(id) !== undefined;
  const journal = journalOf(durable.journal, memory.journal, cells, answers);
  const whole: Store = {
    ...durable,
    journal,
    registry,
    checkpoints: checkpointsOf(durable.checkpoints, isEphemeral),
    history: routedHistory(durable.history, (id) => (isEphemeral(id) ? memory : durable).history),
    ...(durable.acquireCell !== undefined && {
      acquireCell: (id: string) => (isEphemeral(id) ? undefined : durable.acquireCell?.(id)),
    }),
    close: async () => {
      await memory.close();
      await durable.close();
    },
  };
  const storeOf = ({ tenantId }: EphemeralCell): Store => ({
    journal,
    checkpoints: NO_CHECKPOINTS,
    history: memory.history,
    registry,
    webhooks: durable.webhooks,
    mayAnswer: () => durable.mayAnswer?.() ?? true,
    probe: () => memory.probe(),
    health: () => (cells.isFull(tenantId) ? { status: 'reserve', waiting: 0 } : memory.health()),
    refusal: () => (cells.isFull(tenantId) ? new EphemeralFull() : undefined),
    check: () => [],
    close: () => Promise.resolve(),
  });
  const ephemeral: EphemeralPart = {
    has: isEphemeral,
    storeOf: (id) => {
      const cell = cells.find(id);
      return cell === undefined ? whole : storeOf(cell);
    },
    requireRoom: (tenantId) => cells.requireRoom(tenantId),
    copyAncestors: (parentId, tenantId, upTo) =>
      registry.copyAncestors(durable.journal, memory.journal, parentId, tenantId, upTo),
    lists: registry.lists,
    durableRegistry: durable.registry,
    idsOf: (tenantId) => [...cells.all].filter((cell) => cell.tenantId === tenantId).map(({ id }) => id),
    get bytes() {
      return cells.bytes;
    },
  };
  return { ...whole, ephemeral };
}

const answerBytes = (body: string): number => ANSWER_BYTES + body.length;

const recordBytes = ({ payload }: JournalRecord): number => RECORD_BYTES + ROWS_FACTOR * payload.length;

function journalOf(
  durable: Journal,
  memory: Journal,
  cells: EphemeralCells,
  answers: MemoryAnswers,
): Journal {
  const of = (id: string): Journal => (cells.find(id) === undefined ? durable : memory);
  /** False for an answer that is stored durably. */
  const keep = (answer: StoredAnswer, about: string): boolean => {
    const cell = cells.find(about);
    if (cell === undefined) return answer.endsWith !== undefined;
    answers.save({ ...answer, endsWith: about }, Date.now());
    cells.add(cell, answerBytes(answer.body));
    return true;
  };
  return {
    append: (record, answer) => {
      const cell = cells.find(record.simulationId);
      if (cell === undefined) return durable.append(record, answer);
      cells.add(cell, recordBytes(record));
      if (answer !== undefined) keep(answer, record.simulationId);
      return memory.append(record);
    },
    saveAnswer: (answer) =>
      keep(answer, answer.endsWith ?? answer.simulationId) ? Promise.resolve() : durable.saveAnswer(answer),
    findAnswer: (tenantId, simulationId, route, key, nowMs) =>
      answers.find(tenantId, simulationId, route, key, nowMs) ??
      (cells.find(simulationId) === undefined
        ? durable.findAnswer(tenantId, simulationId, route, key, nowMs)
        : undefined),
    deleteAnswers: (tenantId) => {
      answers.deleteOf(tenantId);
      return durable.deleteAnswers(tenantId);
    },
    read: (id, afterSeq) => of(id).read(id, afterSeq),
    lastAt: (id, at) => of(id).lastAt(id, at),
    lastSeq: (id) => of(id).lastSeq(id),
  };
}

const checkpointsOf = (durable: Checkpoints, isEphemeral: (id: string) => boolean): Checkpoints => {
  const of = (id: string): Checkpoints => (isEphemeral(id) ? NO_CHECKPOINTS : durable);
  return {
    load: (id, upTo) => of(id).load(id, upTo),
    make: (id, state) => of(id).make(id, state),
    keep: (id, seq, isWanted) => of(id).keep(id, seq, isWanted),
    letGo: (id, seq) => of(id).letGo(id, seq),
    readAhead: (id) => of(id).readAhead(id),
  };
};

/** A copy of the records of a stored simulation, which ephemeral forks of it begin with. */
interface Copy {
  readonly cell: EphemeralCell;
  seq: number;
  /** Settles when the records requested so far are copied. */
  copying: Promise<void>;
}

class EphemeralRegistry implements Registry {
  readonly #durable: Registry;
  readonly #memory: Registry;
  readonly #cells: EphemeralCells;
  readonly #answers: MemoryAnswers;
  readonly #copies = new Map<string, Copy>();
  /** Lists of rules that only simulations in memory use are in memory: the durable store must not miss a list that it refers to. */
  readonly lists: Pick<Registry, 'setting' | 'saveSetting'>;

  constructor(durable: Registry, memory: Registry, cells: EphemeralCells, answers: MemoryAnswers) {
    this.#durable = durable;
    this.#memory = memory;
    this.#cells = cells;
    this.#answers = answers;
    this.lists = {
      setting: (name) => durable.setting(name) ?? memory.setting(name),
      saveSetting: (name, value) => memory.saveSetting(name, value),
    };
    cells.onFreed = ({ id }) => {
      if (!id.startsWith(COPY)) return;
      if (this.#copies.get(id.slice(COPY.length))?.cell.id === id) this.#copies.delete(id.slice(COPY.length));
      void memory.deleteSimulation(id, Date.now());
    };
  }

  /**
   * Copies the records of a stored simulation up to one of them, after those that are there. The returned function is called once a fork has
   * begun with them, or will not. Rejects with `EphemeralFull`.
   */
  async copyAncestors(
    from: Journal,
    to: Journal,
    parentId: string,
    tenantId: string,
    upTo: number,
  ): Promise<() => void> {
    if (this.#cells.find(parentId) !== undefined) return () => undefined;
    let copy = this.#copies.get(parentId);
    if (copy === undefined) {
      const id = COPY + parentId;
      copy = { cell: this.#cells.beginCopy(id, tenantId), seq: 0, copying: Promise.resolve() };
      this.#copies.set(parentId, copy);
      const config = this.#durable.simulation(parentId)?.config ?? '{}';
      copy.copying = this.#memory.createSimulation({ id, tenantId: null, config, createdAt: Date.now() });
    }
    const { cell } = copy;
    this.#cells.hold(cell);
    const letGo = (): void => this.#cells.letGo(cell);
    const copied = copy.copying.then(() => this.#copyOn(from, to, parentId, copy, upTo));
    copy.copying = copied.catch(() => undefined);
    try {
      await copied;
      return letGo;
    } catch (error) {
      letGo();
      throw error;
    }
  }

  async #copyOn(from: Journal, to: Journal, parentId: string, copy: Copy, upTo: number): Promise<void> {
    if (copy.seq >= upTo) return;
    const { cell } = copy;
    for await (const record of from.read(parentId, copy.seq)) {
      if (record.seq > upTo) break;
      this.#cells.requireRoom(cell.tenantId);
      this.#cells.add(cell, recordBytes(record));
      void to.append({ ...record, simulationId: cell.id });
      copy.seq = record.seq;
      if (copy.seq % COPIED_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    if (copy.seq < upTo) throw new StoreUnavailable('the simulation was deleted');
  }

  // ---- Simulations

  createSimulation(simulation: Omit<SimulationEntry, 'deletedAt'>, begins?: ForkBeginning): Promise<void> {
    const { id, tenantId, config } = simulation;
    const { ephemeral } = JSON.parse(config) as { readonly ephemeral?: boolean };
    if (ephemeral !== true || tenantId === null) return this.#durable.createSimulation(simulation, begins);
    const parent =
      begins && (this.#cells.find(begins.simulationId) ?? this.#copies.get(begins.simulationId)?.cell);
    if (begins !== undefined && parent === undefined)
      return Promise.reject(new Error(`The records of ${begins.simulationId} are not in memory`));
    const cell = this.#cells.begin(id, tenantId, parent);
    this.#cells.add(cell, config.length);
    return this.#memory.createSimulation(
      simulation,
      begins && parent && { simulationId: parent.id, sequence: begins.sequence },
    );
  }

  simulation(id: string): SimulationEntry | undefined {
    return this.#of(id).simulation(id);
  }

  simulations(tenantId?: string | null): readonly SimulationEntry[] {
    const durable = this.#durable.simulations(tenantId);
    if (tenantId === null) return durable;
    const own = [...this.#cells.all].filter((cell) => tenantId === undefined || cell.tenantId === tenantId);
    if (own.length === 0) return durable;
    const inMemory = own.flatMap(({ id }) => this.#memory.simulation(id) ?? []);
    return [...durable, ...inMemory].sort((a, b) => a.createdAt - b.createdAt);
  }

  async deleteSimulation(id: string, deletedAt: number): Promise<void> {
    const cell = this.#cells.find(id);
    if (cell === undefined) {
      const copy = this.#copies.get(id);
      if (copy !== undefined) this.#cells.end(copy.cell);
      return this.#durable.deleteSimulation(id, deletedAt);
    }
    for (const prefix of NAMING_SIMULATION)
      for (const [name, value] of this.#memory.settings(prefix))
        if (simulationNamed(value) === id) await this.#memory.deleteSetting(name);
    this.#answers.endSimulation(id);
    this.#cells.end(cell);
    await this.#memory.deleteSimulation(id, deletedAt);
  }

  #of(id: string): Registry {
    return this.#cells.find(id) === undefined ? this.#durable : this.#memory;
  }

  // ---- Settings

  setting(name: string): string | undefined {
    // A list of rules of a durable simulation is durable: those in memory are the others'.
    return this.#durable.setting(name) ?? this.#memory.setting(name);
  }

  settings(prefix: string): readonly (readonly [string, string])[] {
    const inMemory = this.#memory.settings(prefix);
    const durable = this.#durable.settings(prefix);
    if (inMemory.length === 0) return durable;
    return [...durable, ...inMemory].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  async saveSetting(name: string, value: string): Promise<void> {
    const cell = this.#ownerOf(name, value);
    if (cell === undefined) return this.#durable.saveSetting(name, value);
    const before = this.#memory.setting(name);
    if (before === undefined && name.startsWith('simulation/')) this.#cells.requireRoom(cell.tenantId);
    this.#cells.add(cell, before === undefined ? name.length + value.length : value.length - before.length);
    return this.#memory.saveSetting(name, value);
  }

  async deleteSetting(name: string): Promise<void> {
    const before = this.#memory.setting(name);
    if (before === undefined) return this.#durable.deleteSetting(name);
    const cell = this.#ownerOf(name, before);
    if (cell !== undefined) this.#cells.add(cell, -(name.length + before.length));
    await this.#memory.deleteSetting(name);
  }

  /** The simulation in memory that a setting is of. */
  #ownerOf(name: string, value: string): EphemeralCell | undefined {
    const id = NAMING_SIMULATION.some((prefix) => name.startsWith(prefix))
      ? simulationNamed(value)
      : OF_SIMULATION.exec(name)?.[1];
    return id === undefined ? undefined : this.#cells.find(id);
  }

  // ---- Tenants and keys are durable.

  createTenant: Registry['createTenant'] = (tenant) => this.#durable.createTenant(tenant);
  updateTenant: Registry['updateTenant'] = (tenant) => this.#durable.updateTenant(tenant);
  tenant: Registry['tenant'] = (id) => this.#durable.tenant(id);
  tenantByName: Registry['tenantByName'] = (name) => this.#durable.tenantByName(name);
  tenants: Registry['tenants'] = () => this.#durable.tenants();
  createApiKey: Registry['createApiKey'] = (key) => this.#durable.createApiKey(key);
  apiKey: Registry['apiKey'] = (hash) => this.#durable.apiKey(hash);
  apiKeys: Registry['apiKeys'] = (tenantId) => this.#durable.apiKeys(tenantId);
  revokeApiKey: Registry['revokeApiKey'] = (hash, at) => this.#durable.revokeApiKey(hash, at);

  async deleteTenant(id: string): Promise<void> {
    await this.#memory.deleteTenant(id);
    await this.#durable.deleteTenant(id);
  }
}

/** The id that a setting names, in JSON. */
function simulationNamed(value: string): string | undefined {
  const { simulationId } = (JSON.parse(value) ?? {}) as { readonly simulationId?: string };
  return simulationId;
}
