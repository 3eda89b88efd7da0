import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { removeDefinition } from '../../../src/client/definitions/definitions.ts';
import { installExamples } from '../../../src/client/definitions/examples.ts';
import { listSecrets, readSecret } from '../../../src/client/organization/secrets.ts';
import { listDefinitions, readDefinition } from '../../../src/client/versions/definition-head.ts';
import { until } from '../../support/stack.ts';
import { sharedServer, writeAccess } from '../../support/temporal.ts';
import { unique } from '../gateway/gateway-support.ts';

const folder = join(projectRoot(), 'deploy/examples');

const { server } = sharedServer();

describe('the examples', () => {
  it('are put into an empty store once, with their secrets encrypted', async () => {
    const org = unique('examples');
    const store = writeAccess(server);
    const slugs = ['issue-triage', 'order-approval', 'reminders'];
    expect(await installExamples(store, org, folder)).toEqual(slugs);
    await until(
      'all are listed',
      10_000,
      async () => (await listDefinitions(store, org, { limit: 10 })).items.length === 3,
    );
    expect(await installExamples(store, org, folder)).toEqual([]);

    const [secret] = await listSecrets(store, org);
    expect(secret?.name).toBe('workflows/issue-triage/triggers/github/secret');
    expect(await readSecret(store, org, secret!.name, { workflow: 'issue-triage' })).toBe('replace-this-secret');
    expect(JSON.stringify(await readDefinition(store, org, 'issue-triage'))).not.toContain('replace-this-secret');

    for (const slug of slugs) await removeDefinition(store, org, slug);
    expect(await installExamples(store, org, folder)).toEqual([]);
  });

  it('are refused by name where a file is no definition', async () => {
    const broken = mkdtempSync(join(tmpdir(), 'signalbox-examples-'));
    writeFileSync(join(broken, 'broken.yaml'), 'steps: 3\n');
    const store = writeAccess(server);
    await expect(installExamples(store, unique('examples'), broken)).rejects.toThrow('broken.yaml is no definition');
    rmSync(broken, { recursive: true });
  });
});
