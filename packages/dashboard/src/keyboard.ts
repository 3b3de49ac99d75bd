import { useEffect } from 'preact/hooks';
import { go, hrefOf, type Place } from './route.ts';

/** `/` to the search of the page, or to that of all, `b` and `s` to a ticket, Escape back. */
export function useKeyboard(place: Place): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const { target } = event;
      const isTyping =
        target instanceof HTMLElement && ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName);
      if (event.key === 'Escape') {
        if (isTyping) target.blur();
        else if (place.query.has('order') || place.path[0] === 'ticket') history.back();
        return;
      }
      if (isTyping) return;
      if (event.key === '/') {
        const ofPage = document.querySelector<HTMLInputElement>('main input[type=search]');
        event.preventDefault();
        (ofPage ?? document.querySelector<HTMLInputElement>('nav input[type=search]'))?.focus();
      } else if (event.key === 'b' || event.key === 's') {
        const [page, subject] = place.path;
        go(
          hrefOf(place.simulationId, 'ticket', {
            portfolio: page === 'portfolio' ? subject : (place.query.get('portfolio') ?? undefined),
            symbol: page === 'market' ? subject : (place.query.get('symbol') ?? undefined),
            intent: event.key === 'b' ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
          }),
        );
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [place]);
}
