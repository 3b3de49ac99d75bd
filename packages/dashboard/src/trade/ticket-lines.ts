/** The prices of a ticket as lines on the chart of its symbol. */
import { numberTyped } from '../format.ts';
import { setQuery } from '../route.ts';
import type { MovableMark, TicketLines } from './chart-lines.tsx';
import { onTick, tickAt, ticketAtLevel } from './levels.ts';
import type { MarketSide } from './market-side.ts';
import { openSymbol } from './open-symbol.ts';
import { PRICES, typeOfTicket } from './ticket-body.ts';

/**
 * The limit and the stop of a ticket. Moving the line of a limit or stop order across the market turns one into the other; those of a stop
 * limit order stay what they are. A ticket of another symbol, such as a contract on this one, has no line until one is begun.
 */
export function ticketLines(
  query: URLSearchParams,
  symbol: string,
  charted: string,
  isBuy: boolean,
  market: MarketSide,
  tickSize: number | undefined,
): TicketLines {
  const type = typeOfTicket(query);
  const isOwn = symbol === charted && !(query.get('legs') ?? '').includes(',');
  const marks = PRICES[type].flatMap((name): readonly MovableMark[] => {
    const value = name === 'trail' ? undefined : numberTyped(query.get(name) ?? '');
    if (!isOwn || value === undefined || !(value > 0)) return [];
    return [{ id: name, price: value, title: `Ticket: ${isBuy ? 'buy' : 'sell'} ${name}`, color: '--warm' }];
  });
  return {
    marks,
    onMove: (id, to) =>
      setQuery(
        type === 'LIMIT' || type === 'STOP'
          ? { ...ticketAtLevel(to, isBuy, market), at: undefined }
          : { [id]: to },
      ),
    onBegin: () => {
      const start = market.middle;
      if (!isOwn) openSymbol(charted);
      if (start === undefined) {
        setQuery({ type: 'LIMIT' });
        return;
      }
      setQuery({
        type: 'LIMIT',
        limit: onTick(start, tickAt(start, isOwn ? tickSize : undefined)),
        stop: undefined,
        trail: undefined,
        at: undefined,
      });
    },
  };
}
