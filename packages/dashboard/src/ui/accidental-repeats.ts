/**
 * Ignores input that repeats by accident: an Enter key that is held down, and the further clicks of a double click on a button that submits a
 * form, is dangerous, acts on a row of a table or is inside `data-once`. Otherwise one slip would send twice, confirm an unread question, or
 * press the button that has taken the place of the first one.
 */
export function ignoreAccidentalRepeats(): void {
  const ignore = (event: Event): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener(
    'keydown',
    (event) => {
      // A text of several lines may be given empty ones.
      if (event.key === 'Enter' && event.repeat && !(event.target instanceof HTMLTextAreaElement))
        ignore(event);
    },
    { capture: true },
  );
  addEventListener(
    'click',
    (event) => {
      if (event.detail > 1 && event.target instanceof Element && event.target.closest(ONCE) !== null)
        ignore(event);
    },
    { capture: true },
  );
}

const ONCE = 'button[type=submit], button.danger, td button, [data-once] button';
