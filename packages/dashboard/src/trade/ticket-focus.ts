/** Puts the keyboard into the ticket, also while the ticket loads: letters typed meanwhile go into it. */

/** Time after which a page without a ticket gets the keyboard back, ms. */
const LONGEST_MS = 10_000;

let wanted: { readonly typed: string; readonly untilMs: number } | undefined;
let take: ((typed: string) => void) | undefined;

export function focusTicket(): void {
  wanted = { typed: '', untilMs: performance.now() + LONGEST_MS };
  deliver();
}

/** Keeps a letter that is typed before the ticket is there; false if the keyboard is not waiting for the ticket. */
export function keepForTicket(key: string): boolean {
  if (wanted === undefined || key.length !== 1 || performance.now() > wanted.untilMs) return false;
  wanted = { ...wanted, typed: wanted.typed + key };
  return true;
}

/** Registers the ticket, which receives what was typed before. The returned function removes it. */
export function onTicketFocus(focus: (typed: string) => void): () => void {
  take = focus;
  deliver();
  return () => {
    take = undefined;
  };
}

function deliver(): void {
  if (take === undefined || wanted === undefined) return;
  const { typed } = wanted;
  wanted = undefined;
  take(typed);
}
