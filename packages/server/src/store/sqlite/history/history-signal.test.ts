import { describe, expect, it } from 'vitest';
import { HistorySignal } from './history-signal.js';

/** A wait of this length is a failure. */
const LONG_MS = 60_000;

describe('awaitRecords', () => {
  it('returns at once when enough records are durable', () => {
    const signal = new HistorySignal();
    const since = signal.committedRecords;
    signal.committed(2);
    signal.committed(1);
    const began = performance.now();
    signal.awaitRecords(3, since, LONG_MS);
    expect(performance.now() - began).toBeLessThan(LONG_MS / 10);
  });

  it('returns at once when a read waits', () => {
    const signal = new HistorySignal();
    signal.hurry();
    const began = performance.now();
    signal.awaitRecords(3, signal.committedRecords, LONG_MS);
    expect(performance.now() - began).toBeLessThan(LONG_MS / 10);
  });
});
