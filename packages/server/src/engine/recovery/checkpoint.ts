import { calendarById, finish, KnownInstruments, stateHash, stateToSave } from '@sandpit/core';
import type { Rules } from '@sandpit/core';
import type { CheckpointMaking } from '../../store/checkpoints.js';
import { forkRowsOf, RowCollector } from '../../store/history/collect-rows.js';
import { applyRecord, collectRecord, startingFrom } from './recovery.js';
import { originOf } from '../configuration/simulation-config.js';
import type { KeptConfig } from '../configuration/simulation-config.js';
import { linesOf } from './state-lines.js';

const NOTHING_LISTED = new KnownInstruments({ instruments: [] });

/** Recovery ahead of time. Events are applied without reading any rule, except for due times. */
export const standbyFrom: CheckpointMaking['standbyFrom'] = (config, before) => {
  const kept = JSON.parse(config) as KeptConfig;
  const origin = originOf(kept);
  const rules: Rules = {
    ...origin.rules,
    calendar: calendarById(kept.calendar),
    quoteMaxAgeMs: undefined,
    brokers: new Map(),
    instruments: NOTHING_LISTED,
  };
  const start = finish(startingFrom(before, rules, origin));
  const { brokerage } = start;
  let { seq } = start;
  let rows: RowCollector | undefined;
  return {
    get seq() {
      return seq;
    },
    apply(records) {
      for (const record of records) {
        if (rows === undefined) applyRecord(brokerage, record);
        else collectRecord(brokerage, rows, record);
        seq = record.seq;
      }
    },
    collect() {
      rows = new RowCollector(brokerage.state, seq);
    },
    takeRows: () => rows?.take(),
    forkRows: () => forkRowsOf(brokerage.state),
    stateHash: () => stateHash(brokerage.state),
    checkpoint: () => ({ seq, lines: linesOf(stateToSave(brokerage.state)) }),
  };
};
