/** What a dry run did. */
import type { ComponentChildren } from 'preact';
import { pointerParts } from '../../json/pointer.ts';
import { awaited } from '../data/run-words.ts';
import type { DryRun } from '../data/types.ts';
import { Button } from './button.tsx';
import { Json } from './json.tsx';
import { ProblemList } from './problem.tsx';
import { StatusBadge } from './status.tsx';

/** The step that a pointer such as `/presets/pay` names. */
const memberOf = (pointer: string): string | undefined => pointerParts(pointer)[1];

interface ResultProps {
  readonly run: DryRun;
  /** The heading. */
  readonly children: ComponentChildren;
  /** Shows a step. */
  readonly onStep?: (slug: string) => void;
  /** Asks for an output in place of a step. */
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
        It waits for {awaited(kind)} at <code>{path}</code>.
      </p>
    ))}
    <ProblemList items={run.problems}>
      {({ pointer, code }) => {
        const slug = code === 'preset_missing' ? memberOf(pointer) : undefined;
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
    {run.output === undefined ? null : <Json value={run.output} name="output" />}
  </>
);
