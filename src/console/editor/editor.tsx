/** The editor of a workflow: its text, and a graph that follows the text. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DraftGraph } from '../../gateway/answers/workflows.ts';
import { isObject, type JsonObject } from '../../json/json.ts';
import { request } from '../data/api.ts';
import type { DraftOwner } from '../data/draft-keys.ts';
import { absoluteTimeText, countText } from '../data/format-text.ts';
import { useGet, useResource } from '../data/resource.ts';
import { useHasRole, useMe } from '../data/session.ts';
import type { DryRun, ProblemItem, Validation } from '../data/types.ts';
import { GraphBox } from '../graph/zoom.tsx';
import { Button } from '../parts/button.tsx';
import { ScreenLink } from '../parts/link.tsx';
import { ResourceView } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { Tabs } from '../parts/tabs.tsx';
import type { RouteMatch } from '../routes.ts';
import { type Draft, draftsOf, removeDraft, saveDraft } from './drafts.ts';
import { DryRunPanel, dryRunSums } from './dry-run-panel.tsx';
import { mediaTypeOf } from './media-type.ts';
import { SaveDialog } from './save-dialog.tsx';
import { readStoredText, type StoredText } from './stored-text.ts';
import { type ProblemMark, TextEditor, type TextEditorHandle } from './text-editor.tsx';
import {
  lineAt,
  type ParsedText,
  parsedValue,
  parseText,
  pointerOfStep,
  rangeAt,
  rangeOfProblem,
  stepAt,
  stepOfPointer,
} from './text-ranges.ts';
import './editor.css';

const GRAPH_MS = 300;
const CHECK_MS = 500;
const CURSOR_MS = 150;
const DRAFT_MS = 400;

export function EditorScreen({ route }: { readonly route: RouteMatch<'editor'> }) {
  const { slug } = route.params;
  const stored = useResource(`stored ${slug}`, (signal) => readStoredText(slug, signal));
  const me = useMe();
  if (stored.data !== undefined && me !== undefined)
    return <WorkflowEditor key={slug} slug={slug} initialStored={stored.data} owner={me} />;
  return (
    <Screen title={`Edit ${slug}`}>
      <ResourceView resource={stored} what="the text">
        {() => null}
      </ResourceView>
    </Screen>
  );
}

/** The value once it has not changed for `ms`. */
function useDebounced<T>(value: T, ms: number): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return debounced;
}

interface EditorProblem extends ProblemItem {
  readonly severity: 'error' | 'warning';
}

interface WorkflowEditorProps {
  readonly slug: string;
  /** The stored text when the editor was opened. Later changes of others are detected on saving. */
  readonly initialStored: StoredText;
  /** The owner of the drafts. */
  readonly owner: DraftOwner;
}

function WorkflowEditor({ slug, initialStored, owner }: WorkflowEditorProps) {
  const [base, setBase] = useState(initialStored);
  const [storedDrafts, setStoredDrafts] = useState<readonly Draft[]>(() =>
    draftsOf(owner, slug, localStorage).filter(
      ({ tag, text }) => tag !== initialStored.etag || text !== initialStored.text,
    ),
  );
  const restored = storedDrafts.find(({ tag }) => tag === initialStored.etag);
  const initial = useRef(restored?.text ?? initialStored.text).current;
  const [text, setText] = useState(initial);
  const [selected, setSelected] = useState<string>();
  const [side, setSide] = useState<'graph' | 'try'>('graph');
  const [isSaving, setSaving] = useState(false);
  const [isDraftStored, setDraftStored] = useState(true);
  const [lastDryRun, setLastDryRun] = useState<{ readonly run: DryRun; readonly text: string }>();
  const mayEdit = useHasRole('editor');
  const isProposal = !mayEdit && base.etag !== '';
  const handle = useRef<TextEditorHandle>(undefined);
  const textNow = useRef(text);
  textNow.current = text;

  const schema = useGet<JsonObject>('/schema.json');
  const drawnText = useDebounced(text, GRAPH_MS);
  const drawn = useResource(`graph ${drawnText}`, (signal) =>
    sendText<DraftGraph>('/api/workflows/graph', drawnText, base, signal),
  );
  const checkedText = useDebounced(text, CHECK_MS);
  const checked = useResource(`check ${checkedText}`, (signal) =>
    sendText<Validation>('/api/workflows/validate', checkedText, base, signal),
  );
  const parsed = useMemo(() => parseText(checkedText), [checkedText]);
  const isChecked = checkedText === text && !checked.isLoading;
  const found = useMemo(
    () => editorProblems(checked.data, checked.problem?.problems, parsed, slug),
    [checked.data, checked.problem, parsed],
  );
  const marks = useMemo(() => found.map((one) => markOf(one, parsed)), [found]);
  const graphMarks = useMemo(() => stepMarks(found, parsed), [found]);
  const value = useMemo(() => parsedValue(parseText(drawnText)), [drawnText]);
  const sums = useMemo(
    () => (lastDryRun === undefined || lastDryRun.text !== text ? undefined : dryRunSums(lastDryRun.run)),
    [lastDryRun, text],
  );
  const errors = found.filter(({ severity }) => severity === 'error').length;

  const draftText = useDebounced(text, DRAFT_MS);
  useEffect(() => {
    if (draftText !== textNow.current) return;
    if (draftText === base.text) {
      removeDraft(owner, slug, base.etag, localStorage);
      setDraftStored(true);
    } else {
      const draft = { tag: base.etag, text: draftText, at: new Date().toISOString() };
      setDraftStored(saveDraft(owner, slug, draft, localStorage));
    }
  }, [draftText, base]);

  const cursor = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(cursor.current), []);
  const onCursor = (offset: number): void => {
    clearTimeout(cursor.current);
    cursor.current = setTimeout(() => {
      const step = stepAt(parseText(textNow.current), offset);
      if (step !== undefined) setSelected(step);
    }, CURSOR_MS);
  };
  const showStep = (step: string): void => {
    setSelected(step);
    const now = parseText(textNow.current);
    const pointer = pointerOfStep(now, step);
    if (pointer !== undefined) handle.current?.show(rangeAt(now, pointer, 'key'));
  };
  const dropDraft = (draft: Draft): void => {
    removeDraft(owner, slug, draft.tag, localStorage);
    setStoredDrafts(storedDrafts.filter((one) => one !== draft));
    if (draft.tag === base.etag) handle.current?.replace(base.text);
  };
  /** After saving: the text is based on the new version. */
  const rebase = (now: StoredText): void => {
    removeDraft(owner, slug, base.etag, localStorage);
    setStoredDrafts(storedDrafts.filter(({ tag }) => tag !== base.etag));
    setBase(now);
    setSaving(false);
  };
  const takeDraft = (draft: Draft): void => {
    setStoredDrafts(storedDrafts.filter((one) => one !== draft));
    handle.current?.replace(draft.text);
  };

  return (
    <div class="editor-screen">
      <Screen
        title={`${base.etag === '' ? 'New workflow' : 'Edit'} ${base.name}`}
        isFull
        headingExtra={
          <span class="dim">
            {base.version === undefined ? 'not stored yet' : `version ${base.version}`}
            {text === base.text ? '' : ' · changed'}
          </span>
        }
        actions={
          <>
            {base.etag === '' ? null : (
              <ScreenLink to="workflow" params={{ slug }} class="button">
                Workflow
              </ScreenLink>
            )}
            <Button
              kind="primary"
              needs={isProposal ? 'runner' : 'editor'}
              isDisabled={errors > 0 && isChecked}
              disabledReason="Mend the problems first."
              onClick={() => setSaving(true)}
            >
              {isProposal ? 'Propose…' : 'Save…'}
            </Button>
          </>
        }
      >
        <Drafts drafts={storedDrafts} tag={base.etag} onTake={takeDraft} onDrop={dropDraft} />
        {isDraftStored ? null : (
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
              marks={isChecked ? marks : NO_MARKS}
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
            <Tabs id="editor-side" label="Beside the text" tabs={SIDE_TABS} selected={side} onSelect={setSide}>
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
                    marks={graphMarks}
                    selected={selected}
                    onSelect={showStep}
                    sums={sums}
                  />
                )}
              </div>
              <div class="editor-side" hidden={side !== 'try'}>
                <DryRunPanel
                  slug={slug}
                  value={value}
                  graph={drawn.data}
                  onDryRun={(run) => setLastDryRun(run === undefined ? undefined : { run, text: textNow.current })}
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
            // The stored text may differ: references replace secrets.
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

const NO_MARKS: readonly ProblemMark[] = [];
const SIDE_TABS = [
  { name: 'graph', label: 'Graph' },
  { name: 'try', label: 'Try' },
] as const;

async function sendText<T>(path: string, text: string, { media }: StoredText, signal: AbortSignal): Promise<T> {
  const rawBody = { media: mediaTypeOf(text, media), text };
  return (await request<T>('POST', path, { rawBody, signal })).body;
}

/** What the check found, and that the text names another slug than the address. */
function editorProblems(
  data: Validation | undefined,
  refused: readonly ProblemItem[] | undefined,
  parsed: ParsedText,
  slug: string,
): EditorProblem[] {
  const withSeverity = (items: readonly ProblemItem[], severity: EditorProblem['severity']) =>
    items.map((one) => ({ ...one, severity }));
  if (refused !== undefined) return withSeverity(refused, 'error');
  if (data === undefined) return [];
  const value = parsedValue(parsed);
  const written = isObject(value) ? value['slug'] : undefined;
  const mismatch = typeof written === 'string' && written !== slug ? [slugMismatch(written, slug)] : [];
  return [
    ...withSeverity(mismatch, 'error'),
    ...withSeverity(data.problems, 'error'),
    ...withSeverity(data.warnings, 'warning'),
  ];
}

const slugMismatch = (written: string, slug: string): ProblemItem => ({
  pointer: '/slug',
  code: 'slug_mismatch',
  message: `The slug is ${written}, and the address says ${slug}. Make them the same.`,
});

const markOf = (one: EditorProblem, parsed: ParsedText): ProblemMark => ({
  ...rangeOfProblem(parsed, one),
  severity: one.severity,
  message: one.hint === undefined ? one.message : `${one.message} ${one.hint}`,
});

function stepMarks(found: readonly EditorProblem[], parsed: ParsedText): ReadonlyMap<string, string> {
  const marks = new Map<string, string>();
  for (const { pointer, severity } of found) {
    const step = stepOfPointer(parsed, pointer);
    if (step !== undefined && marks.get(step) !== 'mark-error') marks.set(step, `mark-${severity}`);
  }
  return marks;
}

interface ProblemsProps {
  /** Undefined while it is not known. */
  readonly found: readonly EditorProblem[] | undefined;
  readonly problem: Parameters<typeof Problem>[0]['problem'];
  readonly parsed: ParsedText;
  readonly onShow: (found: EditorProblem) => void;
}

function Problems({ found, problem, parsed, onShow }: ProblemsProps) {
  const errors = found?.filter(({ severity }) => severity === 'error').length ?? 0;
  const warnings = (found?.length ?? 0) - errors;
  const countTexts = [
    errors > 0 ? countText(errors, 'problem') : '',
    warnings > 0 ? countText(warnings, 'warning') : '',
  ];
  const summary = countTexts.filter((one) => one !== '').join(', ');
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
          ? `This is your draft of ${absoluteTimeText(Date.parse(draft.at))}.`
          : `There is a draft of ${absoluteTimeText(Date.parse(draft.at))}, of an earlier version.`}{' '}
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
