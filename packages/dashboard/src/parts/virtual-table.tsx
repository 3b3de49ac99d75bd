/** A table of any length: only the rows that are seen exist. */
import type { ComponentChildren, TargetedEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Left out on narrow screens. */
  readonly isSecondary?: boolean;
}

const ROW_PX = 34;
/** Rows kept above and below what is seen. */
const MARGIN = 12;

export function VirtualTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  classOf,
  onEnd,
  total,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly classOf?: (row: Row) => string;
  /** The last rows are near. */
  readonly onEnd?: () => void;
  readonly total?: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(top / ROW_PX) - MARGIN);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + MARGIN);
  const isNearEnd = last >= rows.length - 2 * MARGIN;
  useLayoutEffect(() => {
    if (isNearEnd) onEnd?.();
  }, [isNearEnd, rows.length]);
  const onScroll = ({ currentTarget }: TargetedEvent<HTMLDivElement>): void => {
    // A step of several rows is soon enough: the margin is there already.
    const at = currentTarget.scrollTop;
    if (Math.abs(at - top) >= (ROW_PX * MARGIN) / 2 || at === 0) setTop(at);
  };
  const widths = columns.length;
  return (
    <div class="table-box tall" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label={label}>
      <table aria-rowcount={(total ?? rows.length) + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ title, isNumber, isSecondary }) => (
              <th key={title} scope="col" class={classes(isNumber, isSecondary)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Gap rows={first} columns={widths} />}
          {rows.slice(first, last).map((row, index) => (
            <tr key={keyOf(row)} class={classOf?.(row) ?? ''} aria-rowindex={first + index + 2}>
              {columns.map(({ title, cell, isNumber, isSecondary }) => (
                <td key={title} class={classes(isNumber, isSecondary)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {last < rows.length && <Gap rows={rows.length - last} columns={widths} />}
        </tbody>
      </table>
    </div>
  );
}

function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}

const classes = (isNumber = false, isSecondary = false): string =>
  `${isNumber ? 'number' : ''}${isSecondary ? ' secondary' : ''}`;
