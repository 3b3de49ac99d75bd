/** A table of any length: only the rows that are seen exist. */
import { Component, type TargetedEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { classOfCell, type Column } from './column.ts';
import { Title } from './title.tsx';

const ROW_PX = 34;
/** Height of a horizontal scroll bar and the borders. */
const SCROLLBAR_PX = 18;
/** Rows kept above and below the visible ones. */
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
  /** A change of the columns redraws every row. */
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
  const first = Math.max(0, Math.min(Math.floor(top / ROW_PX), rows.length) - MARGIN);
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
  return (
    <div
      class="table-box tall"
      style={{ maxHeight: `${(rows.length + 1) * ROW_PX + SCROLLBAR_PX}px` }}
      ref={box}
      onScroll={onScroll}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <table aria-rowcount={(total ?? rows.length) + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOfCell(column)}>
                <Title column={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <Gap rows={first} columns={columns.length} />}
          {rows.slice(first, last).map((row, index) => (
            <Line
              key={keyOf(row)}
              row={row}
              columns={columns as readonly Column<unknown>[]}
              name={classOf?.(row) ?? ''}
              index={first + index + 2}
            />
          ))}
          {last < rows.length && <Gap rows={rows.length - last} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  );
}

interface LineProps {
  readonly row: unknown;
  readonly columns: readonly Column<unknown>[];
  readonly name: string;
  readonly index: number;
}

/** One row. Its item is immutable, so that an unchanged row is not drawn again. */
class Line extends Component<LineProps> {
  override shouldComponentUpdate({ row, columns, name, index }: LineProps): boolean {
    const old = this.props;
    return row !== old.row || columns !== old.columns || name !== old.name || index !== old.index;
  }

  override render() {
    const { row, columns, name, index } = this.props;
    return (
      <tr class={name} aria-rowindex={index}>
        {columns.map((column) => (
          <td key={column.title} class={classOfCell(column)}>
            {column.cell(row)}
          </td>
        ))}
      </tr>
    );
  }
}

function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return (
    <tr aria-hidden="true" class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}
