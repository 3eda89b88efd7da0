/** The editor of a workflow: its text, and beside it its graph. The text is the truth. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DraftGraph } from '../../gateway/answers/workflows.ts';
import { isObject, type JsonObject } from '../../json/json.ts';
import { request } from '../data/api.ts';
import type { Owner } from '../data/draft-keys.ts';
import { absoluteText, counted } from '../data/labels.ts';
import { useGet, useResource } from '../data/resource.ts';
import { useMay, useMe } from '../data/session.ts';
import type { DryRun, ProblemItem, Validation } from '../data/types.ts';
import { GraphBox } from '../graph/zoom.tsx';
import { Button } from '../parts/button.tsx';
import { To } from '../parts/link.tsx';
import { Loaded } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { Tabs } from '../parts/tabs.tsx';
import type { Place } from '../routes.ts';
import { type Draft, draftsOf, forgetDraft, keepDraft } from './drafts.ts';
import { mediaOf } from './media.ts';
import {
  lineAt,
  type ParsedText,
  parsedOf,
  pointerOfStep,
  rangeAt,
  rangeOfProblem,
  stepAt,
  stepOfPointer,
  valueIn,
} from './places.ts';
import { SaveDialog } from './save.tsx';
import { readStored, type Stored } from './stored.ts';
import { type Mark, TextEditor, type TextHandle } from './text-editor.tsx';
import { sumsOf, Try } from './try.tsx';
import './editor.css';

const GRAPH_MS = 300;
const CHECK_MS = 500;
const CURSOR_MS = 150;
const DRAFT_MS = 400;

export function EditorScreen({ place }: { readonly place: Place<'editor'> }) {
  const { slug } = place.params;
  const stored = useResource(`stored ${slug}`, (signal) => readStored(slug, signal));
  const me = useMe();
  if (stored.data !== undefined && me !== undefined)
    return <Editing key={slug} slug={slug} first={stored.data} owner={me} />;
  return (
    <Screen title={`Edit ${slug}`}>
      <Loaded resource={stored} what="the text">
        {() => null}
      </Loaded>
    </Screen>
  );
}

/** The value once it has not changed for so long. */
function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

interface Found extends ProblemItem {
  readonly severity: 'error' | 'warning';
}

interface EditingProps {
  readonly slug: string;
  /** What was stored when the editor was opened. What others store meanwhile is seen when saving. */
  readonly first: Stored;
  /** Whose drafts the browser keeps. */
  readonly owner: Owner;
}

function Editing({ slug, first, owner }: EditingProps) {
  const [base, setBase] = useState(first);
  const [kept, setKept] = useState<readonly Draft[]>(() =>
    draftsOf(owner, slug, localStorage).filter(({ tag, text }) => tag !== first.tag || text !== first.text),
  );
  const restored = kept.find(({ tag }) => tag === first.tag);
  const initial = useRef(restored?.text ?? first.text).current;
  const [text, setText] = useState(initial);
  const [selected, setSelected] = useState<string>();
  const [side, setSide] = useState<'graph' | 'try'>('graph');
  const [isSaving, setSaving] = useState(false);
  const [isDraftKept, setDraftKept] = useState(true);
  const [walked, setWalked] = useState<{ readonly run: DryRun; readonly text: string }>();
  const may = useMay('editor');
  const isProposal = !may && base.tag !== '';
  const handle = useRef<TextHandle>(undefined);
  const textNow = useRef(text);
  textNow.current = text;

  const schema = useGet<JsonObject>('/schema.json');
  const drawnText = useSettled(text, GRAPH_MS);
  const drawn = useResource(`graph ${drawnText}`, (signal) =>
    sendText<DraftGraph>('/api/workflows/graph', drawnText, base, signal),
  );
  const checkedText = useSettled(text, CHECK_MS);
  const checked = useResource(`check ${checkedText}`, (signal) =>
    sendText<Validation>('/api/workflows/validate', checkedText, base, signal),
  );
  const parsed = useMemo(() => parsedOf(checkedText), [checkedText]);
  const isChecked = checkedText === text && !checked.isLoading;
  const found = useMemo(
    () => foundIn(checked.data, checked.problem?.problems, parsed, slug),
    [checked.data, checked.problem, parsed],
  );
  const marks = useMemo(() => found.map((one) => markOf(one, parsed)), [found]);
  const onGraph = useMemo(() => stepMarks(found, parsed), [found]);
  const value = useMemo(() => valueIn(parsedOf(drawnText)), [drawnText]);
  const sums = useMemo(
    () => (walked === undefined || walked.text !== text ? undefined : sumsOf(walked.run)),
    [walked, text],
  );
  const errors = found.filter(({ severity }) => severity === 'error').length;

  const draftText = useSettled(text, DRAFT_MS);
  useEffect(() => {
    if (draftText !== textNow.current) return;
    if (draftText === base.text) {
      forgetDraft(owner, slug, base.tag, localStorage);
      setDraftKept(true);
    } else {
      const draft = { tag: base.tag, text: draftText, at: new Date().toISOString() };
      setDraftKept(keepDraft(owner, slug, draft, localStorage));
    }
  }, [draftText, base]);

  const cursor = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(cursor.current), []);
  const onCursor = (offset: number): void => {
    clearTimeout(cursor.current);
    cursor.current = setTimeout(() => {
      const step = stepAt(parsedOf(textNow.current), offset);
      if (step !== undefined) setSelected(step);
    }, CURSOR_MS);
  };
  const showStep = (step: string): void => {
    setSelected(step);
    const now = parsedOf(textNow.current);
    const pointer = pointerOfStep(now, step);
    if (pointer !== undefined) handle.current?.show(rangeAt(now, pointer, 'key'));
  };
  const dropDraft = (draft: Draft): void => {
    forgetDraft(owner, slug, draft.tag, localStorage);
    setKept(kept.filter((one) => one !== draft));
    if (draft.tag === base.tag) handle.current?.replace(base.text);
  };
  /** After saving: the text goes on from another version. */
  const rebase = (now: Stored): void => {
    forgetDraft(owner, slug, base.tag, localStorage);
    setKept(kept.filter(({ tag }) => tag !== base.tag));
    setBase(now);
    setSaving(false);
  };
  const takeDraft = (draft: Draft): void => {
    setKept(kept.filter((one) => one !== draft));
    handle.current?.replace(draft.text);
  };

  return (
    <div class="editor-screen">
      <Screen
        title={`${base.tag === '' ? 'New workflow' : 'Edit'} ${base.name}`}
        isFull
        beside={
          <span class="dim">
            {base.version === undefined ? 'not stored yet' : `version ${base.version}`}
            {text === base.text ? '' : ' · changed'}
          </span>
        }
        actions={
          <>
            {base.tag === '' ? null : (
              <To to="workflow" params={{ slug }} class="button">
                Workflow
              </To>
            )}
            <Button
              kind="primary"
              needs={isProposal ? 'runner' : 'editor'}
              isDisabled={errors > 0 && isChecked}
              why="Mend the problems first."
              onClick={() => setSaving(true)}
            >
              {isProposal ? 'Propose…' : 'Save…'}
            </Button>
          </>
        }
      >
        <Drafts drafts={kept} tag={base.tag} onTake={takeDraft} onDrop={dropDraft} />
        {isDraftKept ? null : (
          <p class="notice">
            The text is not kept in this browser while it holds a secret in clear, or the browser has no room.
          </p>
        )}
        <div class="editor-columns">
          <div class="editor-left">
            <TextEditor
              label={`Text of ${base.name}`}
              initial={initial}
              schema={schema.data}
              marks={isChecked ? marks : UNCHECKED}
              onText={setText}
              onCursor={onCursor}
              onSave={() => setSaving(true)}
              onReady={(ready) => {
                handle.current = ready;
              }}
            />
            <Problems
              found={isChecked ? found : undefined}
              problem={checked.problem?.problems.length === 0 ? checked.problem : undefined}
              parsed={parsed}
              onShow={(one) => handle.current?.show(rangeOfProblem(parsed, one))}
            />
          </div>
          <div class="editor-right">
            <Tabs id="editor-side" label="Beside the text" tabs={SIDES} selected={side} onSelect={setSide}>
              <div class="editor-side" hidden={side !== 'graph'}>
                {drawn.problem === undefined ? null : (
                  <p class="notice" role="status">
                    {drawn.data === undefined
                      ? 'The text cannot be drawn yet.'
                      : 'The text cannot be drawn now. This is the graph before.'}
                  </p>
                )}
                {drawn.data === undefined ? null : (
                  <GraphBox
                    class="editor-graph"
                    graph={drawn.data}
                    label={`Steps of ${base.name}`}
                    marks={onGraph}
                    selected={selected}
                    onSelect={showStep}
                    sums={sums}
                  />
                )}
              </div>
              <div class="editor-side" hidden={side !== 'try'}>
                <Try
                  slug={slug}
                  value={value}
                  graph={drawn.data}
                  onWalked={(run) => setWalked(run === undefined ? undefined : { run, text: textNow.current })}
                  onStep={showStep}
                />
              </div>
            </Tabs>
          </div>
        </div>
      </Screen>
      {isSaving ? (
        <SaveDialog
          slug={slug}
          base={base}
          text={text}
          isProposal={isProposal}
          onClose={() => setSaving(false)}
          onSaved={(now, sent) => {
            rebase(now);
            // What is stored may differ: references stand in place of secrets.
            if (textNow.current === text && now.text !== textNow.current) handle.current?.replace(now.text);
            else if (sent !== textNow.current) handle.current?.replace(sent);
          }}
          onMerged={(now, merged) => {
            rebase(now);
            handle.current?.replace(merged);
          }}
        />
      ) : null}
    </div>
  );
}

const UNCHECKED: readonly Mark[] = [];
const SIDES = [
  { name: 'graph', label: 'Graph' },
  { name: 'try', label: 'Try' },
] as const;

async function sendText<T>(path: string, text: string, { media }: Stored, signal: AbortSignal): Promise<T> {
  const written = { media: mediaOf(text, media), text };
  return (await request<T>('POST', path, { written, signal })).body;
}

/** What the check found, and that the text names another slug than the address. */
function foundIn(
  data: Validation | undefined,
  refused: readonly ProblemItem[] | undefined,
  parsed: ParsedText,
  slug: string,
): Found[] {
  const of = (items: readonly ProblemItem[], severity: Found['severity']) => items.map((one) => ({ ...one, severity }));
  if (refused !== undefined) return of(refused, 'error');
  if (data === undefined) return [];
  const value = valueIn(parsed);
  const written = isObject(value) ? value['slug'] : undefined;
  const other = typeof written === 'string' && written !== slug ? [otherSlug(written, slug)] : [];
  return [...of(other, 'error'), ...of(data.problems, 'error'), ...of(data.warnings, 'warning')];
}

const otherSlug = (written: string, slug: string): ProblemItem => ({
  pointer: '/slug',
  code: 'slug_mismatch',
  message: `The slug is ${written}, and the address says ${slug}. Make them the same.`,
});

const markOf = (one: Found, parsed: ParsedText): Mark => ({
  ...rangeOfProblem(parsed, one),
  severity: one.severity,
  message: one.hint === undefined ? one.message : `${one.message} ${one.hint}`,
});

function stepMarks(found: readonly Found[], parsed: ParsedText): ReadonlyMap<string, string> {
  const marks = new Map<string, string>();
  for (const { pointer, severity } of found) {
    const step = stepOfPointer(parsed, pointer);
    if (step !== undefined && marks.get(step) !== 'mark-error') marks.set(step, `mark-${severity}`);
  }
  return marks;
}

interface ProblemsProps {
  /** Undefined while it is not known. */
  readonly found: readonly Found[] | undefined;
  readonly problem: Parameters<typeof Problem>[0]['problem'];
  readonly parsed: ParsedText;
  readonly onShow: (found: Found) => void;
}

function Problems({ found, problem, parsed, onShow }: ProblemsProps) {
  const errors = found?.filter(({ severity }) => severity === 'error').length ?? 0;
  const warnings = (found?.length ?? 0) - errors;
  const said = [errors > 0 ? counted(errors, 'problem') : '', warnings > 0 ? counted(warnings, 'warning') : ''];
  const summary = said.filter((one) => one !== '').join(', ');
  return (
    <div class="editor-problems">
      <p role="status" class={errors > 0 ? 'bad' : 'dim'}>
        {found === undefined ? 'Checking…' : problem !== undefined ? '' : summary === '' ? 'No problems.' : summary}
      </p>
      <Problem problem={problem} />
      {found === undefined || found.length === 0 ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard.
        <ul aria-label="Problems" tabIndex={0}>
          {found.map((one, index) => (
            <li key={`${index} ${one.pointer}`} class={one.severity}>
              <Button kind="link" onClick={() => onShow(one)}>
                Line {lineAt(parsed.text, rangeOfProblem(parsed, one).from)}
              </Button>{' '}
              {one.severity === 'warning' ? 'Warning: ' : ''}
              {one.message} {one.hint}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface DraftsProps {
  readonly drafts: readonly Draft[];
  readonly tag: string;
  readonly onTake: (draft: Draft) => void;
  readonly onDrop: (draft: Draft) => void;
}

const Drafts = ({ drafts, tag, onTake, onDrop }: DraftsProps) => (
  <>
    {drafts.map((draft) => (
      <p key={draft.tag} class="notice">
        {draft.tag === tag
          ? `This is your draft of ${absoluteText(Date.parse(draft.at))}.`
          : `There is a draft of ${absoluteText(Date.parse(draft.at))}, of an earlier version.`}{' '}
        {draft.tag === tag ? null : (
          <>
            <Button kind="link" onClick={() => onTake(draft)}>
              Take it
            </Button>{' '}
          </>
        )}
        <Button kind="link" onClick={() => onDrop(draft)}>
          Drop it
        </Button>
      </p>
    ))}
  </>
);
