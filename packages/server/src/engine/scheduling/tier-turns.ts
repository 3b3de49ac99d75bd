import type { Tier } from '@sandpit/core';

/** Maximum time that commands hold the event loop before connections have a turn, ms. */
const SLICE_MS = 5;

/** Maximum number of later cells that may overtake one. */
const MOST_PASSES = 8;

const RANK: Readonly<Record<Tier, number>> = { BASIC: 0, PRO: 1, ENTERPRISE: 2 };

interface WaitingCommand {
  readonly tier: Tier;
  readonly go: () => void;
}

/** A cell with commands that wait. */
interface WaitingCell {
  /** Oldest first. */
  readonly commands: WaitingCommand[];
  /** Turns of later cells since it began to wait. */
  passes: number;
}

/** Time and the event loop: tests have their own. */
export interface TurnSurroundings {
  readonly nowMs: () => number;
  /** Calls back after the connections had a turn. */
  readonly afterConnections: (then: () => void) => void;
}

const ON_THIS_LOOP: TurnSurroundings = {
  nowMs: () => performance.now(),
  afterConnections: (then) => void setImmediate(then),
};

/**
 * The order in which commands of different cells are executed (D169). Until commands have occupied the event loop for a slice, each is
 * executed on arrival. Later commands wait, and waiting cells execute one command in turn: ENTERPRISE before PRO before BASIC, within a
 * tier the one that has waited longest, and none is overtaken more than eight times. A cell that has had its turn waits after the others,
 * so that a thousand commands of one cell delay a command of another by one slice and one command. Commands of a cell stay in their order.
 */
export class TierTurns {
  readonly #surroundings: TurnSurroundings;
  /** By the id of the cell, in the order in which they began to wait for their next turn. */
  readonly #waiting = new Map<string, WaitingCell>();
  /** Start of the current run of commands; undefined = connections had a turn since the last command. */
  #beganMs: number | undefined;

  constructor(surroundings: TurnSurroundings = ON_THIS_LOOP) {
    this.#surroundings = surroundings;
  }

  /** Undefined = it is the turn of this command now. Otherwise resolves when it is: its execution must begin in that turn. */
  next(cell: string, tier: Tier): Promise<void> | undefined {
    if (this.#waiting.size === 0 && this.#hasTime()) return undefined;
    return new Promise((go) => {
      const command = { tier, go };
      const waiting = this.#waiting.get(cell);
      if (waiting === undefined) this.#waiting.set(cell, { commands: [command], passes: 0 });
      else waiting.commands.push(command);
    });
  }

  #hasTime(): boolean {
    if (this.#beganMs === undefined) {
      this.#beganMs = this.#surroundings.nowMs();
      this.#surroundings.afterConnections(() => this.#begin());
      return true;
    }
    return this.#surroundings.nowMs() - this.#beganMs < SLICE_MS;
  }

  #begin(): void {
    this.#beganMs = undefined;
    if (this.#waiting.size > 0 && this.#hasTime()) this.#give();
  }

  /** Grants turns one after the other until the slice is over. */
  #give(): void {
    const next = this.#take();
    if (next === undefined) return;
    next.go();
    // The waiter of the promise has run by then.
    queueMicrotask(() => {
      if (this.#hasTime()) this.#give();
    });
  }

  #take(): WaitingCommand | undefined {
    const next = this.#pick();
    if (next === undefined) return undefined;
    for (const [cell, waiting] of this.#waiting) {
      if (cell === next.cell) break;
      waiting.passes += 1;
    }
    const { cell, waiting } = next;
    this.#waiting.delete(cell);
    const command = waiting.commands.shift();
    waiting.passes = 0;
    if (waiting.commands.length > 0) this.#waiting.set(cell, waiting);
    return command;
  }

  #pick(): { readonly cell: string; readonly waiting: WaitingCell } | undefined {
    let best: { readonly cell: string; readonly waiting: WaitingCell } | undefined;
    let bestRank = -1;
    for (const [cell, waiting] of this.#waiting) {
      if (waiting.passes >= MOST_PASSES) return { cell, waiting };
      const rank = RANK[waiting.commands[0]?.tier ?? 'BASIC'];
      if (rank <= bestRank) continue;
      bestRank = rank;
      best = { cell, waiting };
    }
    return best;
  }
}

/** The turns of this process. */
export const TURNS = new TierTurns();
