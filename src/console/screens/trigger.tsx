import { useRef, useState } from 'preact/hooks';
import { apiPath, post } from '../data/api.ts';
import { parseJsonInput } from '../data/parse-json-input.ts';
import { useAction, useGet } from '../data/resource.ts';
import type { Firings, Trigger } from '../data/types.ts';
import { hasScreen, navigate } from '../navigation.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Facts } from '../parts/facts.tsx';
import { JsonField } from '../parts/fields.tsx';
import { DeleteDialog, FormDialog } from '../parts/form-dialog.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { RunLink, WorkflowLink } from '../parts/link.tsx';
import { EmptyState, ResourceView } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Screen } from '../parts/screen.tsx';
import { EnabledBadge, StatusBadge } from '../parts/status.tsx';
import { Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { addressOf, type RouteMatch } from '../routes.ts';
import { curlCommand, timeInZone, triggerSourceText } from './trigger-text.ts';

const POLL_MS = 5_000;
const NEXT_TIMES = 5;

export function TriggerScreen({ route }: { readonly route: RouteMatch<'trigger'> }) {
  const { id } = route.params;
  const path = apiPath`/api/triggers/${id}`;
  const trigger = useGet<Trigger>(path, { pollMs: POLL_MS });
  const firings = useGet<Firings>(`${path}/deliveries`, { pollMs: POLL_MS });
  const [dialog, setDialog] = useState<'fire' | 'delete'>();
  const toggle = useAction(async (verb: 'enable' | 'disable') => trigger.set(await post<Trigger>(`${path}/${verb}`)));
  const { data } = trigger;
  return (
    <Screen
      title={data?.name ?? 'Trigger'}
      headingExtra={data && <EnabledBadge {...data} />}
      actions={
        data === undefined ? null : (
          <>
            <Button
              needs="runner"
              isDisabled={!data.enabled}
              disabledReason="The trigger is disabled."
              onClick={() => setDialog('fire')}
            >
              Fire…
            </Button>
            <Button
              needs="editor"
              isBusy={toggle.isRunning}
              onClick={() => void toggle.run(data.enabled ? 'disable' : 'enable')}
            >
              {data.enabled ? 'Disable' : 'Enable'}
            </Button>
            <Button
              needs="editor"
              isDisabled={data.source === 'definition'}
              disabledReason="It stands in the definition of its workflow. Remove it there."
              onClick={() => setDialog('delete')}
            >
              Delete…
            </Button>
          </>
        )
      }
    >
      <Problem problem={toggle.problem} />
      <ResourceView resource={trigger} what="the trigger">
        {(one) => (
          <>
            <TriggerDetails trigger={one} />
            {one.type === 'webhook' && one.webhookUrl !== undefined ? (
              <Webhook url={one.webhookUrl} config={one.config} />
            ) : null}
            {one.schedule === undefined ? null : <NextTimes trigger={one} />}
          </>
        )}
      </ResourceView>
      <h2>Last firings</h2>
      <ResourceView resource={firings} what="the last firings">
        {({ items }) =>
          items.length === 0 ? <EmptyState>It has not fired yet.</EmptyState> : <FiringTable firings={items} />
        }
      </ResourceView>
      {data === undefined ? null : (
        <details>
          <summary>Configuration</summary>
          <JsonTree value={data.config} name="configuration" />
        </details>
      )}
      {dialog === 'fire' && data !== undefined ? (
        <FireDialog
          path={path}
          onClose={(executionId) => {
            setDialog(undefined);
            firings.reload();
            if (executionId !== undefined && hasScreen('run')) navigate(addressOf('run', { id: executionId }));
          }}
        />
      ) : null}
      {dialog === 'delete' && data !== undefined ? (
        <DeleteDialog
          noun="trigger"
          name={data.name}
          path={path}
          about="It starts no more runs. Runs that it started go on."
          onClose={(isDeleted) => (isDeleted ? navigate(addressOf('triggers')) : setDialog(undefined))}
        />
      ) : null}
    </Screen>
  );
}

const TriggerDetails = ({ trigger }: { readonly trigger: Trigger }) => {
  const { lastRun, by } = trigger;
  const { started, repeated, debounced, refused } = trigger.counts;
  return (
    <div class="card">
      <Facts
        entries={{
          Starts: <WorkflowLink slug={trigger.workflowId} />,
          By: (
            <>
              {trigger.type} <code>{triggerSourceText(trigger)}</code>
            </>
          ),
          'Stands in': trigger.source === 'definition' ? 'the definition of the workflow' : 'the API',
          Firings: `${started} started, ${repeated} repeated, ${debounced} debounced, ${refused} refused`,
          'Last run': lastRun && (
            <span class="row">
              <RunLink id={lastRun.executionId}>
                <code>{lastRun.executionId}</code>
              </RunLink>
              <StatusBadge status={lastRun.status} />
            </span>
          ),
          Changed: (
            <>
              <Time at={trigger.updatedAt} isTabStop /> {by === undefined ? '' : `by ${by}`}
            </>
          ),
        }}
      />
    </div>
  );
};

function Webhook({ url, config }: { readonly url: string; readonly config: Trigger['config'] }) {
  const command = curlCommand(url, '{}', config);
  return (
    <section class="card stack" aria-label="Address">
      <div class="row">
        <code>{url}</code>
        <CopyButton text={url} what="the address" />
      </div>
      <div class="row">
        <pre class="block">{command}</pre>
        <CopyButton text={command} what="the command" />
      </div>
      {command.includes('$SECRET') ? (
        <p class="dim">
          Set SECRET to the secret of the trigger first. The command{' '}
          {config['scheme'] === 'api_key' ? 'sends it with the request.' : 'signs the request with it.'}
        </p>
      ) : null}
    </section>
  );
}

/** In the zone of the schedule and in the viewer's, where they differ. */
function NextTimes({ trigger }: { readonly trigger: Trigger }) {
  const { schedule, config } = trigger;
  const zone = typeof config['timezone'] === 'string' ? config['timezone'] : undefined;
  const times = schedule?.nextTimes.slice(0, NEXT_TIMES) ?? [];
  return (
    <section class="card stack" aria-label="Next times">
      <h2>Next times</h2>
      {schedule?.paused === true ? <p class="notice">It is paused, so it starts no runs.</p> : null}
      <ul class="plain">
        {times.map((time) => {
          const zoneTime = zone === undefined ? undefined : timeInZone(time, zone);
          const localTime = timeInZone(time, undefined);
          return (
            <li key={time}>
              <Time at={time} isTabStop /> · {zoneTime === undefined ? localTime : `${zoneTime} in ${zone}`}
              {zoneTime === undefined || zoneTime === localTime ? '' : ` · ${localTime} here`}
            </li>
          );
        })}
      </ul>
      <p class="dim">
        {schedule?.skipped ?? 0} skipped since a run was active, {schedule?.missed ?? 0} missed.
      </p>
    </section>
  );
}

const FiringTable = ({ firings }: { readonly firings: Firings['items'] }) => (
  <Table
    label="Last firings"
    rows={firings}
    keyOf={({ at: when, outcome }) => `${when} ${outcome}`}
    columns={[
      { label: 'When', cell: ({ at: when }) => <Time at={when} /> },
      { label: 'Outcome', cell: ({ outcome, count }) => `${outcome}${count > 1 ? ` ×${count}` : ''}` },
      {
        label: 'Run, or why not',
        cell: ({ executionId, code, message }) =>
          executionId === undefined ? (
            <>
              <code>{code}</code> {message}
            </>
          ) : (
            <RunLink id={executionId}>
              <code>{executionId}</code>
            </RunLink>
          ),
      },
    ]}
  />
);

interface FireProps {
  readonly path: string;
  readonly onClose: (executionId?: string) => void;
}

/** Fires with a body, as a request or an event would. */
function FireDialog({ path, onClose }: FireProps) {
  const [text, setText] = useState('{}');
  // A double click starts one run.
  const [clientRequestId] = useState(() => crypto.randomUUID());
  const started = useRef<string>(undefined);
  const body = parseJsonInput(text);
  return (
    <FormDialog
      title="Fire the trigger"
      save={async () => {
        const sent = { input: body.value ?? {}, clientRequestId };
        started.current = (await post<{ readonly executionId: string }>(`${path}/run`, sent)).executionId;
      }}
      saveLabel="Fire"
      needs="runner"
      onClose={() => onClose(started.current)}
      isReady={body.error === undefined}
      disabledReason="The body is no JSON."
    >
      <JsonField
        label="Body"
        hint="JSON. The mapping of the trigger reads it; without a mapping it is the input of the run."
        rows={8}
        value={text}
        onValue={setText}
      />
    </FormDialog>
  );
}
