/** Compares two texts: side by side, or as a unified diff in narrow windows. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { themeExtensions } from './theme.ts';

interface DiffProps {
  readonly before: string;
  readonly after: string;
  /** What the sides are, for screen readers and as headings. */
  readonly names: readonly [before: string, after: string];
  /** Makes the later text editable; changes can be reverted to the earlier text. */
  readonly onAfterChange?: (text: string) => void;
}

/** Narrower windows show a unified diff. */
const WIDE_QUERY = '(min-width: 760px)';
const COLLAPSE_UNCHANGED = { margin: 3, minSize: 6 } as const;

export function Diff({ before, after, names, onAfterChange }: DiffProps) {
  const host = useRef<HTMLDivElement>(null);
  const latestOnAfterChange = useRef(onAfterChange);
  latestOnAfterChange.current = onAfterChange;
  const isEditable = onAfterChange !== undefined;
  useEffect(() => {
    const parent = host.current as HTMLElement;
    const [nameBefore, nameAfter] = names;
    const listener = EditorView.updateListener.of(
      (update) => update.docChanged && latestOnAfterChange.current?.(update.state.doc.toString()),
    );
    const edited = isEditable ? [listener, history(), keymap.of([...historyKeymap, ...defaultKeymap])] : READ_ONLY;
    // A dialog has no width yet while it opens.
    if (!matchMedia(WIDE_QUERY).matches) {
      const unifiedView = unifiedMergeView({
        original: before,
        collapseUnchanged: COLLAPSE_UNCHANGED,
        mergeControls: false,
      });
      const state = EditorState.create({
        doc: after,
        extensions: [...sharedExtensions(nameAfter), edited, unifiedView],
      });
      const view = new EditorView({ parent, state });
      return () => view.destroy();
    }
    const merge = new MergeView({
      parent,
      a: { doc: before, extensions: [...sharedExtensions(nameBefore), READ_ONLY] },
      b: { doc: after, extensions: [...sharedExtensions(nameAfter), edited] },
      collapseUnchanged: COLLAPSE_UNCHANGED,
      ...(isEditable ? { revertControls: 'a-to-b' as const, renderRevertControl: revertButton } : {}),
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

const sharedExtensions = (label: string): Extension[] => [
  themeExtensions(),
  yaml(),
  lineNumbers(),
  EditorView.lineWrapping,
  EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
];

function revertButton(): HTMLElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = '→';
  button.title = 'Take this part';
  button.setAttribute('aria-label', 'Take this part');
  return button;
}
