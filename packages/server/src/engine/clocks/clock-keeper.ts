import { randomUUID } from 'node:crypto';
import { Instant } from '@sandpit/core';
import type { Registry } from '../../store/registry.js';
import type { ScaledClock } from './clock.js';

/** Less than the real second that a crash may lose: a heartbeat is durable only after a delay. */
const BEAT_MS = 750;

/** A saved clock: standing, or running since a moment of a session. */
interface Note {
  readonly now: Instant;
  readonly speed: number;
  /** The speed that settings gave it then. */
  readonly configured: number;
  readonly since?: { readonly session: string; readonly ms: number };
  /** Time of the note, by the wall clock of the database, ms; only in a cluster. */
  readonly wallMs?: number;
}

/** Where the positions of clocks are saved. */
type ClockNotes = Pick<Registry, 'setting' | 'saveSetting'>;

/** For clocks that end with the process, as those of ephemeral simulations do. */
export const NO_NOTES: ClockNotes = { setting: () => undefined, saveSetting: () => Promise.resolve() };

/** Position of a running clock: a line through simulated and real time (D202). */
export interface ClockLine {
  readonly now: Instant;
  readonly speed: number;
}

/**
 * Saves the positions of scaled clocks, so that they stand still while their server is down (D130). A note has the position and speed of a
 * clock; it is written when those change. After a crash, the progress since then follows from one heartbeat of the whole server: idle
 * clocks cost nothing, and no journal record.
 */
export class ClockKeeper {
  private readonly registry: ClockNotes;
  /** One start of the server. Its time is monotonic, in ms. */
  private readonly session = randomUUID();
  private readonly began = performance.now();
  private readonly running = new Set<string>();
  private heart: NodeJS.Timeout | undefined;

  /** The wall clock that all nodes of a cluster agree on, ms; absent = there is one node. */
  private readonly wallMs: (() => number) | undefined;

  constructor(registry: ClockNotes, wallMs?: () => number) {
    this.registry = registry;
    this.wallMs = wallMs;
  }

  /** Current position of a clock that another node runs; undefined when it was never noted. */
  lineOf(simulationId: string): ClockLine | undefined {
    const text = this.registry.setting(clockName(simulationId));
    if (text === undefined) return undefined;
    const { now, speed, since, wallMs } = JSON.parse(text) as Note;
    const passed = since === undefined || wallMs === undefined ? 0 : (this.wallMs?.() ?? wallMs) - wallMs;
    return { now: Instant.plusMs(now, Math.floor(Math.max(0, passed) * speed)), speed };
  }

  /** Last position and speed of a clock; undefined when it was never noted. A changed speed in the settings wins. */
  lastOf(
    simulationId: string,
    configured: number,
  ): { readonly now: Instant; readonly speed: number } | undefined {
    const text = this.registry.setting(clockName(simulationId));
    if (text === undefined) return undefined;
    const { now, speed, since, configured: before } = JSON.parse(text) as Note;
    const lived =
      since === undefined ? 0 : Number(this.registry.setting(aliveName(since.session)) ?? 0) - since.ms;
    return {
      now: Instant.plusMs(now, Math.floor(Math.max(0, lived) * speed)),
      speed: before === configured ? speed : configured,
    };
  }

  /** From here on the clock runs, at this speed. */
  async runs(simulationId: string, clock: ScaledClock): Promise<void> {
    this.running.add(simulationId);
    this.heart ??= setInterval(() => this.beat(), BEAT_MS).unref();
    await this.note(simulationId, clock, { session: this.session, ms: this.lifetime() });
  }

  /** The clock is stopped: its simulation is closed. */
  async stands(simulationId: string, clock: ScaledClock): Promise<void> {
    this.running.delete(simulationId);
    if (this.running.size === 0) {
      clearInterval(this.heart);
      this.heart = undefined;
    }
    await this.note(simulationId, clock);
  }

  private async note(simulationId: string, clock: ScaledClock, since?: Note['since']): Promise<void> {
    const { speed, configured } = clock;
    const wallMs = this.wallMs?.();
    const note: Note = {
      now: clock.now(),
      speed,
      configured,
      ...(since !== undefined && { since }),
      ...(wallMs !== undefined && { wallMs }),
    };
    await this.registry.saveSetting(clockName(simulationId), JSON.stringify(note));
  }

  private beat(): void {
    this.registry.saveSetting(aliveName(this.session), String(this.lifetime())).catch(() => {
      // The store does not accept writes: the next heartbeat retries.
    });
  }

  private lifetime(): number {
    return Math.floor(performance.now() - this.began);
  }
}

/** The name of the setting that stores the instant of a scaled clock. */
export const clockName = (simulationId: string): string => `clock/${simulationId}`;
const aliveName = (session: string): string => `alive/${session}`;
