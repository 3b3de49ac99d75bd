import { useRef } from 'preact/hooks';
import { price } from '../format.ts';

/** Direction in which a price has just moved. */
export const moveOf = (before: number | undefined, now: number | undefined): 'up' | 'down' | undefined =>
  before === undefined || now === undefined || before === now ? undefined : now > before ? 'up' : 'down';

/** A price that lights up when it moves, in the color of its direction. It stays still if the system prefers reduced motion. */
export function FlashingPrice({ value }: { readonly value: number | undefined }) {
  const seen = useRef<{ value: number | undefined; move: 'up' | 'down' | undefined; moves: number }>({
    value,
    move: undefined,
    moves: 0,
  });
  const move = moveOf(seen.current.value, value);
  if (move !== undefined) seen.current = { value, move, moves: seen.current.moves + 1 };
  else if (seen.current.value === undefined) seen.current.value = value;
  const { move: last, moves } = seen.current;
  // Another key begins the animation again.
  return (
    <span key={moves} class={last === undefined ? undefined : `flash flash-${last}`}>
      {price(value)}
    </span>
  );
}
