import { useState } from 'preact/hooks';

/** Copies a text to the clipboard and confirms it. */
export function Copy({
  name,
  of,
  text,
}: {
  readonly name: string;
  /** Name of the copied text for screen readers, when the name alone is not clear. */
  readonly of?: string;
  readonly text: string;
}) {
  const [said, setSaid] = useState('');
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setSaid('copied'),
      () => setSaid('not allowed by the browser'),
    );
  };
  return (
    <span>
      <button type="button" class="quiet" onClick={copy} aria-label={of && `${name} ${of}`}>
        {name}
      </button>{' '}
      <span role="status">{said}</span>
    </span>
  );
}
