/** Real time for retries and limits of deliveries, independent of the simulation's clock. */
export interface Timers {
  readonly nowMs: () => number;
  /** Calls once, after this many milliseconds. Returns a function that cancels it. */
  readonly after: (ms: number, call: () => void) => () => void;
}

/** The machine's clock. Its timers keep no process alive. */
export const realTimers: Timers = {
  nowMs: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
