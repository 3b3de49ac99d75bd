import { classOfCell, type Column, type Sort, sorted } from './column.ts';
import { Title } from './title.tsx';
import { VirtualTable } from './virtual-table.tsx';

/** Maximum number of rows drawn completely; of longer tables only visible rows are drawn. */
const FEW = 100;

/** A table, as high as its rows while they are few. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  isDense = false,
  sort,
  onSort,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** True for a table of many columns. */
  readonly isDense?: boolean;
  readonly sort?: Sort | undefined;
  /** Absent = the rows stay in their order. */
  readonly onSort?: (sort: Sort) => void;
}) {
  const shown = sorted(rows, columns, sort);
  if (rows.length > FEW) return <VirtualTable label={label} columns={columns} rows={rows} keyOf={keyOf} />;
  return (
    <div class={isDense ? 'table-box dense' : 'table-box'} tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                class={classOfCell(column)}
                aria-sort={sort?.by !== column.title ? undefined : sort.isDown ? 'descending' : 'ascending'}
              >
                {column.sortBy === undefined || onSort === undefined ? (
                  <Title column={column} />
                ) : (
                  <button
                    type="button"
                    class="sort"
                    onClick={() =>
                      onSort({
                        by: column.title,
                        isDown: sort?.by === column.title ? !sort.isDown : column.isNumber === true,
                      })
                    }
                  >
                    {column.title}
                    <span aria-hidden="true">
                      {sort?.by !== column.title ? '' : sort.isDown ? ' ▼' : ' ▲'}
                    </span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} class={classOfCell(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
