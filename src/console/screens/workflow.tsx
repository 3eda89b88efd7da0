/** One workflow: its graph, triggers and last runs; its proposals; its settings. */
import { useState } from 'preact/hooks';
import { apiPath, get, patch, post } from '../data/api.ts';
import { absoluteTimeText } from '../data/format-text.ts';
import { usePages } from '../data/pages.ts';
import { useAction, useGet, useResource } from '../data/resource.ts';
import { useHasRole } from '../data/session.ts';
import type { ExecutionPage, Proposal, ReadWorkflow, Trigger, TriggerPage } from '../data/types.ts';
import { changeQuery, navigate } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { CheckField, Form, TextArea, TextField, useTextFields } from '../parts/fields.tsx';
import { DeleteDialog } from '../parts/form-dialog.tsx';
import { JsonTree } from '../parts/json-tree.tsx';
import { ScreenLink } from '../parts/link.tsx';
import { ResourceView } from '../parts/loading.tsx';
import { PagedList } from '../parts/paged-list.tsx';
import { Problem } from '../parts/problem.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { addressOf, type RouteMatch } from '../routes.ts';
import { durationColumn, idColumn, startedColumn, statusColumn, waitOrErrorColumn } from './run-columns.tsx';
import { GraphCard, WorkflowFrame, type WorkflowTab } from './workflow-frame.tsx';

const LAST_RUNS = 5;
const PAGE_SIZE = 50;
const POLL_MS = 5_000;

export function WorkflowScreen({ route }: { readonly route: RouteMatch<'workflow'> }) {
  const { slug } = route.params;
  const { tab } = route.query;
  const shown: WorkflowTab = tab === 'proposals' || tab === 'settings' ? tab : 'overview';
  const workflow = useGet<ReadWorkflow>(apiPath`/api/workflows/${slug}`);
  const { data } = workflow;
  return (
    <WorkflowFrame
      slug={slug}
      title={data?.name ?? slug}
      tab={shown}
      headingExtra={
        data === undefined ? null : (
          <span class="dim">
            {data.version}
            {data.enabled ? '' : ' · disabled'}
          </span>
        )
      }
    >
      <ResourceView resource={workflow} what="the workflow">
        {(read) =>
          shown === 'overview' ? (
            <Overview workflow={read} selected={route.query['step']} />
          ) : shown === 'proposals' ? (
            <Proposals workflow={read} />
          ) : (
            <Settings key={read.hash} workflow={read} onChanged={workflow.reload} />
          )
        }
      </ResourceView>
    </WorkflowFrame>
  );
}

function Overview({ workflow, selected }: { readonly workflow: ReadWorkflow; readonly selected: string | undefined }) {
  const { slug, hash, definition, description } = workflow;
  const runs = useGet<ExecutionPage>(apiPath`/api/workflows/${slug}/executions`, {
    query: { limit: LAST_RUNS },
    pollMs: POLL_MS,
  });
  const steps = definition['steps'] as { readonly [slug: string]: unknown };
  const step = selected === undefined ? undefined : steps[selected];
  return (
    <>
      {description === undefined ? null : <p>{description}</p>}
      <GraphCard
        slug={slug}
        hash={hash}
        selected={selected}
        onSelect={(chosen) => changeQuery({ step: chosen === selected ? undefined : chosen })}
      />
      {step === undefined ? null : (
        <section class="card" aria-label={`The step ${selected}`}>
          <h2>{selected}</h2>
          <JsonTree value={step} name="step" />
        </section>
      )}
      <Triggers slug={slug} />
      <section class="card" aria-labelledby="last-runs">
        <h2 id="last-runs">Last runs</h2>
        <ResourceView resource={runs} what="the last runs">
          {({ items }) =>
            items.length === 0 ? (
              <p class="dim">
                It has not run yet.{' '}
                <ScreenLink to="runForm" params={{ slug }}>
                  Start it
                </ScreenLink>
              </p>
            ) : (
              <Table
                label="The last runs"
                rows={items}
                keyOf={({ id }) => id}
                columns={[statusColumn, idColumn, waitOrErrorColumn, startedColumn, durationColumn]}
              />
            )
          }
        </ResourceView>
      </section>
    </>
  );
}

const MAX_TIMES = 5;

function Triggers({ slug }: { readonly slug: string }) {
  const triggers = useResource(`triggers of ${slug}`, async (signal) => {
    const { items } = await get<TriggerPage>(apiPath`/api/triggers`, { query: { workflowId: slug }, signal });
    // A single trigger also says when it fires next.
    return Promise.all(
      items.map((one) =>
        one.type === 'schedule' ? get<Trigger>(apiPath`/api/triggers/${one.id}`, { signal }).catch(() => one) : one,
      ),
    );
  });
  return (
    <section class="card" aria-labelledby="triggers">
      <h2 id="triggers">Triggers</h2>
      <ResourceView resource={triggers} what="the triggers">
        {(rows) =>
          rows.length === 0 ? (
            <p class="dim">It has no triggers. It is started by hand, by the API, or by another workflow.</p>
          ) : (
            <ul class="plain stack triggers">
              {rows.map((one) => (
                <TriggerItem key={one.id} trigger={one} />
              ))}
            </ul>
          )
        }
      </ResourceView>
    </section>
  );
}

function TriggerItem({ trigger }: { readonly trigger: Trigger }) {
  const { id, name, type, enabled, webhookUrl, config, counts, schedule } = trigger;
  const zone = typeof config['timezone'] === 'string' ? config['timezone'] : 'UTC';
  return (
    <li>
      <p>
        <ScreenLink to="trigger" params={{ id }}>
          {name}
        </ScreenLink>{' '}
        <span class="dim">
          {type}
          {enabled ? '' : ', disabled'} · {counts.started} started
          {counts.refused === 0 ? '' : `, ${counts.refused} refused`}
        </span>
      </p>
      {webhookUrl === undefined ? null : (
        <p>
          <code>{webhookUrl}</code> <CopyButton text={webhookUrl} what="the address" />
        </p>
      )}
      {type === 'event' ? (
        <p class="dim">
          on the event <code>{String(config['name'])}</code>
        </p>
      ) : null}
      {schedule === undefined ? null : schedule.paused ? (
        <p class="dim">It is paused.</p>
      ) : (
        <table class="times">
          <caption>
            Next times of <code>{String(config['cron'] ?? '')}</code>
          </caption>
          <thead>
            <tr>
              <th scope="col">{zone}</th>
              <th scope="col">Your time</th>
            </tr>
          </thead>
          <tbody>
            {schedule.nextTimes.slice(0, MAX_TIMES).map((time) => (
              <tr key={time}>
                <td>{timeIn(time, zone)}</td>
                <td>{absoluteTimeText(Date.parse(time))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </li>
  );
}

/** In the zone of the trigger; as UTC where the browser does not know the zone. */
function timeIn(iso: string, timeZone: string): string {
  const options = { dateStyle: 'medium', timeStyle: 'medium' } as const;
  try {
    return new Date(iso).toLocaleString('en-GB', { ...options, timeZone });
  } catch {
    return `${new Date(iso).toLocaleString('en-GB', { ...options, timeZone: 'UTC' })} UTC`;
  }
}

function Proposals({ workflow: { slug, hash, definition } }: { readonly workflow: ReadWorkflow }) {
  const list = usePages<Proposal>(apiPath`/api/workflows/${slug}/proposals`, { limit: PAGE_SIZE });
  const { allowSelfModification } = (definition['constraints'] ?? {}) as { allowSelfModification?: boolean };
  const columns: readonly Column<Proposal>[] = [
    {
      label: 'Proposal',
      isPlain: true,
      cell: ({ id, notes }) => (
        <ScreenLink to="proposal" params={{ slug, id }}>
          {notes ?? id}
        </ScreenLink>
      ),
    },
    {
      label: 'Status',
      cell: ({ status, baseWorkflowHash }) => (
        <>
          {status}
          {(status === 'pending' || status === 'approved') && baseWorkflowHash !== hash ? (
            <strong class="urgent"> stale</strong>
          ) : null}
        </>
      ),
    },
    { label: 'By', cell: ({ proposedBy }) => proposedBy ?? '' },
    { label: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  return (
    <PagedList
      list={list}
      what="the proposals"
      empty={
        <>
          <p>Nobody has proposed a change.</p>
          <p class="dim">
            {allowSelfModification === true
              ? 'Whoever may run the workflow may propose one: npx signalbox propose FILE'
              : 'It takes no proposals. Its definition can allow them: constraints.allowSelfModification.'}
          </p>
        </>
      }
    >
      {(items) => <Table label="Proposals" columns={columns} rows={items} keyOf={({ id }) => id} />}
    </PagedList>
  );
}

interface SettingsProps {
  readonly workflow: ReadWorkflow;
  readonly onChanged: () => void;
}

function Settings({ workflow, onChanged }: SettingsProps) {
  const { slug, definition } = workflow;
  const mayEdit = useHasRole('editor');
  const described = definition['description'];
  const [{ name, tags, description }, field] = useTextFields({
    name: workflow.name,
    tags: workflow.tags.join(', '),
    description: typeof described === 'string' ? described : '',
  });
  const [isDeleting, setDeleting] = useState(false);
  /** The value that was just chosen, until the workflow is reloaded. */
  const [wantedEnabled, setWantedEnabled] = useState<boolean>();
  const toggle = useAction(async (isEnabled: boolean) => {
    await post(`${apiPath`/api/workflows/${slug}`}/${isEnabled ? 'enable' : 'disable'}`);
    announce(isEnabled ? 'Enabled.' : 'Disabled.');
    onChanged();
  });
  const save = useAction(async () => {
    const list = tags.split(',').map((tag) => tag.trim());
    await patch(apiPath`/api/workflows/${slug}`, {
      name,
      tags: list.filter((tag) => tag !== ''),
      description: description === '' && described === undefined ? undefined : description,
    });
    announce('Saved.');
    onChanged();
  });
  const concurrency = definition['concurrency'];
  return (
    <div class="columns">
      <Form class="form card" label="Settings" onSubmit={() => void save.run()}>
        <TextField label="Name" {...field('name')} isRequired isReadOnly={!mayEdit} />
        <TextArea label="Description" {...field('description')} rows={3} />
        <TextField label="Tags" hint="Separated by commas" {...field('tags')} isReadOnly={!mayEdit} />
        <Problem problem={save.problem} />
        <div class="actions">
          <Button type="submit" kind="primary" needs="editor" isBusy={save.isRunning}>
            Save
          </Button>
        </div>
        <p class="dim">Saving makes a new version. The comments in its text stay.</p>
      </Form>
      <div class="stack">
        <section class="card" aria-label="State">
          {mayEdit ? (
            <CheckField
              label="Enabled"
              hint="While it is disabled no run starts. Active runs go on."
              isChecked={wantedEnabled ?? workflow.enabled}
              onChange={(isEnabled) => {
                setWantedEnabled(isEnabled);
                void toggle.run(isEnabled).then((isDone) => isDone || setWantedEnabled(undefined));
              }}
            />
          ) : (
            <p>{workflow.enabled ? 'Enabled' : 'Disabled'}</p>
          )}
          <Problem problem={toggle.problem} />
        </section>
        <section class="card" aria-labelledby="limits">
          <h2 id="limits">Limits</h2>
          {concurrency === undefined ? (
            <p class="dim">Its definition limits no concurrent runs (concurrency).</p>
          ) : (
            <JsonTree value={concurrency} name="concurrency" />
          )}
          <ScreenLink to="settings" params={{ section: 'limits' }}>
            Limits of the organization
          </ScreenLink>
        </section>
        <section class="card" aria-label="Delete">
          <div>
            <Button kind="danger" needs="editor" onClick={() => setDeleting(true)}>
              Delete the workflow…
            </Button>
          </div>
        </section>
      </div>
      {isDeleting ? (
        <DeleteDialog
          noun="workflow"
          name={slug}
          path={apiPath`/api/workflows/${slug}`}
          about="Its triggers are deleted too. Active runs go on, and its versions stay readable."
          onClose={(isDeleted) => (isDeleted ? navigate(addressOf('workflows')) : setDeleting(false))}
        />
      ) : null}
    </div>
  );
}
