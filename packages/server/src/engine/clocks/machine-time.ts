import { Instant } from '@sandpit/core';
import type { Registry } from '../../store/registry.js';

/**
 * Maximum plausible time that a server was down, or its machine asleep: a month and some days. A clock farther ahead of all known times is
 * considered wrong: following it would let orders expire permanently, and the market could never come back.
 */
const LONGEST_PAUSE_MS = 35 * 86_400_000;
/** A clock is set back by less when it is set right. */
const FARTHEST_BACK_MS = 5 * 60_000;
/** A jump that an operator may want to know about. */
const NOTED_MS = 60_000;
const REMEMBERED_EVERY_MS = 3_600_000;

const SETTING = 'machine-time';

/** The machine's clock cannot be right. */
export class ImplausibleClock extends Error {
  override readonly name = 'ImplausibleClock';
}

export interface MachineTimeParts {
  readonly registry: Registry;
  /** The machine's clock, ms. */
  readonly wallMs: () => number;
  /** Never jumps, ms. */
  readonly monotonicMs: () => number;
  /** Accepts any jump. */
  readonly isJumpAllowed: boolean;
  readonly note: (text: string) => void;
}

/**
 * Real time as wall clocks show it: that of the machine, as long as it is plausible. The last time is stored for the check at a start;
 * while the server runs, the monotonic clock is the reference. An implausible jump is ignored: time continues from the last instant.
 */
export class MachineTime {
  readonly #parts: MachineTimeParts;
  #nowMs: number;
  #atMs: number;
  #isFollowing = true;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: MachineTimeParts) {
    this.#parts = parts;
    this.#nowMs = parts.wallMs();
    this.#atMs = parts.monotonicMs();
  }

  now(): Instant {
    const { wallMs, monotonicMs, isJumpAllowed } = this.#parts;
    const [wall, at] = [wallMs(), monotonicMs()];
    const expected = this.#nowMs + (at - this.#atMs);
    const jump = wall - expected;
    const isFollowing = isJumpAllowed || isPlausible(jump);
    if (isFollowing ? Math.abs(jump) > NOTED_MS : this.#isFollowing) this.#noteJump(jump, isFollowing);
    this.#isFollowing = isFollowing;
    this.#nowMs = isFollowing ? wall : expected;
    this.#atMs = at;
    return Instant.ofMs(Math.floor(this.#nowMs));
  }

  #noteJump(jump: number, isFollowed: boolean): void {
    const what = `The machine's clock jumped by ${Math.round(jump / 1000)} s while the server ran`;
    this.#parts.note(
      isFollowed
        ? `${what}; simulations on the wall clock follow it`
        : `${what}; that cannot be right and is not followed. Set the clock right, or start again with ALLOW_CLOCK_JUMP=true`,
    );
  }

  /** Throws `ImplausibleClock` when the clock is far ahead of all known times: `lastMs` is the time of the last record. */
  check(lastMs: number | undefined): void {
    if (this.#parts.isJumpAllowed) return;
    const remembered = Number(this.#parts.registry.setting(SETTING) ?? Number.NEGATIVE_INFINITY);
    const last = Math.max(remembered, lastMs ?? Number.NEGATIVE_INFINITY);
    const now = this.now();
    if (last === Number.NEGATIVE_INFINITY || isPlausible(now - last)) return;
    throw new ImplausibleClock(
      `The machine's clock says ${new Date(now).toISOString()}, but this installation was last at work at ` +
        `${new Date(last).toISOString()}: set the clock right, or start with ALLOW_CLOCK_JUMP=true if that is meant`,
    );
  }

  /** From here on it is remembered what time it is. */
  async remember(): Promise<void> {
    this.#timer ??= setInterval(() => {
      this.#save().catch(() => {
        // The store does not accept writes: the next attempt suffices.
      });
    }, REMEMBERED_EVERY_MS).unref();
    await this.#save();
  }

  /** Remembers it a last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#save().catch(() => undefined);
  }

  #save(): Promise<void> {
    return this.#parts.registry.saveSetting(SETTING, String(this.now()));
  }
}

const isPlausible = (jump: number): boolean => jump > -FARTHEST_BACK_MS && jump < LONGEST_PAUSE_MS;
