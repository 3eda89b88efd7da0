import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type ApiProblem, UNREACHABLE } from '../data/problem.ts';
import type { ProblemItem } from '../data/types.ts';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';

interface ProblemProps {
  readonly problem: ApiProblem | undefined;
  /** Called by `Try again`. */
  readonly onRetry?: (() => void) | undefined;
  /** Pointers whose problems are already shown at a field. */
  readonly shownPointers?: readonly string[];
}

/** Why something failed, with its code and request id. The page reports an unreachable gateway once, at its top. */
export function Problem({ problem, onRetry, shownPointers = [] }: ProblemProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [problem]);
  if (problem === undefined || problem.code === UNREACHABLE) return null;
  const rest = problem.problems.filter(({ pointer }) => !shownPointers.includes(pointer));
  return (
    <div class="problem" role="alert" ref={box}>
      <Icon name="warning" />
      <div>
        <p>{problem.message}</p>
        <ProblemList items={rest} />
        <p class="dim">
          <code>{problem.code}</code>
          {problem.requestId === undefined ? null : (
            <>
              {' '}
              · request <code>{problem.requestId}</code>
            </>
          )}
        </p>
      </div>
      {onRetry === undefined ? null : <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** What is wrong, each with its place. */
export const ProblemList = ({
  items,
  isWarning = false,
  children,
}: {
  readonly items: readonly ProblemItem[];
  readonly isWarning?: boolean;
  /** What stands after a problem. */
  readonly children?: (item: ProblemItem) => ComponentChildren;
}) =>
  items.length === 0 ? null : (
    <ul class="problems">
      {items.map((item) => (
        <li key={`${item.pointer} ${item.message}`}>
          {isWarning ? 'Warning: ' : ''}
          {item.pointer === '' ? null : <code>{item.pointer}</code>} {item.message} {item.hint} {children?.(item)}
        </li>
      ))}
    </ul>
  );
