import { useEffect } from 'preact/hooks';
import { kindOfSymbol } from './option-legs.ts';
import { go, hrefOf, type DashboardRoute, setQuery } from './route.ts';

/** Within these a letter is typed or chooses something; it is no shortcut. */
const TAKES_KEYS =
  'input, select, textarea, form, [role=dialog], [role=menu], [role=listbox], [contenteditable]';

/**
 * `Ctrl K` or `⌘ K` opens the command palette, `/` the search of the page or the palette, `b` and `s` a ticket; Escape goes back. Shortcuts
 * of one letter do nothing inside a form or a dialog.
 */
export function useKeyboard(place: DashboardRoute, find: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        find();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const { target } = event;
      const isTyping = target instanceof HTMLElement && target.closest(TAKES_KEYS) !== null;
      if (event.key === 'Escape') {
        if (isTyping) return;
        else if (place.query.has('order')) setQuery({ order: undefined });
        return;
      }
      if (isTyping) return;
      if (event.key === '/') {
        const ofPage = document.querySelector<HTMLInputElement>('main input[type=search]');
        event.preventDefault();
        if (ofPage === null) find();
        else ofPage.focus();
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
