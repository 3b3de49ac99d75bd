import { useState } from 'preact/hooks';

/** Puts a text into the clipboard and says so. */
export function Copy({ name, text }: { readonly name: string; readonly text: string }) {
  const [said, setSaid] = useState('');
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => setSaid('copied'),
      () => setSaid('not allowed by the browser'),
    );
  };
  return (
    <span>
      <button type="button" class="quiet" onClick={copy}>
        {name}
      </button>{' '}
      <span role="status">{said}</span>
    </span>
  );
}
