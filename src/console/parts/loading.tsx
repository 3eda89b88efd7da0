import type { ComponentChildren } from 'preact';
import type { Resource } from '../data/resource.ts';
import { Problem } from './problem.tsx';

/** A line that says that something is on its way. Shown by resources after 300 ms. */
export const LoadingLine = ({ what }: { readonly what: string }) => (
  <p class="loading" role="status">
    Loading {what}…
  </p>
);

interface LoadedProps<T> {
  readonly resource: Resource<T>;
  /** What is loaded, for the line: `the runs`. */
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
}

/** The data of a resource; before there are any, that they are on their way; and why they could not be loaded. */
export function Loaded<T>({ resource, what, children }: LoadedProps<T>) {
  const { data, problem, isSlow, again } = resource;
  return (
    <>
      <Problem problem={problem} again={again} />
      {isSlow && data === undefined ? <LoadingLine what={what} /> : null}
      {data === undefined ? null : children(data)}
    </>
  );
}

/** What would stand here, and the action that fills it. */
export const Empty = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="empty stack">{children}</div>
);
