/** Puts the keyboard into the ticket, also where the ticket is still on its way. */
let isWanted = false;
let take: (() => void) | undefined;

export function focusTicket(): void {
  isWanted = true;
  take?.();
}

/** Registers a handler of the keyboard; the returned function removes it. */
export function onTicketFocus(focus: () => void): () => void {
  take = () => {
    isWanted = false;
    focus();
  };
  if (isWanted) take();
  return () => {
    take = undefined;
  };
}
