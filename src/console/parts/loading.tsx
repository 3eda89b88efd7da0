import type { ComponentChildren } from 'preact';
import type { Resource } from '../data/resource.ts';
import { Problem } from './problem.tsx';

/** A line that says that something is loading. Shown for resources after 300 ms. */
export const LoadingLine = ({ what }: { readonly what: string }) => (
  <p class="loading" role="status">
    Loading {what}…
  </p>
);

interface ResourceViewProps<T> {
  readonly resource: Resource<T>;
  /** What is loaded, for the line: `the runs`. */
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
}

/** Shows a resource: its data, or that it is loading; and its problem. */
export function ResourceView<T>({ resource, what, children }: ResourceViewProps<T>) {
  const { data, problem, isSlow, reload } = resource;
  return (
    <>
      <Problem problem={problem} onRetry={reload} />
      {isSlow && data === undefined ? <LoadingLine what={what} /> : null}
      {data === undefined ? null : children(data)}
    </>
  );
}

/** Shown instead of an empty list: what it would contain, and how to add it. */
export const EmptyState = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="empty stack">{children}</div>
);
