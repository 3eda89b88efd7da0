import { type ComponentChildren, Fragment } from 'preact';

/** Facts by their names. Those that are undefined are left out. */
export const Facts = ({ entries }: { readonly entries: { readonly [name: string]: ComponentChildren } }) => (
  <dl class="facts">
    {Object.entries(entries).map(([name, fact]) =>
      fact === undefined ? null : (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </Fragment>
      ),
    )}
  </dl>
);
