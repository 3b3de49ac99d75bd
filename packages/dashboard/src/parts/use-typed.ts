import { useState } from 'preact/hooks';

/**
 * Text of a field while it is typed, and how to set it. It follows `value` in the same drawing: an effect would run after the next letters
 * and overwrite them.
 */
export function useTyped(value: string): readonly [text: string, setText: (text: string) => void] {
  const [typed, setTyped] = useState({ text: value, value });
  const present = typed.value === value ? typed : { text: value, value };
  if (present !== typed) setTyped(present);
  return [present.text, (text) => setTyped({ text, value })];
}
