import type { Store } from '../store/store.js';

const WRITES: ReadonlySet<string | symbol> = new Set([
  'append',
  'createSimulation',
  'deleteSimulation',
  'saveSetting',
  'deleteSetting',
]);

type KillAt = (name: string, count: number, payload: string | undefined) => boolean;

/** A store that a process writes to until it is killed: no later write arrives, and none is answered. */
export function killable(store: Store): {
  readonly store: Store;
  /**
   * Kills the process at a write: the first one from now on for which `isIt` is true. `name`: of the setting or the simulation that is
   * written, else of the method; `payload`: of a record.
   */
  killAt(isIt: KillAt): Promise<void>;
} {
  let isDead = false;
  let count = 0;
  let isIt: KillAt = () => false;
  let killed: () => void = () => undefined;
  const never = new Promise(() => undefined);
  const failing = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (!WRITES.has(name)) return (value as (...given: unknown[]) => unknown).apply(target, args);
          count += 1;
          const about = typeof args[0] === 'string' ? args[0] : String(name);
          const { payload } = (args[0] ?? {}) as { readonly payload?: string };
          if (!isDead && isIt(about, count, payload)) {
            isDead = true;
            killed();
          }
          return isDead ? never : (value as (...given: unknown[]) => unknown).apply(target, args);
        };
      },
    });
  const parts = { journal: failing(store.journal), registry: failing(store.registry) };
  return {
    store: new Proxy(store, {
      get: (target, name) =>
        Object.hasOwn(parts, name)
          ? parts[name as keyof typeof parts]
          : (Reflect.get(target, name, target) as unknown),
    }),
    killAt(wanted) {
      count = 0;
      isIt = wanted;
      return new Promise((resolve) => (killed = resolve));
    },
  };
}
