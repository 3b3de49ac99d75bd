/** Whether the ticket asks before it places an order. This browser remembers it. */
const KEY = 'sandpit-ask-before-placing';

export const asksBeforePlacing = (): boolean => localStorage.getItem(KEY) === 'yes';

export function keepAsking(isAsking: boolean): void {
  if (isAsking) localStorage.setItem(KEY, 'yes');
  else localStorage.removeItem(KEY);
}
