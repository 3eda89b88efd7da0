/** JSON as a tree with search and keyboard control. Each value can be copied, also as an expression. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Json as JsonValue } from '../../json/json.ts';
import { valueAt } from '../../json/pointer.ts';
import { bytesText } from '../data/format-text.ts';
import { expressionOf, type JsonRow, MAX_SHOWN_CHARACTERS, rowsOf, truncateJson } from '../data/json-rows.ts';
import { Button } from './button.tsx';
import { CopyButton, download } from './copy.tsx';
import { Icon } from './icons.tsx';

interface JsonTreeProps {
  readonly value: unknown;
  /** What it is, for screen readers and the name of the file: `output`. */
  readonly name: string;
  /** The expression of the full value, such as `steps.fetch.output`. Default: no expressions are offered. */
  readonly expression?: string | undefined;
  /** Containers up to this depth are open at first. Default: 2. */
  readonly openDepth?: number;
}

const ROWS_PER_PAGE = 1_000;
const MIN_ROWS_FOR_SEARCH = 8;

export function JsonTree({ value, name, expression, openDepth = 2 }: JsonTreeProps) {
  const [search, setSearch] = useState('');
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState('');
  const [visibleCount, setVisibleCount] = useState(ROWS_PER_PAGE);
  const tree = useRef<HTMLDivElement>(null);
  const size = useMemo(() => (value === undefined ? 0 : JSON.stringify(value).length), [value]);
  const truncated = useMemo(
    () => (size <= MAX_SHOWN_CHARACTERS ? { value, isTruncated: false } : truncateJson(value)),
    [value, size],
  );
  const rows = useMemo(
    () => rowsOf(truncated.value, (pointer, depth) => toggled.has(pointer) !== depth < openDepth, search),
    [truncated, toggled, search, openDepth],
  );
  if (value === undefined) return <p class="dim">None.</p>;

  const at = Math.max(
    0,
    rows.findIndex(({ pointer }) => pointer === selected),
  );
  const current = rows[at];
  const toggle = ({ pointer, isOpen }: JsonRow): void => {
    if (isOpen === undefined) return;
    const next = new Set(toggled);
    if (!next.delete(pointer)) next.add(pointer);
    setToggled(next);
  };
  const focusRow = (row: JsonRow | undefined): void => {
    if (row === undefined) return;
    setSelected(row.pointer);
    tree.current?.querySelector<HTMLElement>(`[data-pointer="${CSS.escape(row.pointer)}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (current === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const parent = rows.findLast(({ depth }, index) => index < at && depth === current.depth - 1);
    const keyActions: { readonly [key: string]: () => void } = {
      ArrowDown: () => focusRow(rows[at + 1]),
      ArrowUp: () => focusRow(rows[at - 1]),
      ArrowRight: () => (current.isOpen === false ? toggle(current) : focusRow(rows[at + 1])),
      ArrowLeft: () => (current.isOpen === true ? toggle(current) : focusRow(parent)),
      Home: () => focusRow(rows[0]),
      End: () => focusRow(rows[Math.min(visibleCount, rows.length) - 1]),
      Enter: () => toggle(current),
      ' ': () => toggle(current),
    };
    const act = keyActions[event.key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  return (
    <div class="json">
      <div class="json-tools">
        {rows.length >= MIN_ROWS_FOR_SEARCH || search !== '' ? (
          <input
            type="search"
            class="json-search"
            aria-label={`Search in ${name}`}
            placeholder="Search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        ) : null}
        <span class="grow" />
        {current === undefined ? null : (
          <CopyButton text={valueText(value, current)} what={current.depth === 0 ? name : `${current.path.at(-1)}`}>
            Copy
          </CopyButton>
        )}
        {expression === undefined || current === undefined ? null : (
          <CopyButton text={`{{ ${expressionOf(expression, current.path)} }}`} what="the expression">
            {'{{ }}'}
          </CopyButton>
        )}
      </div>
      {truncated.isTruncated ? (
        <p class="notice">
          Only the first {bytesText(MAX_SHOWN_CHARACTERS)} of {bytesText(size)} are shown.{' '}
          <Button kind="link" onClick={() => download(`${name}.json`, JSON.stringify(value, null, 2))}>
            <Icon name="download" /> Download all
          </Button>
        </p>
      ) : null}
      <div class="json-tree" role="tree" aria-label={name} ref={tree} onKeyDown={onKeyDown}>
        {rows.slice(0, visibleCount).map((row, index) => (
          <Row
            key={row.pointer}
            row={row}
            isSelected={index === at}
            onSelect={() => setSelected(row.pointer)}
            onToggle={() => toggle(row)}
          />
        ))}
      </div>
      {search !== '' && !rows.some(({ isMatch }) => isMatch) ? <p class="dim">Nothing was found.</p> : null}
      {rows.length > visibleCount ? (
        <Button onClick={() => setVisibleCount(visibleCount + ROWS_PER_PAGE)}>
          Show {Math.min(ROWS_PER_PAGE, rows.length - visibleCount)} more
        </Button>
      ) : null}
    </div>
  );
}

interface RowProps {
  readonly row: JsonRow;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  readonly onToggle: () => void;
}

function Row({ row, isSelected, onSelect, onToggle }: RowProps) {
  const name = row.path.at(-1);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree around it listens to the keys of all rows.
    <div
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={row.isOpen}
      aria-selected={isSelected}
      tabIndex={isSelected ? 0 : -1}
      data-pointer={row.pointer}
      class={row.isMatch ? 'json-row found' : 'json-row'}
      ref={(element) => element?.style.setProperty('--depth', String(row.depth))}
      onFocus={onSelect}
      onClick={onToggle}
    >
      <span class={row.isOpen === true ? 'twist open' : 'twist'}>
        {row.isOpen === undefined ? null : <Icon name="chevron" size={10} />}
      </span>
      {name === undefined ? null : <span class="json-key">{name}</span>}
      {name === undefined ? null : <span class="dim">: </span>}
      <span class={`json-${row.kind}`}>{row.text}</span>
    </div>
  );
}

/** The value of a row as text: texts as they are, others as JSON. */
function valueText(root: unknown, { pointer, depth }: JsonRow): string {
  const found = valueAt(root as JsonValue, pointer);
  return typeof found === 'string' && depth > 0 ? found : (JSON.stringify(found, null, 2) ?? pointer);
}
