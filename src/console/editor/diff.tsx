/** Two texts compared: beside one another, or one within the other where there is no room. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { looksOf } from './theme.ts';

interface DiffProps {
  readonly before: string;
  readonly after: string;
  /** What the sides are, for screen readers and as headings. */
  readonly names: readonly [before: string, after: string];
  /** The later text can be edited, and parts of the earlier one taken into it. */
  readonly onAfter?: (text: string) => void;
}

/** Narrower windows show one text within the other. */
const WIDE = '(min-width: 760px)';
const UNCHANGED = { margin: 3, minSize: 6 } as const;

export function Diff({ before, after, names, onAfter }: DiffProps) {
  const host = useRef<HTMLDivElement>(null);
  const heard = useRef(onAfter);
  heard.current = onAfter;
  const isEditable = onAfter !== undefined;
  useEffect(() => {
    const parent = host.current as HTMLElement;
    const [nameBefore, nameAfter] = names;
    const listener = EditorView.updateListener.of(
      (update) => update.docChanged && heard.current?.(update.state.doc.toString()),
    );
    const edited = isEditable ? [listener, history(), keymap.of([...historyKeymap, ...defaultKeymap])] : READ_ONLY;
    // A dialog has no width yet while it opens.
    if (!matchMedia(WIDE).matches) {
      const within = unifiedMergeView({
        original: before,
        collapseUnchanged: UNCHANGED,
        mergeControls: false,
      });
      const state = EditorState.create({ doc: after, extensions: [...shared(nameAfter), edited, within] });
      const view = new EditorView({ parent, state });
      return () => view.destroy();
    }
    const merge = new MergeView({
      parent,
      a: { doc: before, extensions: [...shared(nameBefore), READ_ONLY] },
      b: { doc: after, extensions: [...shared(nameAfter), edited] },
      collapseUnchanged: UNCHANGED,
      ...(isEditable ? { revertControls: 'a-to-b' as const, renderRevertControl: takeButton } : {}),
    });
    return () => merge.destroy();
  }, [before, isEditable]);
  return (
    <div class="editor-diff">
      <div class="editor-diff-names" aria-hidden="true">
        <b>{names[0]}</b>
        <b>{names[1]}</b>
      </div>
      <div class="editor-diff-texts" ref={host} />
    </div>
  );
}

const READ_ONLY: Extension = EditorState.readOnly.of(true);

const shared = (label: string): Extension[] => [
  looksOf(),
  yaml(),
  lineNumbers(),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
];

function takeButton(): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = '→';
  button.title = 'Take this part';
  button.setAttribute('aria-label', 'Take this part');
  return button;
}
