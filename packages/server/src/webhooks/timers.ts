/** Real time: retries and limits of deliveries go by it, whatever the clock of the simulation. */
export interface Timers {
  readonly nowMs: () => number;
  /** Calls once, after so many milliseconds. Returns how to call it off. */
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
