import { MIN_SECRET_CHARACTERS } from '../../../definition/document/limits.ts';
import { apiPath, put } from '../../data/api.ts';
import type { Secret } from '../../data/types.ts';
import { TextArea, TextField, useTextFields } from '../../parts/fields.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { ListSection, splitList, useList } from './list-section.tsx';

const COLUMNS: readonly Column<Secret>[] = [
  { label: 'Name', isPlain: true, cell: ({ name }) => <code>{name}</code> },
  { label: 'Sent to', cell: ({ allowedHosts }) => allowedHosts?.join(', ') ?? 'any host' },
  { label: 'Used by', cell: ({ allowedWorkflows }) => allowedWorkflows?.join(', ') ?? 'any workflow' },
  { label: 'Changed', isExtra: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

export const SecretsSection = () => (
  <ListSection
    about="Values that workflows use by name. They are stored encrypted, and never shown again."
    readRole="editor"
    writeRole="editor"
    list={useList<Secret>('/api/secrets', 'editor')}
    noun="secret"
    label="Secrets"
    empty={
      <>
        Secrets stand here by name. A workflow uses one as <code>{'{{ secrets.NAME }}'}</code>.
      </>
    }
    columns={COLUMNS}
    actions={[{ kind: 'change', text: 'Replace…' }]}
    deletion={{
      pathOf: ({ name }) => apiPath`/api/secrets/${name}`,
      about: () => 'Steps that use it fail from then on.',
    }}
    dialog={({ item }, close) => <SecretDialog secret={item} onClose={close} />}
  />
);

interface SecretDialogProps {
  readonly secret: Secret | undefined;
  readonly onClose: (isChanged: boolean) => void;
}

function SecretDialog({ secret, onClose }: SecretDialogProps) {
  const [{ name, value, hosts, workflows }, field] = useTextFields({
    name: secret?.name ?? '',
    value: '',
    hosts: secret?.allowedHosts?.join('\n') ?? '',
    workflows: secret?.allowedWorkflows?.join('\n') ?? '',
  });
  const listOrAny = (text: string): readonly string[] | null => (splitList(text).length === 0 ? null : splitList(text));
  const body = { value, allowedHosts: listOrAny(hosts), allowedWorkflows: listOrAny(workflows) };
  return (
    <FormDialog
      title={secret === undefined ? 'New secret' : `Replace ${secret.name}`}
      save={() => put(apiPath`/api/secrets/${name.trim()}`, body)}
      onClose={onClose}
      isReady={name.trim() !== '' && value !== ''}
      disabledReason="Enter a name and a value."
    >
      {(problemAt) => (
        <>
          <TextField
            label="Name"
            hint="Letters, digits and . _ - /, such as payments/live."
            {...field('name')}
            isReadOnly={secret !== undefined}
            isRequired
          />
          <TextField
            label="Value"
            type="password"
            autoComplete="new-password"
            hint={`At least ${MIN_SECRET_CHARACTERS} characters. It is never shown again.`}
            {...field('value')}
            error={problemAt('/value')}
            isRequired
          />
          <TextArea
            label="Hosts that it may be sent to"
            hint="One in each line, such as api.example.com or *.example.com. Empty: any host."
            rows={2}
            {...field('hosts')}
          />
          <TextArea
            label="Workflows that may use it"
            hint="One slug in each line. Empty: any workflow."
            rows={2}
            {...field('workflows')}
          />
        </>
      )}
    </FormDialog>
  );
}
