import type { Quote } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { PerFrame } from '../load.ts';
import { followStream } from './stream.ts';

/** The latest quotes of some symbols, by symbol. */
export function useQuotes(symbols: readonly string[]): ReadonlyMap<string, Quote> {
  const broker = useBroker();
  const [quotes, setQuotes] = useState<ReadonlyMap<string, Quote>>(new Map());
  const asked = [...new Set(symbols)].sort().join(',');
  useEffect(() => {
    if (asked === '') return undefined;
    const latest = new Map<string, Quote>();
    const show = new PerFrame(() => setQuotes(new Map(latest)));
    const stop = followStream('quotes', (options) => broker.quoteEvents(asked.split(','), options), {
      onEvent: ({ eventId: _eventId, ...quote }) => {
        latest.set(quote.symbol, quote);
        show.ask();
      },
    });
    return () => {
      show.end();
      stop();
    };
  }, [broker, asked]);
  return quotes;
}
