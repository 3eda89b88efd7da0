import { useState } from 'preact/hooks';
import { apiPath, post } from '../../data/api.ts';
import { useMe } from '../../data/session.ts';
import type { ApiKey, MadeKey, Role } from '../../data/types.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Actions, Dialog } from '../../parts/dialog.tsx';
import { SelectField, TextField, useTextFields } from '../../parts/fields.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { ListSection, splitList, useList } from './list-section.tsx';

const ROLES: readonly { readonly value: Role; readonly label: string }[] = [
  { value: 'viewer', label: 'viewer: reads' },
  { value: 'runner', label: 'runner: also starts and cancels runs' },
  { value: 'approver', label: 'approver: also decides' },
  { value: 'editor', label: 'editor: also changes workflows' },
  { value: 'admin', label: 'admin: also keys, limits and servers' },
];

const COLUMNS: readonly Column<ApiKey>[] = [
  { label: 'Person', cell: ({ user }) => user },
  { label: 'E-mail addresses', isExtra: true, cell: ({ emails }) => emails.join(', ') },
  { label: 'Role', cell: ({ role }) => role },
  {
    label: 'Roles and groups in approvals',
    isExtra: true,
    cell: ({ roles, groups }) => [...roles, ...groups].join(', '),
  },
  {
    label: 'Last used',
    isExtra: true,
    cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : <Time at={lastUsedAt} />),
  },
];

export function KeysSection() {
  const list = useList<ApiKey>('/api/keys', 'admin');
  const me = useMe();
  const [made, setMade] = useState<MadeKey>();
  const nameColumn: Column<ApiKey> = {
    label: 'Name',
    isPlain: true,
    cell: ({ name, prefix, id }) => (
      <>
        {name} <code class="dim">{prefix}…</code> {id === me?.keyId ? <span class="badge">yours</span> : null}
      </>
    ),
  };
  return (
    <>
      <ListSection
        about="Keys by which people and programs use this gateway. A person may have several."
        readRole="admin"
        writeRole="admin"
        list={list}
        noun="key"
        label="API keys"
        empty={
          me?.hasKeys === true
            ? 'Keys stand here. The key of the environment is not listed.'
            : 'Without keys everyone on this machine may do everything. The first key must be an admin’s.'
        }
        columns={[nameColumn, ...COLUMNS]}
        deletion={{
          verb: 'Revoke',
          pathOf: ({ id }) => apiPath`/api/keys/${id}`,
          about: ({ id }) =>
            id === me?.keyId
              ? 'This is the key that you are logged in with: your session ends.'
              : 'Whoever uses it is refused within two seconds.',
        }}
        dialog={(_new, close) => (
          <KeyDialog
            onClose={() => close(false)}
            onMade={(key) => {
              close(false);
              setMade(key);
            }}
          />
        )}
      />
      {made === undefined ? null : (
        <NewKeyDialog
          made={made}
          onClose={() => {
            setMade(undefined);
            list.first.reload();
          }}
        />
      )}
    </>
  );
}

interface KeyDialogProps {
  readonly onClose: () => void;
  readonly onMade: (made: MadeKey) => void;
}

function KeyDialog({ onClose, onMade }: KeyDialogProps) {
  const me = useMe();
  const [texts, field] = useTextFields({
    ...{ name: '', user: '', roles: '', groups: '', emails: '' },
    role: me?.hasKeys === true ? 'viewer' : 'admin',
  });
  const body = {
    name: texts.name.trim(),
    role: texts.role,
    user: texts.user.trim() || undefined,
    roles: splitList(texts.roles),
    groups: splitList(texts.groups),
    emails: splitList(texts.emails),
  };
  return (
    <FormDialog
      title="New key"
      saveLabel="Make"
      save={async (headers) => onMade(await post<MadeKey>('/api/keys', body, { headers }))}
      onClose={(isSaved) => {
        if (!isSaved) onClose();
      }}
      isReady={body.name !== ''}
      disabledReason="Enter a name."
    >
      {(problemAt) => (
        <>
          {me?.hasKeys === true ? null : (
            <p class="notice">From then on every request needs a key. You will have to log in with this one.</p>
          )}
          <TextField
            label="Name"
            hint="Its purpose or its owner."
            {...field('name')}
            error={problemAt('/name')}
            isRequired
          />
          <SelectField label="Role" {...field('role')} choices={ROLES} />
          <TextField label="Person" hint="Empty: the name." {...field('user')} />
          <TextField label="Roles in approvals" hint="Such as finance, divided by commas." {...field('roles')} />
          <TextField label="Groups in approvals" hint="Such as board, divided by commas." {...field('groups')} />
          <TextField
            label="E-mail addresses"
            hint="The person’s, divided by commas. Links of approvals that are sent there decide as this person."
            {...field('emails')}
            error={problemAt('/emails') ?? problemAt('/emails/0')}
          />
        </>
      )}
    </FormDialog>
  );
}

const NewKeyDialog = ({ made, onClose }: { readonly made: MadeKey; readonly onClose: () => void }) => (
  <Dialog title={`The key ${made.name}`} onClose={onClose}>
    <p class="notice">Copy it now. It is shown only this once.</p>
    <pre class="block">{made.key}</pre>
    <Actions>
      <CopyButton text={made.key} what="the key">
        Copy
      </CopyButton>
      <Button kind="primary" onClick={onClose}>
        I have copied it
      </Button>
    </Actions>
  </Dialog>
);
