import type { Bar } from '@sandpit/protocol';
import { useEffect, useRef } from 'preact/hooks';
import type { Mark } from './chart-data.ts';
import type { Drawing } from './drawing.ts';

/** Bars with volume, fills as dots beside them. */
export function CandleChart({
  label,
  bars,
  marks,
}: {
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly marks: readonly Mark[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const drawing = useRef<Promise<Drawing>>();
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const begun = import('./drawing.ts').then((library) => new library.Drawing(element));
    drawing.current = begun;
    return () => void begun.then((one) => one.remove());
  }, []);
  useEffect(() => {
    void drawing.current?.then((one) => one.candles(bars, marks));
  }, [JSON.stringify([bars, marks])]);
  return <div class="chart large" ref={box} role="img" aria-label={label} />;
}
