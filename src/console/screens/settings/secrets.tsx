import { useState } from 'preact/hooks';
import { SHORTEST_SECRET_CHARACTERS } from '../../../definition/document/limits.ts';
import { at, put } from '../../data/api.ts';
import { problemAt } from '../../data/problem.ts';
import type { Secret } from '../../data/types.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea, TextField } from '../../parts/fields.tsx';
import { DeleteDialog, FormDialog } from '../../parts/form-dialog.tsx';
import { Empty, Loaded } from '../../parts/loading.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Section, useAll, wordsIn } from './parts.tsx';

type Open = { readonly kind: 'new' } | { readonly kind: 'change' | 'delete'; readonly secret: Secret };

export function SecretsSection() {
  const secrets = useAll<Secret>('/api/secrets', 'editor');
  const [open, setOpen] = useState<Open>();
  const close = (isChanged: boolean): void => {
    setOpen(undefined);
    if (isChanged) secrets.again();
  };
  return (
    <Section
      about="Values that workflows use by name. They are stored encrypted, and never shown again."
      readBy="editor"
      actions={
        <Button kind="primary" needs="editor" onClick={() => setOpen({ kind: 'new' })}>
          New secret
        </Button>
      }
    >
      <Loaded resource={secrets} what="the secrets">
        {(items) =>
          items.length === 0 ? (
            <Empty>
              <p>
                Secrets stand here by name. A workflow uses one as <code>{'{{ secrets.NAME }}'}</code>.
              </p>
            </Empty>
          ) : (
            <Table
              label="Secrets"
              rows={items}
              keyOf={({ name }) => name}
              columns={[
                { name: 'name', label: 'Name', isPlain: true, cell: ({ name }) => <code>{name}</code> },
                { name: 'hosts', label: 'Sent to', cell: ({ allowedHosts }) => allowedHosts?.join(', ') ?? 'any host' },
                {
                  name: 'workflows',
                  label: 'Used by',
                  cell: ({ allowedWorkflows }) => allowedWorkflows?.join(', ') ?? 'any workflow',
                },
                { name: 'changed', label: 'Changed', isExtra: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
                {
                  name: 'actions',
                  label: <span class="hidden">Actions</span>,
                  cell: (secret) => (
                    <span class="row">
                      <Button label={`Replace ${secret.name}`} onClick={() => setOpen({ kind: 'change', secret })}>
                        Replace…
                      </Button>
                      <Button label={`Delete ${secret.name}`} onClick={() => setOpen({ kind: 'delete', secret })}>
                        Delete…
                      </Button>
                    </span>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {open?.kind === 'new' ? <SecretDialog onClose={close} /> : null}
      {open?.kind === 'change' ? <SecretDialog secret={open.secret} onClose={close} /> : null}
      {open?.kind === 'delete' ? (
        <DeleteDialog
          noun="secret"
          name={open.secret.name}
          path={at`/api/secrets/${open.secret.name}`}
          about="Steps that use it fail from then on."
          onClose={close}
        />
      ) : null}
    </Section>
  );
}

interface SecretDialogProps {
  readonly secret?: Secret;
  readonly onClose: (isChanged: boolean) => void;
}

function SecretDialog({ secret, onClose }: SecretDialogProps) {
  const [name, setName] = useState(secret?.name ?? '');
  const [value, setValue] = useState('');
  const [hosts, setHosts] = useState(secret?.allowedHosts?.join('\n') ?? '');
  const [workflows, setWorkflows] = useState(secret?.allowedWorkflows?.join('\n') ?? '');
  const listOrAny = (text: string): readonly string[] | null => (wordsIn(text).length === 0 ? null : wordsIn(text));
  const body = { value, allowedHosts: listOrAny(hosts), allowedWorkflows: listOrAny(workflows) };
  return (
    <FormDialog
      title={secret === undefined ? 'New secret' : `Replace ${secret.name}`}
      save={() => put(at`/api/secrets/${name.trim()}`, body)}
      onClose={onClose}
      isReady={name.trim() !== '' && value !== ''}
      why="Enter a name and a value."
      shown={['/value']}
    >
      {(problem) => (
        <>
          <TextField
            label="Name"
            hint="Letters, digits and . _ - /, such as payments/live."
            value={name}
            onValue={setName}
            isReadOnly={secret !== undefined}
            isRequired
          />
          <TextField
            label="Value"
            type="password"
            autoComplete="new-password"
            hint={`At least ${SHORTEST_SECRET_CHARACTERS} characters. It is never shown again.`}
            value={value}
            onValue={setValue}
            error={problemAt(problem, '/value')}
            isRequired
          />
          <TextArea
            label="Hosts that it may be sent to"
            hint="One in each line, such as api.example.com or *.example.com. Empty: any host."
            rows={2}
            value={hosts}
            onValue={setHosts}
          />
          <TextArea
            label="Workflows that may use it"
            hint="One slug in each line. Empty: any workflow."
            rows={2}
            value={workflows}
            onValue={setWorkflows}
          />
        </>
      )}
    </FormDialog>
  );
}
