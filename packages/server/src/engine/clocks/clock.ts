import { Instant } from '@sandpit/core';

export type ClockMode = 'wall' | 'manual' | 'scaled';

/** Source of a simulation's time. */
export interface Clock {
  readonly mode: ClockMode;
  /** Simulated seconds per real second; 0 for a manual clock. */
  readonly speed: number;
  now(): Instant;
}

/** Real time. */
export class WallClock implements Clock {
  readonly mode = 'wall';
  readonly speed = 1;
  readonly now: () => Instant;

  constructor(now: () => Instant) {
    this.now = now;
  }
}

/** Moves only on command. */
export class ManualClock implements Clock {
  readonly mode = 'manual';
  readonly speed = 0;
  private current: Instant;

  constructor(start: Instant) {
    this.current = start;
  }

  now(): Instant {
    return this.current;
  }

  moveTo(to: Instant): void {
    this.current = to;
  }
}

/** Runs `speed` times as fast as real time from where it was set, up to the last representable instant. Measured on the monotonic clock. */
export class ScaledClock implements Clock {
  readonly mode = 'scaled';
  /** The speed that settings gave it. */
  readonly configured: number;
  private base: Instant;
  private realBase = performance.now();
  private factor: number;

  constructor(start: Instant, configured: number, speed = configured) {
    this.base = start;
    this.configured = configured;
    this.factor = speed;
  }

  get speed(): number {
    return this.factor;
  }

  now(): Instant {
    const now = Instant.plusMs(this.base, Math.floor((performance.now() - this.realBase) * this.factor));
    return Instant.min(now, Instant.last);
  }

  moveTo(to: Instant): void {
    this.base = to;
    this.realBase = performance.now();
  }

  setSpeed(speed: number): void {
    this.moveTo(this.now());
    this.factor = speed;
  }
}

/** The clock of this simulation does not support the request. */
export class ClockRefused extends Error {
  override readonly name = 'ClockRefused';
}
