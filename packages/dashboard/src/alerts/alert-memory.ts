/** Alerts and events that this browser has announced, by simulation, and the kinds of events that it announces. */
import { KINDS, type Kind } from './alert-events.ts';

const KEY = 'sandpit-alerts';
/** Firings that are remembered of a simulation: more than it has alerts. */
const MOST = 400;

interface Memory {
  /** Firings that were announced, and those that the page Alerts has shown. */
  readonly told: readonly string[];
  readonly seen: readonly string[];
  /** Simulated time up to which other events were told; absent before the first visit. */
  readonly until?: string;
}

interface Kept {
  readonly off?: readonly Kind[];
  readonly simulations?: Readonly<Record<string, Memory>>;
}

const NOTHING: Memory = { told: [], seen: [] };

function read(): Kept {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as unknown;
    return typeof kept === 'object' && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

const write = (kept: Kept): void => localStorage.setItem(KEY, JSON.stringify(kept));

export const memoryOf = (simulationId: string): Memory => ({
  ...NOTHING,
  ...read().simulations?.[simulationId],
});

export function remember(simulationId: string, change: Partial<Memory>): void {
  const kept = read();
  const before = { ...NOTHING, ...kept.simulations?.[simulationId] };
  const after = { ...before, ...change };
  const memory = { ...after, told: after.told.slice(-MOST), seen: after.seen.slice(-MOST) };
  write({ ...kept, simulations: { ...kept.simulations, [simulationId]: memory } });
}

/** True when the user wants to be told of a kind of events. */
export const isTold = (kind: Kind): boolean => read().off?.includes(kind) !== true;

export function tell(kind: Kind, isOn: boolean): void {
  const kept = read();
  write({ ...kept, off: KINDS.filter((one) => (one === kind ? !isOn : kept.off?.includes(one) === true)) });
}
