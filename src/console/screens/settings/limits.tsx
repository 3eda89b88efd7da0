import { useState } from 'preact/hooks';
import { apiPath, put } from '../../data/api.ts';
import { useGet } from '../../data/resource.ts';
import type { Limits } from '../../data/types.ts';
import { Button } from '../../parts/button.tsx';
import { SelectField, TextField, useTextFields } from '../../parts/fields.tsx';
import { DeleteDialog, FormDialog } from '../../parts/form-dialog.tsx';
import { ResourceView } from '../../parts/loading.tsx';
import { Table } from '../../parts/table.tsx';
import { Section } from './list-section.tsx';

const SCOPES = [
  { scope: 'organization', label: 'The organization' },
  { scope: 'user', label: 'Each person' },
  { scope: 'global', label: 'All organizations of this host' },
] as const;

const OVERFLOWS = [
  { value: 'queue', label: 'wait in a queue' },
  { value: 'reject', label: 'are refused' },
  { value: 'cancel-oldest', label: 'replace the oldest run' },
  { value: 'cancel-newest', label: 'are cancelled' },
] as const;
const overflowText = (overflow: string): string => OVERFLOWS.find(({ value }) => value === overflow)?.label ?? overflow;

type LimitEntry = { readonly limit: number; readonly overflow: string };
interface LimitRow {
  readonly scope: (typeof SCOPES)[number]['scope'];
  readonly label: string;
  readonly own: LimitEntry | undefined;
  readonly effective: LimitEntry | undefined;
}
type OpenDialog = { readonly kind: 'change' | 'delete'; readonly row: LimitRow };

const rowsOf = ({ own, effective }: Limits): readonly LimitRow[] =>
  SCOPES.map(({ scope, label }) => ({ scope, label, own: own[scope], effective: effective[scope] })).filter(
    ({ scope, effective: one }) => scope !== 'global' || one !== undefined,
  );

const limitText = (entry: LimitEntry | undefined): string =>
  entry === undefined ? 'none' : `${entry.limit.toLocaleString('en-GB')}, further runs ${overflowText(entry.overflow)}`;

export function LimitsSection() {
  const limits = useGet<Limits>('/api/limits');
  const [open, setOpen] = useState<OpenDialog>();
  const close = (isChanged: boolean): void => {
    setOpen(undefined);
    if (isChanged) limits.reload();
  };
  return (
    <Section about="How many runs may be active at the same time. The lower of two limits counts." readRole="viewer">
      <ResourceView resource={limits} what="the limits">
        {(data) => (
          <Table
            label="Limits"
            rows={rowsOf(data)}
            keyOf={({ scope }) => scope}
            columns={[
              { label: 'Runs of', isPlain: true, cell: ({ label }) => label },
              { label: 'In effect', cell: ({ effective }) => limitText(effective) },
              { label: 'Set here', cell: ({ own, scope }) => (scope === 'global' ? 'by the host' : limitText(own)) },
              {
                label: <span class="hidden">Actions</span>,
                cell: (row) =>
                  row.scope === 'global' ? null : (
                    <span class="row">
                      <Button
                        needs="admin"
                        label={`Set the limit of ${row.label}`}
                        onClick={() => setOpen({ kind: 'change', row })}
                      >
                        Set…
                      </Button>
                      {row.own === undefined ? null : (
                        <Button
                          needs="admin"
                          label={`Remove the limit of ${row.label}`}
                          onClick={() => setOpen({ kind: 'delete', row })}
                        >
                          Remove…
                        </Button>
                      )}
                    </span>
                  ),
              },
            ]}
          />
        )}
      </ResourceView>
      {open?.kind === 'change' ? <LimitDialog row={open.row} onClose={close} /> : null}
      {open?.kind === 'delete' ? (
        <DeleteDialog
          noun="limit"
          name={open.row.scope}
          path={apiPath`/api/limits/${open.row.scope}`}
          about="Further runs may start at once, up to the limit of the host."
          verb="Remove"
          onClose={close}
        />
      ) : null}
    </Section>
  );
}

interface LimitDialogProps {
  readonly row: LimitRow;
  readonly onClose: (isChanged: boolean) => void;
}

function LimitDialog({ row, onClose }: LimitDialogProps) {
  const [{ limit, overflow }, field] = useTextFields({
    limit: String(row.own?.limit ?? ''),
    overflow: row.own?.overflow ?? 'queue',
  });
  const isNumber = /^\d+$/.test(limit.trim());
  return (
    <FormDialog
      title={`Limit of ${row.label.toLowerCase()}`}
      save={() => put(apiPath`/api/limits/${row.scope}`, { limit: Number(limit), overflow })}
      onClose={onClose}
      isReady={isNumber}
      disabledReason="Enter a number."
    >
      {(problemAt) => (
        <>
          <TextField
            label="Runs at the same time"
            type="number"
            hint="1 to 100,000. Runs that are active count too."
            {...field('limit')}
            error={problemAt('/limit')}
            isRequired
          />
          <SelectField label="Further runs" {...field('overflow')} choices={OVERFLOWS} />
        </>
      )}
    </FormDialog>
  );
}
