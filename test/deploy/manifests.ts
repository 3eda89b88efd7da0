/** The files of deploy/kubernetes and deploy/compose.yaml, parsed. */
import { readdirSync, readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';

export const KUBERNETES = 'deploy/kubernetes';

/** The members of Kubernetes' objects that the tests look at. */
const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const reference = z.object({ name: z.string() });
const container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  envFrom: z.array(z.object({ configMapRef: reference.optional(), secretRef: reference.optional() })),
  lifecycle: z.object({ preStop: z.object({ exec: z.object({ command: z.array(z.string()) }) }) }).optional(),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.object({ limits: z.object({ memory: z.string() }) }),
  securityContext: z.looseObject({}),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
export const deployment = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    // scaling.yaml says how many.
    replicas: z.undefined().optional(),
    selector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.object({
      metadata: z.object({
        labels: z.record(z.string(), z.string()),
        annotations: z.record(z.string(), z.string()).optional(),
      }),
      spec: z.object({
        enableServiceLinks: z.boolean(),
        automountServiceAccountToken: z.boolean(),
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.looseObject({}),
        containers: z.tuple([container]),
        volumes: z.array(
          z.object({
            name: z.string(),
            emptyDir: z.object({ sizeLimit: z.string().optional() }).optional(),
            persistentVolumeClaim: z.object({ claimName: z.string() }).optional(),
          }),
        ),
      }),
    }),
  }),
});
export type Deployment = z.infer<typeof deployment>;

export interface Manifest {
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly body: { readonly [member: string]: unknown };
}

/** Every document of every file, with an error for YAML that is not well-formed or has a key twice. */
export function manifests(): Manifest[] {
  const files = readdirSync(KUBERNETES, { recursive: true }).map(String);
  return files
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) =>
      parseAllDocuments(readFileSync(`${KUBERNETES}/${file}`, 'utf8')).map((document) => {
        if ('errors' in document && document.errors.length > 0) throw document.errors[0]!;
        const body = (document as { toJS(): unknown }).toJS() as Manifest['body'];
        const head = z
          .object({ apiVersion: z.string(), kind: z.string(), metadata: z.object({ name: z.string() }).optional() })
          .parse(body);
        return { file, apiVersion: head.apiVersion, kind: head.kind, name: head.metadata?.name ?? '', body };
      }),
    );
}

/** Objects for the cluster: all but what only kustomize reads. */
export const objects = (): Manifest[] =>
  manifests().filter(({ kind }) => kind !== 'Kustomization' && kind !== 'Component');

const patchOf = z.array(z.strictObject({ op: z.enum(['add', 'replace']), path: z.string(), value: z.unknown() }));
const component = z.object({
  resources: z.array(z.string()),
  patches: z.array(
    z.strictObject({
      target: z.strictObject({ kind: z.string(), name: z.string().optional() }),
      patch: z.string().transform((text) => patchOf.parse(parse(text))),
    }),
  ),
});

/** The objects as the component changes them. @throws Error for a path that an object does not have */
export function withComponent(name: string, all: readonly Manifest[]): Manifest[] {
  const found = manifests().find(({ file, kind }) => kind === 'Component' && file === `${name}/kustomization.yaml`);
  const { patches } = component.parse(found?.body);
  return all.map((one) => {
    const body = structuredClone(one.body);
    for (const { target, patch } of patches)
      if (target.kind === one.kind && (target.name ?? one.name) === one.name)
        for (const { op, path, value } of patch) change(body, op, path.split('/').slice(1), value);
    return { ...one, body };
  });
}

function change(root: unknown, op: 'add' | 'replace', path: readonly string[], value: unknown): void {
  let at = root as { [key: string]: unknown };
  for (const key of path.slice(0, -1)) at = at[key] as typeof at;
  const last = path.at(-1)!;
  if (Array.isArray(at) && op === 'add' && last === '-') at.push(value);
  else if (op === 'replace' && last in at) at[last] = value;
  else throw new Error(`There is no /${path.join('/')}.`);
}

const text = z.string();
const health = z.strictObject({
  test: z.array(text).min(2),
  interval: text,
  timeout: text,
  retries: z.number(),
  start_period: text.optional(),
});
const service = z.strictObject({
  image: text,
  build: z.strictObject({ context: text, dockerfile: text }).optional(),
  profiles: z.array(text).optional(),
  depends_on: z
    .record(
      text,
      z.strictObject({
        condition: z.enum(['service_healthy', 'service_completed_successfully']),
        required: z.boolean().optional(),
      }),
    )
    .optional(),
  restart: z.literal('unless-stopped').optional(),
  stop_grace_period: text.optional(),
  logging: z.strictObject({ driver: text, options: z.record(text, text) }),
  mem_limit: text.optional(),
  read_only: z.literal(true).optional(),
  cap_drop: z.array(text).optional(),
  security_opt: z.array(text).optional(),
  tmpfs: z.array(text).optional(),
  volumes: z.array(text).optional(),
  ports: z.array(text).optional(),
  deploy: z.strictObject({ replicas: z.number() }).optional(),
  entrypoint: z.array(text).optional(),
  command: z.array(text).optional(),
  // Numbers and booleans are written as texts, as Compose demands of booleans.
  environment: z.record(text, text),
  healthcheck: health.optional(),
});

/** The members of the Compose specification that the file uses; all others are refused. */
const compose = z.strictObject({
  name: text,
  'x-logging': z.unknown(),
  'x-signalbox': z.unknown(),
  'x-settings': z.unknown(),
  services: z.record(text, service),
  volumes: z.record(text, z.strictObject({})),
});
export type Compose = z.infer<typeof compose>;

export const readCompose = (): Compose =>
  compose.parse(parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true }));

/** What Compose substitutes for `${NAME:-default}`, `${NAME:?message}`. */
export const interpolated = (value: string, given: { readonly [name: string]: string }): string =>
  value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, sign?: string, rest?: string) => {
    const found = given[name];
    if (found !== undefined && found !== '') return found;
    if (sign === '-') return rest ?? '';
    throw new Error(`${name} is not set.`);
  });
