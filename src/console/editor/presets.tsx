/** Preset outputs for steps that have effects or wait, for a dry run: a field for each. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Json, JsonObject } from '../../json/json.ts';
import { parseJsonInput } from '../data/parse-json-input.ts';
import type { GraphInput } from '../graph/step-graph.ts';
import { JsonField, SelectField } from '../parts/fields.tsx';

/** The output that was entered for a step, and the chosen port, if any. */
export interface Preset {
  readonly text: string;
  readonly port: string;
}
/** By step. */
export type Presets = { readonly [slug: string]: Preset };

/** Kinds that need no preset: a dry run runs them as a run does. */
const PURE_CLASSES: ReadonlySet<string> = new Set(['pure', 'container', 'end']);
const EMPTY_PRESET: Preset = { text: '', port: '' };

/** The steps that a dry run does not run without a preset. */
export const stepsToPreset = (graph: GraphInput | undefined): GraphInput['nodes'] =>
  (graph?.nodes ?? []).filter((node) => !PURE_CLASSES.has(node.class));

export const hasInvalidPreset = (presets: Presets): boolean =>
  Object.values(presets).some(({ text }) => parseJsonInput(text).error !== undefined);

/** The presets of a request. A step whose fields are empty has none. */
export function presetsBody(presets: Presets): JsonObject | undefined {
  const set = Object.entries(presets).filter(([, { text, port }]) => text.trim() !== '' || port !== '');
  if (set.length === 0) return undefined;
  return Object.fromEntries(
    set.map(([slug, { text, port }]) => {
      const data = (parseJsonInput(text).value ?? null) as Json;
      return [slug, port === '' ? { data } : { data, port }];
    }),
  );
}

/** The step whose preset is requested. A new object for each request. */
export interface PresetRequest {
  readonly slug: string;
}

interface PresetsProps {
  readonly graph: GraphInput | undefined;
  readonly presets: Presets;
  readonly onPresets: (presets: Presets) => void;
  /** Opens the fields of this step, and focuses them. */
  readonly requested: PresetRequest | undefined;
}

export function PresetFields({ graph, presets, onPresets, requested }: PresetsProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (requested !== undefined) setOpen(true);
  }, [requested]);
  useEffect(() => {
    if (requested !== undefined && isOpen)
      box.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(requested.slug)}"] textarea`)?.focus();
  }, [requested, isOpen]);
  const steps = stepsToPreset(graph);
  if (steps.length === 0) return null;
  return (
    <details ref={box} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Outputs in place of steps</summary>
      {isOpen
        ? steps.map(({ id, name, ports }) => {
            const preset = presets[id] ?? EMPTY_PRESET;
            const set = (change: Partial<Preset>): void => onPresets({ ...presets, [id]: { ...preset, ...change } });
            return (
              <fieldset key={id} class="field" data-step={id}>
                <legend>{name}</legend>
                <SelectField
                  label="Left by"
                  value={preset.port}
                  onValue={(port) => set({ port })}
                  choices={[
                    { value: '', label: 'its usual port' },
                    ...ports.map((port) => ({ value: port, label: port })),
                  ]}
                />
                <JsonField
                  label="Output"
                  hint="JSON. With both fields empty, an effect answers null, and a step that waits keeps waiting."
                  value={preset.text}
                  onValue={(text) => set({ text })}
                  rows={2}
                />
              </fieldset>
            );
          })
        : null}
    </details>
  );
}
