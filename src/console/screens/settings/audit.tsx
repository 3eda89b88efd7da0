import { usePages } from '../../data/pages.ts';
import { useHasRole } from '../../data/session.ts';
import type { Change } from '../../data/types.ts';
import { changeQuery, useRouteMatch } from '../../navigation.ts';
import { Button } from '../../parts/button.tsx';
import { Form, TextField, useTextFields } from '../../parts/fields.tsx';
import { PagedList } from '../../parts/paged-list.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Section } from './list-section.tsx';

const LIMIT = 50;

/** Who changed what and when. Its filters are in the address. */
export function AuditSection() {
  const { by, action } = useRouteMatch()?.query ?? {};
  const isAdmin = useHasRole('admin');
  const query = { by, action, limit: LIMIT };
  const list = usePages<Change>(isAdmin ? '/api/audit' : undefined, query);
  return (
    <Section about="Who changed what, and when. Starts of runs and messages to runs are in the runs." readRole="admin">
      <AuditFilter by={by ?? ''} action={action ?? ''} />
      <PagedList list={list} what="the audit" empty="No change matches.">
        {(items) => (
          <Table
            label="Changes"
            rows={items}
            keyOf={({ id }) => id}
            columns={[
              { label: 'When', cell: ({ at }) => <Time at={at} /> },
              { label: 'Who', cell: ({ by: who }) => who ?? 'this machine' },
              { label: 'What', isPlain: true, cell: ({ action: what }) => <code>{what}</code> },
              { label: 'On', cell: ({ target }) => <code>{targetText(target)}</code> },
              {
                label: 'Outcome',
                cell: ({ outcome, status }) => (status === undefined ? outcome : `${outcome} (${status})`),
              },
              {
                label: 'Request',
                isExtra: true,
                cell: ({ requestId }) => <code class="dim">{requestId?.slice(0, 8) ?? ''}</code>,
              },
            ]}
          />
        )}
      </PagedList>
    </Section>
  );
}

const targetText = (target: Change['target']): string =>
  Object.values(target)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(' ');

function AuditFilter(given: { readonly by: string; readonly action: string }) {
  const [{ by, action }, field] = useTextFields(given);
  return (
    <Form
      class="row form-row"
      onSubmit={() => changeQuery({ by: by.trim(), action: action.trim() }, { replace: false })}
    >
      <TextField label="Person" {...field('by')} />
      <TextField label="Method and route" placeholder="PUT /api/workflows/:slug" {...field('action')} />
      <Button type="submit">Filter</Button>
    </Form>
  );
}
