/** A word of the trade, with its explanation on hover or focus and the page of its rule on a click. */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { openPage } from './rule.tsx';
import type { TermName } from './terms.ts';
import './term.css';

/** Pause of the pointer on the word before the explanation appears. */
const PAUSE_MS = 250;
/** Free space between the explanation and the word, and to the edges of the window. */
const SPACE_PX = 6;

/** The words are loaded when the first one is asked for. */
const explanationOf = async (name: TermName) => (await import('./terms.ts')).TERMS[name];

export function Term({ name, children }: { readonly name: TermName; readonly children: string }) {
  const id = useId();
  const word = useRef<HTMLButtonElement>(null);
  const pause = useRef<ReturnType<typeof setTimeout>>();
  const [text, setText] = useState<string>();
  const isWanted = useRef(false);
  const show = (): void => {
    isWanted.current = true;
    void explanationOf(name).then((found) => {
      if (isWanted.current) setText(found.text);
    });
  };
  const hide = (): void => {
    isWanted.current = false;
    clearTimeout(pause.current);
    setText(undefined);
  };
  useEffect(() => hide, []);
  return (
    <span
      class="term-box"
      onPointerEnter={({ pointerType }) => {
        if (pointerType === 'mouse') pause.current = setTimeout(show, PAUSE_MS);
      }}
      onPointerLeave={hide}
    >
      <button
        ref={word}
        type="button"
        class="term"
        aria-describedby={text === undefined ? undefined : id}
        onFocus={show}
        onBlur={hide}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || text === undefined) return;
          event.stopPropagation();
          hide();
        }}
        onClick={() => {
          hide();
          void explanationOf(name).then(openPage);
        }}
      >
        {children}
      </button>
      {text !== undefined && <Explanation id={id} word={word.current} text={text} onScroll={hide} />}
    </span>
  );
}

/** The explanation above everything, below the word or, without space there, over it. */
function Explanation({
  id,
  word,
  text,
  onScroll,
}: {
  readonly id: string;
  readonly word: HTMLElement | null;
  readonly text: string;
  readonly onScroll: () => void;
}) {
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null || word === null) return undefined;
    element.showPopover();
    const { left, top, bottom } = word.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const isBelow = bottom + SPACE_PX + height <= innerHeight;
    const farthest = innerWidth - width - SPACE_PX;
    element.style.left = `${Math.max(SPACE_PX, Math.min(left, farthest))}px`;
    element.style.top = `${isBelow ? bottom + SPACE_PX : top - SPACE_PX - height}px`;
    addEventListener('scroll', onScroll, { capture: true, once: true });
    return () => removeEventListener('scroll', onScroll, { capture: true });
  }, []);
  return (
    <span ref={box} id={id} role="tooltip" class="tooltip" popover="manual">
      {text}
    </span>
  );
}
