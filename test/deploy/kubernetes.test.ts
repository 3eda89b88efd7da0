// The files of deploy/kubernetes, against Kubernetes' schemas and against Signalbox.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readConfig } from '../../src/config/config.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { healthRoutes } from '../../src/gateway/routes/process/health.ts';
import { startWorkerHttp } from '../../workers/http.ts';
import { environmentOf, stagesOf } from './dockerfile.ts';
import { type Deployment, deployment, type Manifest, manifests, objects, withComponent } from './manifests.ts';

type Model = new (body: Manifest['body']) => { validate(): void };
const require = createRequire(import.meta.url);
const all = objects();
const labels = z.record(z.string(), z.string());

/** Throws what Kubernetes' schema refuses. */
function validate({ apiVersion, kind, body }: Manifest): void {
  const models = require(`kubernetes-models/${apiVersion}`) as { [kind: string]: Model };
  new models[kind]!(body).validate();
}

const named = (kind: string, name: string, among: readonly Manifest[] = all): Manifest => {
  const found = among.find((one) => one.kind === kind && one.name === name);
  if (found === undefined) throw new Error(`There is no ${kind} ${name}.`);
  return found;
};
const deploymentOf = (part: string, among = all): Deployment =>
  deployment.parse(named('Deployment', `signalbox-${part}`, among).body);
const COMPONENT = 'shared-volume';

/** The settings that a container gets, with keys instead of the example's. */
function environment(part: string, among = all): { [name: string]: string } {
  const [container] = deploymentOf(part, among).spec.template.spec.containers;
  const image = environmentOf(stagesOf(readFileSync('deploy/Dockerfile', 'utf8')).at(-1)!);
  const from = container.envFrom.map(({ configMapRef, secretRef }) =>
    configMapRef === undefined
      ? labels.parse(named('Secret', secretRef!.name, among).body['stringData'])
      : labels.parse(named('ConfigMap', configMapRef.name, among).body['data']),
  );
  const set: { [name: string]: string } = Object.assign({}, image, ...from);
  if ('SIGNALBOX_MASTER_KEY' in set) set['SIGNALBOX_MASTER_KEY'] = Buffer.alloc(32, 1).toString('base64');
  if ('SIGNALBOX_ADMIN_KEY' in set) set['SIGNALBOX_ADMIN_KEY'] = 'k'.repeat(64);
  for (const { name, value } of container.env) set[name] = value;
  return set;
}

describe('deploy/kubernetes', () => {
  it.each(all.map((one) => [`${one.file}: ${one.kind} ${one.name}`, one] as const))('%s is valid', (_name, one) => {
    expect(() => validate(one)).not.toThrow();
  });

  it('would not accept a deployment without a selector', () => {
    expect(() => validate({ ...named('Deployment', 'signalbox-worker'), body: { spec: { template: {} } } })).toThrow(
      'selector',
    );
  });

  it('applies every file but the example of a secret', () => {
    const { resources, images } = z
      .object({ resources: z.array(z.string()), images: z.tuple([z.object({ name: z.string(), newTag: z.string() })]) })
      .parse(manifests().find(({ kind }) => kind === 'Kustomization')!.body);
    const files = new Set(all.map(({ file }) => file).filter((file) => !file.startsWith(COMPONENT)));
    files.delete('secret.example.yaml');
    expect([...files].sort()).toEqual([...resources].sort());
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(images[0]).toMatchObject({ name: 'signalbox', newTag: version });
  });

  it('has an example of a secret that is refused until it is replaced', () => {
    const secrets = all.filter(({ kind }) => kind === 'Secret').map(({ body }) => labels.parse(body['stringData']));
    expect(secrets.flatMap((secret) => Object.keys(secret))).toEqual([
      'SIGNALBOX_MASTER_KEY',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'SIGNALBOX_ADMIN_KEY',
    ]);
    for (const secret of secrets) expect(() => readConfig(secret)).toThrow();
  });

  it('has a policy, a budget and a scaler for the pods of each deployment', () => {
    for (const part of ['gateway', 'worker']) {
      const { spec } = deploymentOf(part);
      const own = spec.selector.matchLabels;
      expect(spec.template.metadata.labels).toEqual(own);
      const budget = named('PodDisruptionBudget', `signalbox-${part}`).body['spec'];
      expect(budget).toMatchObject({ selector: { matchLabels: own } });
      expect(named('NetworkPolicy', `signalbox-${part}`).body['spec']).toMatchObject({
        podSelector: { matchLabels: own },
      });
      const scaler = named('HorizontalPodAutoscaler', `signalbox-${part}`).body['spec'];
      expect(scaler).toMatchObject({
        scaleTargetRef: { kind: 'Deployment', name: `signalbox-${part}` },
        minReplicas: 2,
      });
    }
    const service = z
      .object({ selector: labels, ports: z.tuple([z.object({ targetPort: z.string() })]) })
      .parse(named('Service', 'signalbox').body['spec']);
    const gateway = deploymentOf('gateway');
    expect(service.selector).toEqual(gateway.spec.selector.matchLabels);
    expect(service.ports[0].targetPort).toBe(gateway.spec.template.spec.containers[0].ports[0]?.name);
  });
});

describe.each(['gateway', 'worker'])('the deployment of the %s', (part) => {
  const { spec } = deploymentOf(part).spec.template;
  const [container] = spec.containers;

  it('sets only settings that exist, to values that are accepted', () => {
    const env = environment(part);
    const unknown = Object.keys(env).filter((name) => name.startsWith('SIGNALBOX_') && !(name in SETTINGS.shape));
    expect(unknown).toEqual([]);
    const config = readConfig(env);
    expect(config).toMatchObject({ host: '0.0.0.0', workerVersioning: 'automatic' });
    expect(config.adminKey !== undefined).toBe(part === 'gateway');
    expect(container.args).toEqual(['start', '--only', part]);
    const port = part === 'gateway' ? config.port : config.workerHttp?.port;
    expect(container.ports.map(({ containerPort }) => containerPort)).toEqual([port]);
  });

  it('is not given variables by services, of which one would be SIGNALBOX_PORT', () => {
    expect(spec.enableServiceLinks).toBe(false);
    expect(() => readConfig({ ...environment(part), SIGNALBOX_PORT: 'tcp://10.0.0.7:80' })).toThrow('SIGNALBOX_PORT');
  });

  it('has probes at paths that answer', async () => {
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    expect(new Set(probes.map(({ httpGet }) => httpGet.port))).toEqual(new Set([container.ports[0]?.name]));
    const paths = probes.map(({ httpGet }) => httpGet.path);
    if (part === 'gateway') expect(healthRoutes.map(({ path }) => path)).toEqual(expect.arrayContaining(paths));
    else {
      const http = await startWorkerHttp({ host: '127.0.0.1', port: 0 }, 1);
      const answers = await Promise.all(paths.map((path) => fetch(`http://127.0.0.1:${http.port}${path}`)));
      http.close();
      // It lives, and does not poll yet.
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 503]);
    }
  });

  it('runs without privileges, on a root that is read-only', () => {
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const config = readConfig(environment(part));
    const mounted = container.volumeMounts.map(({ mountPath }) => mountPath).sort();
    expect(mounted).toEqual(['/tmp', config.dataDir].sort());
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(spec.volumes.map(({ name }) => name).sort());
  });

  it('stores large payloads in a bucket, with credentials from the secret', () => {
    expect(readConfig(environment(part)).blobs.s3).toMatchObject({
      bucket: 'signalbox',
      credentials: { accessKeyId: expect.any(String), secretAccessKey: expect.any(String) },
    });
  });

  it('stores them in a volume that all pods share with the component for it', () => {
    const kustomization = readFileSync('deploy/kubernetes/kustomization.yaml', 'utf8');
    expect(parse(kustomization.replace(/^# (?=components:)/m, ''))).toMatchObject({ components: [COMPONENT] });
    const changed = withComponent(COMPONENT, all);
    for (const one of changed) expect(() => validate(one)).not.toThrow();
    const { blobs, dataDir } = readConfig(environment(part, changed));
    expect(blobs).toEqual({ isOn: true, folder: blobs.folder });
    const pod = deploymentOf(part, changed).spec.template.spec;
    const mounts = pod.containers[0].volumeMounts;
    expect(mounts.map(({ mountPath }) => mountPath).sort()).toEqual(['/tmp', dataDir, blobs.folder].sort());
    expect(mounts.map(({ name }) => name).sort()).toEqual(pod.volumes.map(({ name }) => name).sort());
    const claims = pod.volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
    for (const claim of claims)
      expect(named('PersistentVolumeClaim', claim).body['spec']).toMatchObject({ accessModes: ['ReadWriteMany'] });
    expect(claims).toHaveLength(1);
  });

  it('fills no disk of its node', () => {
    for (const { name, emptyDir } of spec.volumes)
      if (emptyDir !== undefined)
        expect([name, emptyDir.sizeLimit]).toEqual([name, expect.stringMatching(/^\d+[MG]i$/)]);
  });

  it('has longer to end than it needs', () => {
    const shutdown = readFileSync('src/cli/start/shutdown.ts', 'utf8');
    const [, ms] = /^const KILL_AFTER_MS = ([\d_]+);$/m.exec(shutdown)!;
    const hook = Number(container.lifecycle?.preStop.exec.command[1] ?? 0);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(hook + Number(ms!.replaceAll('_', '')) / 1_000);
  });
});
