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
  return readdirSync(KUBERNETES).flatMap((file) =>
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
export const objects = (): Manifest[] => manifests().filter(({ kind }) => kind !== 'Kustomization');

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
  'x-signalbox': z.unknown(),
  'x-settings': z.unknown(),
  services: z.record(text, service),
  volumes: z.record(text, z.strictObject({})),
});
export type Compose = z.infer<typeof compose>;

export const readCompose = (): Compose =>
  compose.parse(parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true }));

/** What Compose puts in the place of `${NAME:-default}`, `${NAME:?message}`. */
export const interpolated = (value: string, given: { readonly [name: string]: string }): string =>
  value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, sign?: string, rest?: string) => {
    const found = given[name];
    if (found !== undefined && found !== '') return found;
    if (sign === '-') return rest ?? '';
    throw new Error(`${name} is not set.`);
  });
