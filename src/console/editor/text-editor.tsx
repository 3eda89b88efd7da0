/** A text editor for definitions, with problems and completions. */
import {
  acceptCompletion,
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { indentUnit } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { searchKeymap } from '@codemirror/search';
import { EditorState, Prec } from '@codemirror/state';
import { EditorView, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import type { JsonObject } from '../../json/json.ts';
import { completionsAt } from './completions.ts';
import type { TextRange } from './text-ranges.ts';
import { themeExtensions } from './theme.ts';

/** A problem with its range. */
export interface ProblemMark extends TextRange {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

export interface TextEditorHandle {
  /** Scrolls to the range, moves the cursor there, and takes the focus. */
  show(range: TextRange): void;
  /** Replaces the text. It can be undone. */
  replace(text: string): void;
}

interface TextProps {
  readonly label: string;
  /** The text at first. */
  readonly initial: string;
  readonly schema: JsonObject | undefined;
  /** Of the present text. */
  readonly marks: readonly ProblemMark[];
  readonly onText: (text: string) => void;
  /** The cursor moved, by the user. */
  readonly onCursor: (offset: number) => void;
  readonly onSave: () => void;
  readonly onReady: (handle: TextEditorHandle) => void;
}

export function TextEditor(props: TextProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const editorView = new EditorView({
      parent: host.current as HTMLElement,
      state: EditorState.create({ doc: props.initial, extensions: extensionsOf(latest) }),
    });
    view.current = editorView;
    latest.current.onReady({
      show: ({ from, to }) => {
        const end = editorView.state.doc.length;
        const range = { anchor: Math.min(from, end), head: Math.min(to, end) };
        editorView.dispatch({ selection: range, effects: EditorView.scrollIntoView(range.anchor, { y: 'center' }) });
        editorView.focus();
      },
      replace: (text) => editorView.dispatch({ changes: { from: 0, to: editorView.state.doc.length, insert: text } }),
    });
    return () => editorView.destroy();
  }, []);
  useEffect(() => {
    const { current } = view;
    if (current === undefined) return;
    const end = current.state.doc.length;
    const shown = props.marks.map(
      ({ from, to, severity, message }): Diagnostic => ({
        from: Math.min(from, end),
        to: Math.min(to, end),
        severity,
        message,
      }),
    );
    current.dispatch(setDiagnostics(current.state, shown));
  }, [props.marks]);
  return <div class="editor-text" ref={host} />;
}

function extensionsOf(latest: { readonly current: TextProps }) {
  const save = {
    key: 'Mod-s',
    run: () => {
      latest.current.onSave();
      return true;
    },
  };
  return [
    themeExtensions(),
    yaml(),
    lintGutter(),
    lineNumbers(),
    history(),
    indentUnit.of('  '),
    highlightActiveLineGutter(),
    autocompletion({ override: [(context) => completionsFor(context, latest.current.schema)], icons: false }),
    Prec.high(keymap.of([{ key: 'Tab', run: acceptCompletion }, save])),
    keymap.of([...completionKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
    EditorView.contentAttributes.of({ 'aria-label': latest.current.label, spellcheck: 'false', tabindex: '0' }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) latest.current.onText(update.state.doc.toString());
      if (update.selectionSet || update.docChanged) latest.current.onCursor(update.state.selection.main.head);
    }),
  ];
}

const COMPLETION_TYPES = { member: 'property', value: 'enum', step: 'variable', name: 'variable' } as const;

function completionsFor(context: CompletionContext, schema: JsonObject | undefined): CompletionResult | null {
  // Opens by itself only within a word, or where a path or a value is to follow.
  if (!context.explicit && context.matchBefore(/(?:[\w$-]|\.|: |\{\{ |- )$/) === null) return null;
  const found = completionsAt(context.state.doc.toString(), context.pos, schema ?? {});
  if (found === undefined) return null;
  const options = found.options.map(({ label, kind, info, apply }) => ({
    label,
    apply,
    type: COMPLETION_TYPES[kind],
    ...(info === undefined ? {} : { info }),
  }));
  return { from: found.from, options, validFor: /^[\w$-]*$/ };
}
