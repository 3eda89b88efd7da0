// What the alert SignalboxTemporalRefusesTasks asks for: a worker whose answers Temporal refuses.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePorts } from '../../../deploy/postgres/server.mjs';
import { projectRoot } from '../../../src/cli/start/project-root.ts';
import { dataFolder, startStack, until } from '../../support/stack.ts';
import { requestTo } from '../gateway/gateway-support.ts';

const WAITING = 'SignalboxWaiting';
const { INDEXED_VALUE_TYPE_KEYWORD_LIST } = proto.temporal.api.enums.v1.IndexedValueType;

/** The series that the rule of the alert counts, as a pattern of a line of /metrics. */
function seriesOf(alert: string): RegExp {
  const { groups } = parse(readFileSync(join(projectRoot(), 'deploy/grafana/alerts.yaml'), 'utf8')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  };
  const { expr } = groups[0]!.rules.find((rule) => rule.alert === alert)!;
  const [, name, labels = ''] = /(\w+_total)\{([^}]*)\}/.exec(expr)!;
  return new RegExp(
    `^${name}\\{${labels
      .split(',')
      .map((label) => `(?=.*${label})`)
      .join('')}.*\\} ([1-9]\\d*)$`,
    'm',
  );
}

it('counts tasks whose completion Temporal refuses, and the run continues after', { timeout: 240_000 }, async () => {
  const folder = dataFolder();
  const [port] = await freePorts(1);
  const stack = await startStack(folder.path, { SIGNALBOX_WORKER_PORT: String(port) });
  const ask = (method: string, path: string, json?: never) =>
    requestTo(stack.note.gateway!.url, method, path, json === undefined ? {} : { json });
  const metrics = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const series = seriesOf('SignalboxTemporalRefusesTasks');
  try {
    const { operatorService } = stack.client.connection as Connection;
    const { namespace } = stack.client.options;
    await operatorService.removeSearchAttributes({ namespace, searchAttributes: [WAITING] });
    const steps = { ask: { stepType: 'approval', config: { message: 'On?' } } };
    const definition = { name: 'Refused', slug: 'refused', steps };
    await until('the completion is refused', 120_000, async () => {
      // The server notices after a while that the attribute is gone.
      await ask('POST', '/api/executions', { definition } as never);
      return series.test(await metrics());
    });
    expect(await metrics()).not.toMatch(/^temporal_workflow_task_execution_failed_total.* [1-9]/m);
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: { [WAITING]: INDEXED_VALUE_TYPE_KEYWORD_LIST },
    });
    await until('all runs wait', 120_000, async () => {
      const { body } = await ask('GET', '/api/executions?status=running');
      return body.items.length === 0;
    });
  } finally {
    await stack.end('SIGTERM');
    folder.remove();
  }
});
