import { calendarById, KnownInstruments, saveState } from '@sandpit/core';
import type { Rules } from '@sandpit/core';
import type { CheckpointMaking } from '../store/checkpoints.js';
import { recoverFrom } from './recovery.js';
import type { KeptConfig } from './simulations.js';
import { linesOf } from './state-lines.js';

const NOTHING_LISTED = new KnownInstruments({ instruments: [] });

/** Recovery ahead of time. What was decided is applied without asking for a rule, but for when things are due. */
export const checkpointOf: CheckpointMaking['checkpointOf'] = (config, before, records) => {
  const kept = JSON.parse(config) as KeptConfig;
  const rules: Rules = {
    ...kept.rules,
    calendar: calendarById(kept.calendar),
    quoteMaxAgeMs: undefined,
    brokers: new Map(),
    instruments: NOTHING_LISTED,
  };
  const { brokerage, seq } = recoverFrom(before, records, rules, kept);
  return { seq, lines: linesOf(saveState(brokerage.state)) };
};
