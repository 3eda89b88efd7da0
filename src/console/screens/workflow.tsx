/** One workflow: its graph, triggers and last runs; its proposals; its settings. */
import { useState } from 'preact/hooks';
import { at, get, patch, post } from '../data/api.ts';
import { absoluteText } from '../data/labels.ts';
import { usePages } from '../data/pages.ts';
import { useAction, useGet, useResource } from '../data/resource.ts';
import { useMay } from '../data/session.ts';
import type { ExecutionPage, Proposal, ReadWorkflow, Trigger, TriggerPage } from '../data/types.ts';
import { changeQuery, navigate } from '../navigation.ts';
import { announce } from '../parts/announcer.tsx';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { CheckField, Form, TextArea, TextField, useTexts } from '../parts/fields.tsx';
import { DeleteDialog } from '../parts/form-dialog.tsx';
import { Json } from '../parts/json.tsx';
import { To } from '../parts/link.tsx';
import { Loaded } from '../parts/loading.tsx';
import { Listed } from '../parts/more.tsx';
import { Problem } from '../parts/problem.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { addressOf, type Place } from '../routes.ts';
import { durationColumn, idColumn, startedColumn, statusColumn, whyColumn } from './run-columns.tsx';
import { GraphCard, WorkflowFrame, type WorkflowTab } from './workflow-parts.tsx';

const LAST_RUNS = 5;
const PAGE = 50;
const POLL_MS = 5_000;

export function WorkflowScreen({ place }: { readonly place: Place<'workflow'> }) {
  const { slug } = place.params;
  const { tab } = place.query;
  const shown: WorkflowTab = tab === 'proposals' || tab === 'settings' ? tab : 'overview';
  const workflow = useGet<ReadWorkflow>(at`/api/workflows/${slug}`);
  const { data } = workflow;
  return (
    <WorkflowFrame
      slug={slug}
      title={data?.name ?? slug}
      tab={shown}
      beside={
        data === undefined ? null : (
          <span class="dim">
            {data.version}
            {data.enabled ? '' : ' · disabled'}
          </span>
        )
      }
    >
      <Loaded resource={workflow} what="the workflow">
        {(read) =>
          shown === 'overview' ? (
            <Overview workflow={read} selected={place.query['step']} />
          ) : shown === 'proposals' ? (
            <Proposals workflow={read} />
          ) : (
            <Settings key={read.hash} workflow={read} onChanged={workflow.again} />
          )
        }
      </Loaded>
    </WorkflowFrame>
  );
}

function Overview({ workflow, selected }: { readonly workflow: ReadWorkflow; readonly selected: string | undefined }) {
  const { slug, hash, definition, description } = workflow;
  const runs = useGet<ExecutionPage>(at`/api/workflows/${slug}/executions`, {
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
          <Json value={step} name="step" />
        </section>
      )}
      <Triggers slug={slug} />
      <section class="card" aria-labelledby="last-runs">
        <h2 id="last-runs">Last runs</h2>
        <Loaded resource={runs} what="the last runs">
          {({ items }) =>
            items.length === 0 ? (
              <p class="dim">
                It has not run yet.{' '}
                <To to="runForm" params={{ slug }}>
                  Start it
                </To>
              </p>
            ) : (
              <Table
                label="The last runs"
                rows={items}
                keyOf={({ id }) => id}
                columns={[statusColumn, idColumn, whyColumn, startedColumn, durationColumn]}
              />
            )
          }
        </Loaded>
      </section>
    </>
  );
}

const MOST_TIMES = 5;

function Triggers({ slug }: { readonly slug: string }) {
  const triggers = useResource(`triggers of ${slug}`, async (signal) => {
    const { items } = await get<TriggerPage>(at`/api/triggers`, { query: { workflowId: slug }, signal });
    // A single trigger also says when it fires next.
    return Promise.all(
      items.map((one) =>
        one.type === 'schedule' ? get<Trigger>(at`/api/triggers/${one.id}`, { signal }).catch(() => one) : one,
      ),
    );
  });
  return (
    <section class="card" aria-labelledby="triggers">
      <h2 id="triggers">Triggers</h2>
      <Loaded resource={triggers} what="the triggers">
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
      </Loaded>
    </section>
  );
}

function TriggerItem({ trigger }: { readonly trigger: Trigger }) {
  const { id, name, type, enabled, webhookUrl, config, counts, schedule } = trigger;
  const zone = typeof config['timezone'] === 'string' ? config['timezone'] : 'UTC';
  return (
    <li>
      <p>
        <To to="trigger" params={{ id }}>
          {name}
        </To>{' '}
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
            {schedule.nextTimes.slice(0, MOST_TIMES).map((time) => (
              <tr key={time}>
                <td>{timeIn(time, zone)}</td>
                <td>{absoluteText(Date.parse(time))}</td>
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
  const list = usePages<Proposal>(at`/api/workflows/${slug}/proposals`, { limit: PAGE });
  const { allowSelfModification } = (definition['constraints'] ?? {}) as { allowSelfModification?: boolean };
  const columns: readonly Column<Proposal>[] = [
    {
      label: 'Proposal',
      isPlain: true,
      cell: ({ id, notes }) => (
        <To to="proposal" params={{ slug, id }}>
          {notes ?? id}
        </To>
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
    <Listed
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
    </Listed>
  );
}

interface SettingsProps {
  readonly workflow: ReadWorkflow;
  readonly onChanged: () => void;
}

function Settings({ workflow, onChanged }: SettingsProps) {
  const { slug, definition } = workflow;
  const may = useMay('editor');
  const described = definition['description'];
  const [{ name, tags, description }, field] = useTexts({
    name: workflow.name,
    tags: workflow.tags.join(', '),
    description: typeof described === 'string' ? described : '',
  });
  const [isDeleting, setDeleting] = useState(false);
  /** What was just chosen, until the workflow is read again. */
  const [wanted, setWanted] = useState<boolean>();
  const toggle = useAction(async (isEnabled: boolean) => {
    await post(`${at`/api/workflows/${slug}`}/${isEnabled ? 'enable' : 'disable'}`);
    announce(isEnabled ? 'Enabled.' : 'Disabled.');
    onChanged();
  });
  const save = useAction(async () => {
    const list = tags.split(',').map((tag) => tag.trim());
    await patch(at`/api/workflows/${slug}`, {
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
        <TextField label="Name" {...field('name')} isRequired isReadOnly={!may} />
        <TextArea label="Description" {...field('description')} rows={3} />
        <TextField label="Tags" hint="Separated by commas" {...field('tags')} isReadOnly={!may} />
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
          {may ? (
            <CheckField
              label="Enabled"
              hint="While it is disabled no run starts. Active runs go on."
              isChecked={wanted ?? workflow.enabled}
              onChange={(isEnabled) => {
                setWanted(isEnabled);
                void toggle.run(isEnabled).then((isDone) => isDone || setWanted(undefined));
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
            <Json value={concurrency} name="concurrency" />
          )}
          <To to="settings" params={{ section: 'limits' }}>
            Limits of the organization
          </To>
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
          path={at`/api/workflows/${slug}`}
          about="Its triggers are deleted too. Active runs go on, and its versions stay readable."
          onClose={(isDeleted) => (isDeleted ? navigate(addressOf('workflows')) : setDeleting(false))}
        />
      ) : null}
    </div>
  );
}
