import { price, quantity } from '../format.ts';
import { useQuotes } from '../live/quotes.ts';

/** Bid and ask of the moment. */
export function QuoteStrip({ symbol }: { readonly symbol: string }) {
  const quote = useQuotes(symbol === '' ? [] : [symbol]).get(symbol);
  if (symbol === '') return null;
  if (quote === undefined) return <p class="dim">No quote for {symbol} yet.</p>;
  return (
    <p class="row" aria-label="Quote">
      <strong>{symbol}</strong>
      <span class="down">
        bid {price(quote.bid)}
        {quote.bidSize !== undefined && ` × ${quantity(quote.bidSize)}`}
      </span>
      <span class="up">
        ask {price(quote.ask)}
        {quote.askSize !== undefined && ` × ${quantity(quote.askSize)}`}
      </span>
      {quote.last !== undefined && <span class="dim">last {price(quote.last)}</span>}
    </p>
  );
}
