/** Two texts side by side. Loaded by those screens only that compare. */
import { useMemo } from 'preact/hooks';
import { rowsIn, type Side, sidesOf } from '../data/sides.ts';

export type DiffProps =
  | { readonly label: string; readonly before: string; readonly after: string }
  | { readonly label: string; readonly unified: string };

/** Two texts side by side. Below 700 px one below the other would be longer than anybody reads: it scrolls. */
export function SideBySide(props: DiffProps) {
  const { label } = props;
  const given = 'unified' in props ? props.unified : `${props.before}\0${props.after}`;
  const rows = useMemo(
    () => ('unified' in props ? rowsIn(props.unified) : sidesOf(props.before, props.after)),
    [given],
  );
  if (rows.length === 0) return <p class="dim">Both are the same.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, also by the keyboard.
    <section class="diff" aria-label={label} tabIndex={0}>
      <table>
        <colgroup>
          <col class="line" />
          <col />
          <col class="line" />
          <col />
        </colgroup>
        <thead class="hidden">
          <tr>
            <th scope="col">Line before</th>
            <th scope="col">Before</th>
            <th scope="col">Line after</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) =>
            row.kind === 'gap' ? (
              <tr class="gap">
                <td colSpan={4}>{row.count} lines are the same</td>
              </tr>
            ) : (
              <tr>
                <Cells side={row.before} look={row.kind === 'changed' ? 'removed' : ''} />
                <Cells side={row.after} look={row.kind === 'changed' ? 'added' : ''} />
              </tr>
            ),
          )}
        </tbody>
      </table>
    </section>
  );
}

const Cells = ({ side, look }: { readonly side: Side | undefined; readonly look: '' | 'removed' | 'added' }) => (
  <>
    <td class="line">{side?.number ?? ''}</td>
    <td class={side === undefined ? 'none' : look}>
      {side === undefined ? '' : `${look === 'removed' ? '− ' : look === 'added' ? '+ ' : '  '}${side.text}`}
    </td>
  </>
);
