/** What a dry run did. */
import type { ComponentChildren } from 'preact';
import { awaited } from '../data/run-words.ts';
import type { DryRun } from '../data/types.ts';
import { Button } from './button.tsx';
import { Json } from './json.tsx';
import { ProblemList } from './problem.tsx';
import { StatusBadge } from './status.tsx';

interface ResultProps {
  readonly run: DryRun;
  /** The heading. */
  readonly children: ComponentChildren;
  /** Shows a step. */
  readonly onStep?: (slug: string) => void;
}

export const DryRunResult = ({ run, children, onStep }: ResultProps) => (
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
    <ProblemList items={run.problems} />
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
