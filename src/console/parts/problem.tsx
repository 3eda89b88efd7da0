import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type ApiProblem, UNREACHABLE } from '../data/problem.ts';
import type { ProblemItem } from '../data/types.ts';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';

interface ProblemProps {
  readonly problem: ApiProblem | undefined;
  /** Loads again. */
  readonly again?: (() => void) | undefined;
  /** Pointers that stand at a field already. */
  readonly shown?: readonly string[];
}

/** Why something failed, with its code and request id. An unreachable gateway is told once, at the top of the page. */
export function Problem({ problem, again, shown = [] }: ProblemProps) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [problem]);
  if (problem === undefined || problem.code === UNREACHABLE) return null;
  const rest = problem.problems.filter(({ pointer }) => !shown.includes(pointer));
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
      {again === undefined ? null : <Button onClick={again}>Try again</Button>}
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
