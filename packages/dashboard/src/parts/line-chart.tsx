import { useEffect, useRef } from 'preact/hooks';
import { useClockMoves } from '../clock-moves.ts';
import { saveAs } from './save-as.ts';
import type { Line, Mark } from '../chart-data.ts';
import type { Drawing } from './drawing.ts';

/** Lines whose names fit into a low chart. */
const FEW = 6;

/** Lines over time. The library comes when the first chart is seen. */
export function LineChart({
  label,
  lines,
  below,
  marks = [],
  isFraction = false,
  picture,
}: {
  readonly label: string;
  readonly lines: readonly Line[];
  /** Fractions, in a pane of their own. */
  readonly below?: Line | undefined;
  readonly marks?: readonly Mark[];
  /** Values are fractions, shown as per cent. */
  readonly isFraction?: boolean;
  /** Name of the file that the chart can be saved as; absent = it cannot. */
  readonly picture?: string;
}) {
  // The names of many lines do not fit into a low chart.
  const isLarge = below !== undefined || lines.length > FEW;
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
    void drawing.current?.then((one) => one.lines(lines, marks, below, isFraction));
  });
  // A clock that was moved shows another stretch of time.
  useClockMoves(() => void drawing.current?.then((one) => one.refit()));
  const save = async (name: string): Promise<void> => {
    const canvas = (await drawing.current)?.picture();
    canvas?.toBlob((blob) => {
      if (blob !== null) saveAs(name, blob);
    });
  };
  return (
    <>
      <div class={isLarge ? 'chart large' : 'chart'} ref={box} role="img" aria-label={label} />
      {picture !== undefined && (
        <button type="button" class="quiet" onClick={() => void save(picture)}>
          Save as PNG
        </button>
      )}
    </>
  );
}
