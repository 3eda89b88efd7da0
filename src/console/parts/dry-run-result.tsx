/** The result of a dry run. */
import type { ComponentChildren } from 'preact';
import { pointerParts } from '../../json/pointer.ts';
import { waitText } from '../data/run-text.ts';
import type { DryRun } from '../data/types.ts';
import { Button } from './button.tsx';
import { JsonTree } from './json-tree.tsx';
import { ProblemList } from './problem.tsx';
import { StatusBadge } from './status.tsx';

/** The step that a pointer such as `/presets/pay` names. */
const presetStepOf = (pointer: string): string | undefined => pointerParts(pointer)[1];

interface ResultProps {
  readonly run: DryRun;
  /** The heading. */
  readonly children: ComponentChildren;
  /** Shows a step. */
  readonly onStep?: (slug: string) => void;
  /** Requests a preset for a step. */
  readonly onPreset?: (slug: string) => void;
}

export const DryRunResult = ({ run, children, onStep, onPreset }: ResultProps) => (
  <>
    <h2>
      {children} <StatusBadge status={run.status} />
    </h2>
    {run.error === undefined ? null : (
      <p class="error">
        <code>{run.error.code}</code> {run.error.message}
      </p>
    )}
    {run.waits.map(({ path, kind }) => (
      <p key={path} class="dim">
        It waits for {waitText(kind)} at <code>{path}</code>.
      </p>
    ))}
    <ProblemList items={run.problems}>
      {({ pointer, code }) => {
        const slug = code === 'preset_missing' ? presetStepOf(pointer) : undefined;
        return slug === undefined || onPreset === undefined ? null : (
          <Button kind="link" onClick={() => onPreset(slug)}>
            Give it
          </Button>
        );
      }}
    </ProblemList>
    <ol class="visits-of-dry-run">
      {run.steps.map(({ path, stepSlug, status, port }) => (
        <li key={path}>
          {onStep === undefined ? (
            <code>{path}</code>
          ) : (
            <Button kind="link" onClick={() => onStep(stepSlug)}>
              {path}
            </Button>
          )}{' '}
          <span class="dim">{port ?? status}</span>
        </li>
      ))}
    </ol>
    {run.stepsTotal !== undefined && run.stepsTotal > run.steps.length ? (
      <p class="dim">
        {run.steps.length} of {run.stepsTotal} visits.
      </p>
    ) : null}
    {run.output === undefined ? null : <JsonTree value={run.output} name="output" />}
  </>
);
