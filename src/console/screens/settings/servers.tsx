import { useState } from 'preact/hooks';
import { apiPath, put } from '../../data/api.ts';
import { countText } from '../../data/format-text.ts';
import { useGet } from '../../data/resource.ts';
import type { McpServer, ToolPage } from '../../data/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { SelectField, TextArea, TextField, useTextFields } from '../../parts/fields.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { ResourceView } from '../../parts/loading.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { ListSection, MissingSecrets, useList } from './list-section.tsx';

const COLUMNS: readonly Column<McpServer>[] = [
  { label: 'Name', isPlain: true, cell: ({ name }) => <code>{name}</code> },
  { label: 'Connection', cell: ({ url, command, args = [] }) => <code>{url ?? [command, ...args].join(' ')}</code> },
  { label: 'Changed', isExtra: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

export function ServersSection() {
  const list = useList<McpServer>('/api/mcp-servers', 'viewer');
  const [stored, setStored] = useState<McpServer>();
  return (
    <ListSection
      about="Servers of tools for agents, by the Model Context Protocol."
      readRole="viewer"
      writeRole="admin"
      list={list}
      noun="server"
      label="MCP servers"
      notice={<MissingSecrets item={stored} />}
      empty="MCP servers stand here by the names that agents use."
      columns={COLUMNS}
      actions={[
        { kind: 'test', text: 'Test', needs: 'viewer' },
        { kind: 'tools', text: 'Tools', label: 'Tools of', needs: 'viewer' },
        { kind: 'change', text: 'Change…' },
      ]}
      deletion={{
        pathOf: ({ name }) => apiPath`/api/mcp-servers/${name}`,
        about: () => 'Agents that use its tools fail from then on.',
      }}
      dialog={({ kind, item }, close) =>
        item !== undefined && kind !== 'change' ? (
          <ToolsDialog name={item.name} isTest={kind === 'test'} onClose={() => close(false)} />
        ) : (
          <ServerDialog server={item} onStored={setStored} onClose={close} />
        )
      }
    />
  );
}

interface ServerDialogProps {
  readonly server: McpServer | undefined;
  readonly onStored: (server: McpServer) => void;
  readonly onClose: (isChanged: boolean) => void;
}

/** Headers as lines `Name: value`. */
const headersText = (headers: { readonly [name: string]: string } = {}): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

const parseHeaders = (text: string): { readonly [name: string]: string } =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const colon = line.indexOf(':');
        return colon === -1 ? [line.trim(), ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      }),
  );

function ServerDialog({ server, onStored, onClose }: ServerDialogProps) {
  const [{ name, kind, url, headers, command, args }, field] = useTextFields({
    name: server?.name ?? '',
    kind: server?.command === undefined ? 'url' : 'command',
    url: server?.url ?? '',
    headers: headersText(server?.headers),
    command: server?.command ?? '',
    args: server?.args?.join('\n') ?? '',
  });
  const headerMap = parseHeaders(headers);
  const list = args.split('\n').filter((line) => line !== '');
  const body =
    kind === 'url'
      ? { url: url.trim(), ...(Object.keys(headerMap).length === 0 ? {} : { headers: headerMap }) }
      : { command: command.trim(), ...(list.length === 0 ? {} : { args: list }) };
  return (
    <FormDialog
      title={server === undefined ? 'New server' : `Change ${server.name}`}
      save={async () => onStored(await put<McpServer>(apiPath`/api/mcp-servers/${name.trim()}`, body))}
      onClose={onClose}
      isReady={name.trim() !== '' && (kind === 'url' ? url : command).trim() !== ''}
      disabledReason="Enter a name, and an address or a program."
    >
      <TextField label="Name" {...field('name')} isReadOnly={server !== undefined} isRequired />
      <SelectField
        label="Reached by"
        {...field('kind')}
        choices={[
          { value: 'url', label: 'an address' },
          { value: 'command', label: 'a program, where the host allows it' },
        ]}
      />
      {kind === 'url' ? (
        <>
          <TextField label="Address" type="url" {...field('url')} isRequired />
          <TextArea
            label="Headers"
            hint={
              <>
                One in each line, such as <code>{'Authorization: Bearer {{ secrets.NAME }}'}</code>
              </>
            }
            rows={3}
            isCode
            {...field('headers')}
          />
        </>
      ) : (
        <>
          <TextField label="Program" {...field('command')} isRequired />
          <TextArea label="Arguments" hint="One in each line." rows={3} isCode {...field('args')} />
        </>
      )}
    </FormDialog>
  );
}

interface ToolsProps {
  readonly name: string;
  /** Whether a worker asks the server now. Otherwise a recent list does. */
  readonly isTest: boolean;
  readonly onClose: () => void;
}

function ToolsDialog({ name, isTest, onClose }: ToolsProps) {
  const tools = useGet<ToolPage>(apiPath`/api/mcp-servers/${name}/tools`, { query: { limit: 1_000, refresh: isTest } });
  return (
    <Dialog title={isTest ? `Test of ${name}` : `Tools of ${name}`} onClose={onClose} isWide>
      <ResourceView resource={tools} what="the tools">
        {({ items, listedAt }) => (
          <div class="stack">
            <p class="dim">
              {isTest ? `The server answers with ${countText(items.length, 'tool')}. ` : ''}
              Read <Time at={listedAt} isTabStop />
            </p>
            {items.map((tool) => (
              <details key={tool.name}>
                <summary>
                  <code>{tool.name}</code> {tool.description}
                </summary>
                <JsonTree value={tool.inputSchema} name={`schema of ${tool.name}`} openDepth={3} />
              </details>
            ))}
          </div>
        )}
      </ResourceView>
    </Dialog>
  );
}
