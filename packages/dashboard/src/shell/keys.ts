/** The keyboard shortcuts, as the help lists them. */
export const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K', 'Search, or jump to a page, symbol, order or rule'],
  ['/', 'Search on this page'],
  ['b', 'Buy: open the ticket'],
  ['s', 'Sell: open the ticket'],
  ['Enter', 'In the ticket: to the button that states the order; again: place it'],
  ['Esc', 'Leave the ticket, a dialog or the details of an order'],
  ['← → ↑ ↓', 'Move the border between two parts of the trade page, or a line of the chart by a tick'],
  ['PgUp PgDn', 'Move a line of the chart by ten ticks'],
  ['?', 'This help'],
];
