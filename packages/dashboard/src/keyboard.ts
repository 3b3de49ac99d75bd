import { useEffect } from 'preact/hooks';
import { go, hrefOf, type DashboardRoute, setQuery } from './route.ts';
import { focusTicket, keepForTicket } from './trade/ticket-focus.ts';

/** Elements that handle letters themselves; no shortcuts there. */
const TAKES_KEYS =
  'input, select, textarea, form, [role=dialog], [role=menu], [role=listbox], [contenteditable]';

/**
 * `Ctrl K` or `⌘ K` opens the command palette, `/` the search of the page or the palette, `b` and `s` a ticket, `?` the help; Escape goes back. Shortcuts
 * of one letter do nothing inside a form or a dialog.
 */
export function useKeyboard(place: DashboardRoute, find: () => void, help: () => void): void {
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
        if (!isTyping && place.query.has('order')) setQuery({ order: undefined });
        return;
      }
      if (isTyping) return;
      if (keepForTicket(event.key)) {
        event.preventDefault();
        return;
      }
      if (event.key === '?') {
        event.preventDefault();
        help();
      } else if (event.key === '/') {
        const ofPage = document.querySelector<HTMLInputElement>('main input[type=search]');
        event.preventDefault();
        if (ofPage === null) find();
        else ofPage.focus();
      } else if (event.key === 'b' || event.key === 's') {
        event.preventDefault();
        const [page, subject] = place.path;
        const side = event.key === 'b' ? 'BUY' : 'SELL';
        if (page === 'trade') setQuery({ side, show: place.query.get('show') ?? undefined });
        else {
          const symbol = place.query.get('symbol') ?? '';
          const portfolio = page === 'portfolio' ? subject : (place.query.get('portfolio') ?? undefined);
          const path = symbol === '' ? 'trade' : `trade/${encodeURIComponent(symbol.toUpperCase())}`;
          go(hrefOf(place.simulationId, path, { portfolio, side }));
        }
        focusTicket();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [place]);
}
