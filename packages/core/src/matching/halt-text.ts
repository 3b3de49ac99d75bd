import { formatNewYork } from '../calendar/new-york-time.js';
import { subjectOf } from '../instruments/halted-by.js';
import type { Instrument } from '../instruments/instrument.js';
import type { Halt } from '../market/halts.js';

/** The message of a halt, for the instrument of an order. */
export function haltText(instrument: Instrument, { reason, until }: Halt): string {
  const end = until === undefined ? '' : ` until ${formatNewYork(until)}`;
  return `trading in ${subjectOf(instrument)} is halted (${reason})${end}`;
}
