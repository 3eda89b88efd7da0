import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly label: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
  /** Right, in digits of one width. */
  readonly isNumber?: boolean;
  /** Its cells say by themselves what they are: they have no label where rows are cards. */
  readonly isPlain?: boolean;
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

/** A table. Where the page is narrow each row is a card, with the labels of the columns before its cells. */
export function Table<Row>({ label, columns, rows, keyOf, current }: TableProps<Row>) {
  return (
    <section class="table" aria-label={label} tabIndex={-1}>
      <table>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={at} scope="col" class={classOf(column)}>
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
                {columns.map((column, at) => (
                  <td key={at} class={classOf(column)} data-label={labelOf(column)}>
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

const labelOf = ({ label, isPlain }: Pick<Column<never>, 'label' | 'isPlain'>): string | undefined =>
  typeof label === 'string' && isPlain !== true ? label : undefined;

const classOf = ({ isNumber, isExtra }: { readonly isNumber?: boolean; readonly isExtra?: boolean }): string =>
  `${isNumber === true ? 'number' : ''} ${isExtra === true ? 'extra' : ''}`.trim();
