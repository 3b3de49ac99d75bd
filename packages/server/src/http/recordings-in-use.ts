/** Recordings that a tenant must not see, because it trades on them in a contest that is not over (D209). */
import { type OperationId, routes } from '@sandpit/protocol';
import type { SimulationConfig } from '../engine/configuration/simulation-config.js';
import type { SimulationEntries } from '../engine/directory/entries.js';
import { type Answer, refuseCoded } from './answer.js';
import type { Principal } from './auth.js';

/** Contests of one kind, such as all competitions. */
export interface Contests {
  /** True while a tenant has an entry in a contest on the recording that another tenant organizes and that is not over. */
  tradesOnRecording(tenantId: string): boolean;
}

type Caller = Pick<Principal, 'tenantId' | 'simulationId' | 'isEntry'>;

/** Operations on the simulation in their path that do not read it. */
const REMOVING: ReadonlySet<OperationId> = new Set(['deleteSimulation', 'deleteSnapshot']);

const IN_USE = refuseCoded(
  'RECORDING_IN_USE',
  'The tenant has entered a competition or evaluation on this recording: its own simulations of the recording are available once that is over',
  {},
);

/** True for simulations of the recording in `REPLAY_PATH`. */
const replays = ({ feed, liveRecording }: Pick<SimulationConfig, 'feed' | 'liveRecording'>): boolean =>
  feed === 'replay' && liveRecording !== true;

export class RecordingsInUse {
  readonly #entries: Pick<SimulationEntries, 'info'>;
  readonly #contests: readonly Contests[];

  constructor(entries: Pick<SimulationEntries, 'info'>, contests: readonly Contests[]) {
    this.#entries = entries;
    this.#contests = contests;
  }

  /** Reason why a tenant may not create or import a simulation with this feed; undefined if it may. */
  creationRefusal(tenantId: string, config: Parameters<typeof replays>[0]): Answer | undefined {
    return replays(config) && this.#isKept(tenantId) ? IN_USE : undefined;
  }

  /** Reason why a tenant may not read one of its simulations; undefined if it may, or if there is no such simulation. */
  readingRefusal(tenantId: string, simulationId: string): Answer | undefined {
    if (!this.#isKept(tenantId)) return undefined;
    const info = this.#entries.info(simulationId, tenantId);
    return info !== undefined && replays(info.config) ? IN_USE : undefined;
  }

  /** Reason why a caller may not use the simulation of its token; undefined if it may. The tokens of entries trade on the recording. */
  tokenRefusal({ tenantId, simulationId, isEntry }: Caller): Answer | undefined {
    return isEntry === true ? undefined : this.readingRefusal(tenantId, simulationId);
  }

  /** Reason why a caller may not perform an operation. `named`: the simulation in its path. */
  refusalOf(caller: Caller, id: OperationId, named?: string): Answer | undefined {
    if (named !== undefined && !REMOVING.has(id)) {
      const refusal = this.readingRefusal(caller.tenantId, named);
      if (refusal !== undefined) return refusal;
    }
    // Operations that create simulations or name them in their bodies check in their handlers.
    const isElsewhere = routes[id].access.about === 'none' || id === 'createAgentToken';
    return isElsewhere ? undefined : this.tokenRefusal(caller);
  }

  #isKept(tenantId: string): boolean {
    return this.#contests.some((contests) => contests.tradesOnRecording(tenantId));
  }
}
