/** Outputs in place of steps that have effects or wait, for a dry run: a field for each. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Json, JsonObject } from '../../json/json.ts';
import { parsed } from '../data/parsed.ts';
import type { GraphInput } from '../graph/ways.ts';
import { JsonField, SelectField } from '../parts/fields.tsx';

/** What was written for a step, and the port that was chosen, if any. */
export interface Preset {
  readonly text: string;
  readonly port: string;
}
/** By step. */
export type Presets = { readonly [slug: string]: Preset };

/** Kinds that need no preset: a dry run runs them as a run does. */
const PURE: ReadonlySet<string> = new Set(['pure', 'container', 'end']);
const NONE: Preset = { text: '', port: '' };

/** The steps that a dry run does not run without a preset. */
export const stepsToPreset = (graph: GraphInput | undefined): GraphInput['nodes'] =>
  (graph?.nodes ?? []).filter((node) => !PURE.has(node.class));

export const hasMistake = (presets: Presets): boolean =>
  Object.values(presets).some(({ text }) => parsed(text).error !== undefined);

/** The presets of a request. A step whose fields are empty has none. */
export function presetsIn(presets: Presets): JsonObject | undefined {
  const set = Object.entries(presets).filter(([, { text, port }]) => text.trim() !== '' || port !== '');
  if (set.length === 0) return undefined;
  return Object.fromEntries(
    set.map(([slug, { text, port }]) => {
      const data = (parsed(text).value ?? null) as Json;
      return [slug, port === '' ? { data } : { data, port }];
    }),
  );
}

/** The step whose output is asked for; a new object each time. */
export interface Asked {
  readonly slug: string;
}

interface PresetsProps {
  readonly graph: GraphInput | undefined;
  readonly presets: Presets;
  readonly onPresets: (presets: Presets) => void;
  /** Opens the fields of this step, and focuses them. */
  readonly asked: Asked | undefined;
}

export function PresetFields({ graph, presets, onPresets, asked }: PresetsProps) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (asked !== undefined) setOpen(true);
  }, [asked]);
  useEffect(() => {
    if (asked !== undefined && isOpen)
      box.current?.querySelector<HTMLElement>(`[data-step="${CSS.escape(asked.slug)}"] textarea`)?.focus();
  }, [asked, isOpen]);
  const steps = stepsToPreset(graph);
  if (steps.length === 0) return null;
  return (
    <details ref={box} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Outputs in place of steps</summary>
      {isOpen
        ? steps.map(({ id, name, ports }) => {
            const preset = presets[id] ?? NONE;
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
