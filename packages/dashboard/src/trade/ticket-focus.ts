/** Focuses the order ticket, even while it is still loading. */
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
