import { type ComponentChildren, Fragment } from 'preact';

/** Facts by their names. Those that are undefined are left out. */
export const Facts = ({ of }: { readonly of: { readonly [name: string]: ComponentChildren } }) => (
  <dl class="facts">
    {Object.entries(of).map(([name, fact]) =>
      fact === undefined ? null : (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </Fragment>
      ),
    )}
  </dl>
);
