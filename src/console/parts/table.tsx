import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly name: string;
  readonly label: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
  /** Right, in digits of one width. */
  readonly isNumber?: boolean;
  /** Left out where the page is narrow. */
  readonly isExtra?: boolean;
}

interface TableProps<Row> {
  /** What the table lists, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The row that keys act on. */
  readonly current?: string | undefined;
}

/** A table that scrolls sideways where it is wider than the page. */
export function Table<Row>({ label, columns, rows, keyOf, current }: TableProps<Row>) {
  return (
    <section class="table" aria-label={label} tabIndex={-1}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            return (
              <tr key={key} data-key={key} class={key === current ? 'current' : ''}>
                {columns.map((column) => (
                  <td key={column.name} class={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

const classOf = ({ isNumber, isExtra }: { readonly isNumber?: boolean; readonly isExtra?: boolean }): string =>
  `${isNumber === true ? 'number' : ''} ${isExtra === true ? 'extra' : ''}`.trim();
