import { Instant } from '@sandpit/core';
import type { Quote } from '@sandpit/core';
import type { Feed, MarketEvent } from '../../feeds/feed.js';
import type { JournalRecords } from '../../store/journal.js';
import { payloadOf } from './record-text.js';

/** The quotes in the records of a live simulation, compared with a recording of its feed (D185). */
export interface RecordingComparison {
  /** Quotes that the recording has as the decisions read them. */
  readonly matching: number;
  /** Quotes outside of the recorded period of their symbols. */
  readonly outside: number;
  readonly differences: readonly string[];
}

/** Differences after which further comparison is not useful. */
const ENOUGH = 10;
/** Quotes of a symbol that are remembered: a decision reads the latest one of its moment. */
const REMEMBERED = 256;

/** The latest quotes of a symbol in the recording. */
interface RecordedSymbol {
  readonly firstAt: Instant;
  latestAt: Instant;
  readonly quotes: string[];
}

async function* eventsOf(recording: Feed): AsyncGenerator<MarketEvent> {
  yield* recording.events(Instant.earliest, Instant.last, new Set());
}

/** Looks up each quote that a decision read in a recording of the feed. Both are read once, in order. */
export async function compareQuotes(journal: JournalRecords, recording: Feed): Promise<RecordingComparison> {
  const events = eventsOf(recording);
  const recorded = new Map<string, RecordedSymbol>();
  let next = await events.next();
  let matching = 0;
  let outside = 0;
  const differences: string[] = [];
  for await (const record of journal) {
    const { command, quotes = [] } = payloadOf(record);
    const told = command.type === 'UpdateMarket' && !command.pushed ? command.quotes : [];
    const read = [...told, ...quotes];
    if (read.length === 0) continue;
    for (; next.done !== true && next.value.at <= record.at; next = await events.next())
      for (const quote of next.value.quotes) remember(recorded, quote);
    for (const quote of read) {
      const own = recorded.get(quote.symbol);
      if (own === undefined || quote.at < own.firstAt || quote.at > own.latestAt) outside += 1;
      else if (own.quotes.includes(textOf(quote))) matching += 1;
      else
        differences.push(
          `record ${record.seq}: the recording does not have ${quote.symbol} ${textOf(quote)}`,
        );
    }
    if (differences.length >= ENOUGH) break;
  }
  await events.return(undefined);
  return { matching, outside, differences };
}

function remember(recorded: Map<string, RecordedSymbol>, quote: Quote): void {
  const own = recorded.get(quote.symbol);
  if (own === undefined) {
    recorded.set(quote.symbol, { firstAt: quote.at, latestAt: quote.at, quotes: [textOf(quote)] });
    return;
  }
  own.latestAt = Instant.max(own.latestAt, quote.at);
  own.quotes.push(textOf(quote));
  if (own.quotes.length > 2 * REMEMBERED) own.quotes.splice(0, REMEMBERED);
}

const textOf = ({ bid, ask, at }: Quote): string => `${bid ?? 'none'} to ${ask ?? 'none'} of ${at}`;
