import { useEffect } from 'preact/hooks';
import { kindOfSymbol } from './option-legs.ts';
import { go, hrefOf, type DashboardRoute, setQuery } from './route.ts';

/** To where one came from; somebody who came by a link goes to the overview. */
function back(simulationId: string): void {
  if (history.length > 1) history.back();
  else go(hrefOf(simulationId, ''));
}

/** `/` to the search of the page, or to that of all, `b` and `s` to a ticket, Escape back. */
export function useKeyboard(place: DashboardRoute): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { target } = event;
      const isTyping =
        target instanceof HTMLElement && ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName);
      if (event.key === 'Escape') {
        if (isTyping) target.blur();
        else if (place.query.has('order')) setQuery({ order: undefined });
        else if (place.path[0] === 'ticket') back(place.simulationId);
        return;
      }
      if (isTyping) return;
      if (event.key === '/') {
        const ofPage = document.querySelector<HTMLInputElement>('main input[type=search]');
        event.preventDefault();
        (ofPage ?? document.querySelector<HTMLInputElement>('nav input[type=search]'))?.focus();
      } else if (event.key === 'b' || event.key === 's') {
        const [page, subject] = place.path;
        const symbol = page === 'market' ? subject : (place.query.get('symbol') ?? undefined);
        go(
          hrefOf(place.simulationId, 'ticket', {
            portfolio: page === 'portfolio' ? subject : (place.query.get('portfolio') ?? undefined),
            symbol,
            kind: symbol === undefined ? undefined : kindOfSymbol(symbol.toUpperCase()),
            intent: event.key === 'b' ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
          }),
        );
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [place]);
}
