/** The setting *Ask before placing* of the ticket, stored in this browser. */
const KEY = 'sandpit-ask-before-placing';

export const asksBeforePlacing = (): boolean => localStorage.getItem(KEY) === 'yes';

export function keepAsking(isAsking: boolean): void {
  if (isAsking) localStorage.setItem(KEY, 'yes');
  else localStorage.removeItem(KEY);
}
