/** JSON as a tree: searched, opened and closed by keys, each value copied alone or as an expression. */
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Json as JsonValue } from '../../json/json.ts';
import { valueAt } from '../../json/pointer.ts';
import { cutJson, expressionOf, type JsonRow, MOST_SHOWN_CHARACTERS, rowsOf } from '../data/json-rows.ts';
import { bytesText } from '../data/labels.ts';
import { Button } from './button.tsx';
import { CopyButton, download } from './copy.tsx';
import { Icon } from './icons.tsx';

interface JsonProps {
  readonly value: unknown;
  /** What it is, for screen readers and the name of the file: `output`. */
  readonly name: string;
  /** The expression of the whole, such as `steps.fetch.output`. Default: no expressions are offered. */
  readonly expression?: string | undefined;
  /** Containers up to this depth are open at first. Default: 2. */
  readonly openTo?: number;
}

const MOST_ROWS = 1_000;
const SEARCH_FROM = 8;

export function Json({ value, name, expression, openTo = 2 }: JsonProps) {
  const [search, setSearch] = useState('');
  const [flipped, setFlipped] = useState<ReadonlySet<string>>(new Set());
  const [selected, setSelected] = useState('');
  const [most, setMost] = useState(MOST_ROWS);
  const tree = useRef<HTMLDivElement>(null);
  const size = useMemo(() => (value === undefined ? 0 : JSON.stringify(value).length), [value]);
  const cut = useMemo(() => (size <= MOST_SHOWN_CHARACTERS ? { value, isCut: false } : cutJson(value)), [value, size]);
  const rows = useMemo(
    () => rowsOf(cut.value, (pointer, depth) => flipped.has(pointer) !== depth < openTo, search),
    [cut, flipped, search, openTo],
  );
  if (value === undefined) return <p class="dim">None.</p>;

  const at = Math.max(
    0,
    rows.findIndex(({ pointer }) => pointer === selected),
  );
  const current = rows[at];
  const flip = ({ pointer, isOpen }: JsonRow): void => {
    if (isOpen === undefined) return;
    const next = new Set(flipped);
    if (!next.delete(pointer)) next.add(pointer);
    setFlipped(next);
  };
  const choose = (row: JsonRow | undefined): void => {
    if (row === undefined) return;
    setSelected(row.pointer);
    tree.current?.querySelector<HTMLElement>(`[data-pointer="${CSS.escape(row.pointer)}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (current === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const parent = rows.findLast(({ depth }, index) => index < at && depth === current.depth - 1);
    const acts: { readonly [key: string]: () => void } = {
      ArrowDown: () => choose(rows[at + 1]),
      ArrowUp: () => choose(rows[at - 1]),
      ArrowRight: () => (current.isOpen === false ? flip(current) : choose(rows[at + 1])),
      ArrowLeft: () => (current.isOpen === true ? flip(current) : choose(parent)),
      Home: () => choose(rows[0]),
      End: () => choose(rows[Math.min(most, rows.length) - 1]),
      Enter: () => flip(current),
      ' ': () => flip(current),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  return (
    <div class="json">
      <div class="json-tools">
        {rows.length >= SEARCH_FROM || search !== '' ? (
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
          <CopyButton text={textOf(value, current)} what={current.depth === 0 ? name : `${current.path.at(-1)}`}>
            Copy
          </CopyButton>
        )}
        {expression === undefined || current === undefined ? null : (
          <CopyButton text={`{{ ${expressionOf(expression, current.path)} }}`} what="the expression">
            {'{{ }}'}
          </CopyButton>
        )}
      </div>
      {cut.isCut ? (
        <p class="notice">
          Only the first {bytesText(MOST_SHOWN_CHARACTERS)} of {bytesText(size)} are shown.{' '}
          <Button kind="link" onClick={() => download(`${name}.json`, JSON.stringify(value, null, 2))}>
            <Icon name="download" /> Download all
          </Button>
        </p>
      ) : null}
      <div class="json-tree" role="tree" aria-label={name} ref={tree} onKeyDown={onKeyDown}>
        {rows.slice(0, most).map((row, index) => (
          <Row
            key={row.pointer}
            row={row}
            isSelected={index === at}
            onSelect={() => setSelected(row.pointer)}
            onFlip={() => flip(row)}
          />
        ))}
      </div>
      {search !== '' && !rows.some(({ isFound }) => isFound) ? <p class="dim">Nothing was found.</p> : null}
      {rows.length > most ? (
        <Button onClick={() => setMost(most + MOST_ROWS)}>Show {Math.min(MOST_ROWS, rows.length - most)} more</Button>
      ) : null}
    </div>
  );
}

interface RowProps {
  readonly row: JsonRow;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
  readonly onFlip: () => void;
}

function Row({ row, isSelected, onSelect, onFlip }: RowProps) {
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
      class={row.isFound ? 'json-row found' : 'json-row'}
      ref={(element) => element?.style.setProperty('--depth', String(row.depth))}
      onFocus={onSelect}
      onClick={onFlip}
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
function textOf(root: unknown, { pointer, depth }: JsonRow): string {
  const found = valueAt(root as JsonValue, pointer);
  return typeof found === 'string' && depth > 0 ? found : (JSON.stringify(found, null, 2) ?? pointer);
}
