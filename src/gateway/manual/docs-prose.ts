/** What the manual says that no table in the code knows. */
import { MOST_SECRETS_PER_STEP, SHORTEST_SECRET_CHARACTERS } from '../../definition/document/limits.ts';

export const WALKING = `\`\`\`yaml
name: Refund
slug: refund
input: {order: string, amount: number}
config: {timeout: 30d, variables: {limit: 100}}
steps:
  big:    {stepType: condition, config: {expression: input.amount > limit}, nextSteps: {'true': review, 'false': done}}
  review: {stepType: approval, config: {message: 'Refund {{ input.amount }}?', timeout: 2d}, nextSteps: {approved: done, rejected: told, timeout: told}}
  done:   {stepType: finish, config: {output: {refunded: true}}}
  told:   {stepType: finish, config: {output: {refunded: false}}}
\`\`\`

- **Ports.** A step ends with a port and an output \`{type, data, meta}\`. \`nextSteps\` says where the port leads. Where it leads nowhere, the tick of a loop,
  the iteration, the branch, or at the top the run ends; \`$end\` ends the run from anywhere. Going in circles is allowed.
- **Errors.** A step that fails goes by its port \`error\`; where that is not wired, \`onError: continue\` goes on with null; else the failure rises: to
  the container around it, which decides, and at the top it fails the run.
- **Containers.** \`loop\`, \`forEach\`, \`parallel\` and \`race\` have a body: the steps that their body ports reach and their other ports do not. An edge
  back to the container ends the tick, iteration or branch; another edge out of a loop's body leaves the loop, and out of a branch there is none.
- **Visits.** \`when\` is asked first, then the config is evaluated, once for all attempts. At the end come \`saveToState\`, \`outputVariable\` and
  the config of \`rollback\`. While an effect is tried again, the run (\`retrying\`) and its step show \`lastError\` and \`nextAttemptAt\`; \`/steps?attempts=true\` has
  a row for every attempt, with its error where Temporal keeps it: of the last two attempts, and of the first one of a light effect.
- **Paths.** A visit is named by its path: \`each~3/ask\` (tick 3 of a loop), \`split/left/ask\` (a branch), \`all[2]/ask\` (an iteration), \`ask#2\` (the second
  visit). Where a caller names a step, it is a path, or a slug with one open visit.
- **dag.** With \`flow: dag\` there are no \`nextSteps\`: a step runs as soon as the steps that it refers to, or names in \`dependsOn\`, have ended.

[Documents of four other systems](/docs/dialects) are read too, and become this form.`;

export const EXPRESSIONS = `Expressions are those of [Jexl](https://github.com/TomFrost/Jexl). They are parsed when a definition is checked, evaluated on plain values, and have limits.

${'```'}
input.items[.price > 5]|length > 0 && !(customer.country in ['DE', 'AT'])
steps.fetch.output.data.total / 100 ?: 0
${'```'}

- **Values.** Numbers, texts in either quotes, \`true\`, \`false\`, \`null\`, \`undefined\`, \`[1, 2]\`, \`{a: 1}\`.
- **Operators.** \`+ - * / // % ^\`, \`== != > >= < <= in\`, \`&& || !\`, \`a ? b : c\`, \`a ?: b\`. \`==\` is loose, \`in\` is strict. \`&&\` and \`||\` bind alike, from left
  to right: use parentheses where both occur.
- **Paths.** \`a.b\`, \`a['b-c']\`, \`a[0]\`, filters \`orders[.total > 5]\`. A path that leads nowhere is \`undefined\`; a property of a list that is not empty is read off
  its first element. Where \`input.customer.name\` leads nowhere, a member that is itself called \`customer.name\` is read: what is nested comes first, then the longest such name.
- **Transforms.** \`value|name(arguments)\`, one after the other.

Texts of a config are templates: \`{{ expression }}\` is replaced by its value. A text that is one template keeps the value's type, and is null where there is none. In a longer
text a path that leads nowhere is the error \`unresolved_reference\`: give a fallback, \`{{ x ?: 'none' }}\`. What comes out of a template is not read again.

\`{{ secrets.NAME }}\` and \`{{ callback('slug') }}\` are no values: what they stand for is put in by the activity, right before use, and stands in no history.`;

export const SECRETS = `A secret is stored with \`PUT /api/secrets/NAME\` under the organization, encrypted, and never answered. A definition names those that it uses,
\`config: {secrets: {KEY: payments/live}}\`, and writes \`{{ secrets.KEY }}\`, alone or within a text, without a transform, in the url, query, headers, body and auth of \`http\`,
the credentials of \`send_message\`, and where else the page of a kind says so. Anywhere else it is an error of the checker.

- **Not a value.** A run holds the place of a secret, never the secret. The activity that needs it reads it right before use.
- **Bound.** \`allowedHosts\` (\`api.example.com\`, \`*.example.com\`, with a port if that counts) and \`allowedWorkflows\` say where it may be used; elsewhere the step fails with
  \`secret_not_allowed\` before anything is sent. A run counts as one of a workflow if it walks a stored version of it: one that is not stored, or was started by hand in Temporal, does not. They stay when a new value is stored without them; null takes one away. A URL that is a secret as a whole has no host that could be asked about: write the host, and the rest as the secret,
  \`https://hooks.slack.com/services/{{ secrets.SLACK_HOOK }}\`. At a redirect to another origin credentials stay behind.
- **Taken out.** Results, errors and heartbeats are searched for the values before they leave the activity, also as URLs, JSON, HTML and base64 write them; \`[secret]\` stands in their
  place. A value needs ${SHORTEST_SECRET_CHARACTERS} characters to be found, so a shorter one is not stored. What another side tells in a shape of its own (encrypted, or bit by bit) is not found.
  A step may use ${MOST_SECRETS_PER_STEP} secrets, which are looked for together (\`too_many_secrets\`); where they cannot be taken out, the result is withheld (\`scrub_failed\`).
- **Clear secrets in a document**, \`triggers[].config.secret\` and \`config.secrets: {KEY: {value}}\`, are stored so when it comes in, and replaced by their names.
  They are bound to that workflow, both for its steps and for its webhooks, unless \`allowedWorkflows\` says otherwise.`;

export const WEBHOOKS = `Deliveries go to \`/webhooks/PATH\`. A signature is checked over the bytes as they came; github, stripe, slack and standard (Standard Webhooks) as their
senders write them, hmac by the members above, api_key compares a header (x-api-key unless \`header\` says otherwise). A delivery that comes twice starts one run: by the sender's id (github,
standard), by \`Idempotency-Key\` (api_key, none: where nothing is signed), else by what was sent, for five minutes. What github and hmac
sign has neither an id nor, without \`timestampHeader\`, a time: so the same signed bytes are one delivery as well, for 24 hours with github and five minutes with hmac, or for as long as
\`replayWindow\` says. Slack's \`url_verification\` is answered
with its challenge, and starts nothing; GitHub's \`ping\` is a delivery like any other, which \`headers["x-github-event"]\` tells from the rest. A body is JSON or a form.
An address that begins with the name of an organization is that organization's, so a path of \`default\` may not begin so (\`path_reserved\`).`;

export const SCHEDULES = `A schedule of Temporal starts one run at each time, whatever is restarted meanwhile; the run's input is \`{scheduledTime}\`, or what the mapping makes of it. Where both
day fields are restricted (neither begins with \`*\`) a day that matches either will do. Of the hours that the clock skips in spring none comes that day; a fixed hour that it repeats
in autumn comes once, and where minutes alone are named (\`*/15 * * * *\`) each of the two does. Patterns that name hours or days, and come more than once within that hour, lose
some of its times and of the next ones in zones east of UTC, as Temporal reckons: give those in UTC where that counts. \`POST /api/triggers/ID/backfill {start, end}\` makes up for
times that went by, from \`start\` up to \`end\` and both included, each once: its runs go at the same time, whatever the schedule says, unless \`overlap\` says otherwise. A schedule that
somebody has paused in Temporal shows \`schedule: {paused: true}\`.`;

export const EVENTS = `An event is published with \`POST /api/events {name, key?, data, id}\`. It starts the triggers of its name whose \`filter\` lets it: the filter reads \`event\`, and its members
\`name\`, \`key\`, \`data\` and \`id\` by themselves. The data is the run's input, or what the mapping makes of it; a template of the mapping reads \`params.name\`, \`params.id\` and \`params.key\`.

Runs that wait in a \`listen\` step for the event's name are sent the data too. Give the event a \`key\`, such as an order number, and the step the same \`key: '{{ input.order }}'\`: then the event
wakes only the runs that listen to that key, and those that listen without one. An event without a key reaches only listeners without one. A run keeps no event that no listener of
it takes. A run that began to listen up to three seconds after the event was published may still be sent it.

Two events with one \`id\` are one event. A trigger whose run cannot be started for the moment is tried again until it can; one that is refused, also by a full limit whose \`overflow\` is \`reject\`,
says so in its counts and its \`last\`.`;

export const STARTS = `A trigger is \`WORKFLOW.NAME\` under \`/api/triggers\`, with its counts, its last run and, for a schedule, its next times. Those of a definition come and go with it, and can be
switched on and off by \`/enable\` and \`/disable\`, which lasts until the definition says something else; others are made by \`POST /api/triggers\`. \`/run\` fires any of them by hand.

- **Debounce.** With \`config: {debounce: {key, seconds}}\` payloads of one key start one run, with the last of them, when so long nothing more has come: from webhooks, events and the
  public trigger. The key is a path into the payload (\`customer.id\`, else a member of that very name), or a template; a payload without it starts its run at once. Payloads
  that never cease put the run off for ever, unless \`maxWait\` says how long the first may wait: \`maxWait: 10m\`.
- **Restart.** With \`config: {mode: restart}\` a new run takes the place of the active one of the same debounce key, or of the workflow where there is none: that one is rolled back, and ends as \`aborted\`.
- **Strangers** start a workflow by \`POST /api/public/trigger/KEY/WORKFLOW\` with the organization's public key (\`GET /api/public-key\`; a POST there makes another). The body is the payload: JSON, a form,
  or a text. The workflow must say so by \`config: {publicStart: true}\`; one of the dialect 004 says it unless it has \`public_start: false\`. Editors see the key.
- **Initiator.** A run's initiator may not approve it. That is whoever starts it with a key, publishes the event that starts it, sends its trigger a test request, or asks for times to be made up
  for; also whoever shows an API key at the public trigger. A delivery of a webhook and a tick of a schedule have none.
- **Once.** Every POST takes an \`Idempotency-Key\`: the same request again gets the same answer, another one with its key is refused.`;

export const SIGNALS_INTRODUCTION = `A run is a workflow of the type \`run\`; its id is the execution's id. Whoever can reach Temporal can speak to it, by \`temporal workflow signal\` or any SDK. Each
takes one JSON object. \`step\` is a slug or the path of one visit, and may be left out where just one fits. With a \`key\` the same request again is the same request. A member that is not listed is refused: a signal that has one is ignored, and the run's current details say so. A signal has no
answer; an update answers \`{accepted, path}\`, or is refused with a typed error and leaves no trace.

A run is started with \`{definition, input?, presets?}\`, or with a definition alone.

\`temporal workflow stack\` shows nothing of a run, since a run is data and no code: \`temporal workflow metadata\` and the queries tell where it stands.`;
