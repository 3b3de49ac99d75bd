import { isOrderPlaced } from '@sandpit/core';
import type { Command, Event, Quote } from '@sandpit/core';
import type { JournalRecord } from '../../store/journal.js';

type Of<Type extends Command['type']> = Extract<Command, { readonly type: Type }>;

/** A command as stored in records: without data that the events of the same record contain. */
export type RecordedCommand =
  | Exclude<Command, Of<'SubmitOrder'> | Of<'UpdateMarket'>>
  | Pick<Of<'SubmitOrder'>, 'type' | 'agent'>
  /** Refused by the caps of an agent or by a script: no event contains the order. */
  | Of<'SubmitOrder'>
  | (Of<'UpdateMarket'> & { readonly pushed: false })
  | (Pick<Of<'UpdateMarket'>, 'type'> & { readonly pushed: true });

/** A journal record's payload. */
export interface Payload {
  readonly command: RecordedCommand;
  readonly quotes?: readonly Quote[];
  /** Last applied record of the market's journal, unless earlier records contain it already. */
  readonly market?: number;
  readonly events: readonly Event[];
}

/** The text of a record: a command, the quotes that its decision read, and its events. */
export function recordText(
  command: Command,
  quotes: readonly Quote[],
  events: readonly Event[],
  market?: number,
): string {
  const recorded = recordedAs(command, events);
  if (market !== undefined)
    return JSON.stringify({ command: recorded, ...(quotes.length > 0 && { quotes }), market, events });
  return JSON.stringify(
    quotes.length === 0 ? { command: recorded, events } : { command: recorded, quotes, events },
  );
}

function recordedAs(command: Command, [first]: readonly Event[]): RecordedCommand {
  switch (command.type) {
    case 'SubmitOrder': {
      const { type, agent } = command;
      if (first === undefined || !isOrderPlaced(first)) return command;
      return agent === undefined ? { type } : { type, agent };
    }
    case 'UpdateMarket': {
      const { type, pushed } = command;
      return pushed ? { type, pushed } : { ...command, pushed };
    }
    default:
      return command;
  }
}

export const payloadOf = (record: Pick<JournalRecord, 'payload'>): Payload =>
  JSON.parse(record.payload) as Payload;

/** The original command of a record. */
export function commandOf({ command, events }: Payload): Command {
  switch (command.type) {
    case 'SubmitOrder':
      return 'order' in command ? command : submitOrderOf(command, events);
    case 'UpdateMarket':
      return command.pushed ? { ...command, quotes: events.flatMap(quotesOf) } : command;
    default:
      return command;
  }
}

function submitOrderOf(
  { agent }: Pick<Of<'SubmitOrder'>, 'agent'>,
  [placed]: readonly Event[],
): Of<'SubmitOrder'> {
  if (placed === undefined || !isOrderPlaced(placed))
    throw new Error('The record of an order does not begin with it');
  const { type, tier, request } = placed;
  return {
    type: 'SubmitOrder',
    by: { tier },
    order: request,
    // Decides nothing for an order that was accepted.
    ...(type === 'OrderRejected' && { recordRefusal: true }),
    ...(agent !== undefined && { agent }),
  };
}

const quotesOf = (event: Event): readonly Quote[] => (event.type === 'QuotesPushed' ? event.quotes : []);
