/** The manual's page on keys, roles, persons, the audit and encryption; its table is the one that the routes ask. */
import { ROLES } from '../../contract/organization.ts';
import { operations } from './openapi-operations.ts';
import { code, type Page, table } from './schema-words.ts';

export function accessPage(): Page {
  const rows = ROLES.map((role) => [
    code(role),
    operations.flatMap((one) => (one.role === role ? [code(`${one.method} ${one.path}`)] : [])).join(', '),
  ]);
  return {
    name: 'access',
    title: 'Access',
    summary: 'API keys, roles, organizations, persons in approvals, the audit, encryption.',
    markdown: `${KEYS}

${table(['Role', 'May use, beside what the roles before it may'], rows)}

${PERSONS}`,
  };
}

const KEYS = `## Keys

While there are no keys the gateway serves this machine only, and whoever reaches it may do everything. With the first key every request
to \`/api\` needs one: \`Authorization: Bearer sbk_…\`; the command line takes it from \`SIGNALBOX_API_KEY\`. The first key must be an admin's:

\`\`\`text
npx signalbox keys create ann --role admin
npx signalbox keys create ci --role runner
npx signalbox keys list
npx signalbox keys revoke 3f9a0c51d2b7
\`\`\`

A key is shown once. It is kept as an HMAC, together with what it may do, so that nobody can raise that by writing into Temporal; revoked, it gets
nobody in any more: at once at the gateway that revoked it, within two seconds at others. To serve another interface than this machine's before
there is a key, and to get in again when all are lost, start the gateway with \`SIGNALBOX_ADMIN_KEY\`: whoever shows that text is an admin of \`default\`.

A key belongs to one organization. An admin of \`default\` makes another organization by making its first key (\`--organization acme\`, or \`organization\` in
the body). What belongs to another organization is not found: 404.

### Behind a proxy

A gateway without keys cannot tell its callers apart, and a proxy makes everybody one who is on this machine. So while there are no keys, requests with \`Forwarded\`,
\`X-Forwarded-…\` or \`X-Real-IP\` are refused (403 \`proxy_without_keys\`), but for webhooks, callbacks, \`/healthz\` and \`/readyz\`.

### Rates

Requests are limited before their bodies are read and before Temporal is asked: 429 \`rate_limited\` with \`Retry-After\`. At webhooks, callbacks and public triggers each
address has 100 a second, and 1,000 at once (\`SIGNALBOX_RATE_ADDRESS\`, \`…_BURST\`); behind a proxy that \`SIGNALBOX_TRUSTED_PROXIES\` names, the address is the caller's. Each key
and each organization has 1,000 a second, and 3,000 at once (\`SIGNALBOX_RATE_KEY\`, \`SIGNALBOX_RATE_ORGANIZATION\`). 0 is no limit; a gateway without keys has none for this machine. One key follows
at most 200 runs (\`/events\`) at a time, one organization 500. What takes long to check, to evaluate or to walk is given up after some seconds (422 \`takes_too_long\`).

## Roles`;

const PERSONS = `Starting a definition that is not stored, a fork, and results by hand (\`presets\`) need an editor, since they can do whatever a workflow can.

## Persons

A key is of a person: \`user\`, or else its name. One person may have several keys. \`roles\` and \`groups\` of a key are names of your own, such as \`finance\`: approvals ask
for users, roles and groups by these names. Whoever started a run may not approve in it, whichever key it was, unless \`requesterMayApprove\`. The resume token of an approval is shown to
those alone who may decide it, and \`GET /api/approvals\` lists what waits for whoever asks (\`all=true\`: for anybody), by \`approver\`, \`priority\`,
\`resourceType\` and \`resourceId\`, \`workflowId\` or \`executionId\`. A token that was used is answered 409, also while another approval waits; 403 is for one that never was the run's.

## Audit

\`GET /api/audit\` lists who changed what, and when. A change is written down before it is made: where that fails, nothing is changed (503). What became of it follows;
where it never does, the outcome is \`unknown\`. Starts of runs and messages to them are not listed there: a run tells who started it. The months' records are kept as long as Temporal has its database.

## Another master key

Start gateways and workers with the new key in \`SIGNALBOX_MASTER_KEY\` and the old one in \`SIGNALBOX_FORMER_MASTER_KEYS\`, then run \`npx signalbox keys reseal\`. When it tells of nothing unreadable, API keys and secrets
need the old key no more. With it go: callback addresses and public keys that were given out, cursors of lists, and what the codec encrypted before.

## Encrypted payloads

With \`SIGNALBOX_CODEC=1\` Temporal keeps only ciphertext (AES-256-GCM) of inputs, outputs, state and messages of errors. Ids, search attributes (with searchable state) and the codes of errors stay readable, since Temporal works
with them. For admins of \`default\` the gateway is the codec server:

\`\`\`text
temporal workflow show --workflow-id run.default.… --codec-endpoint http://127.0.0.1:8787/codec --codec-auth "Bearer $SIGNALBOX_API_KEY"
\`\`\`

Temporal's Web UI takes the same address as its codec endpoint; origins other than the stack's own are named in \`SIGNALBOX_UI_ORIGINS\`. It sends a key where it is set up to pass an access token that is one.
`;
