// What the tests of schedules share.

import { fireId } from '../../../src/client/temporal/ids.ts';
import { type TestGateway, testGateway } from '../gateway/gateway-support.ts';

/** A gateway for a file's tests. Workflows in `stored` are deleted with it: schedules outlive the workers. */
export interface ScheduleGateway extends TestGateway {
  readonly stored: string[];
}

export async function scheduleGateway(): Promise<ScheduleGateway> {
  const gateway = await testGateway();
  const stored: string[] = [];
  const close = async () => {
    for (const slug of stored) await gateway.request('DELETE', `/api/workflows/${slug}`);
    await gateway.close();
  };
  return { ...gateway, stored, close };
}

/** What came of a tick, when all that follows from it is done. Until then Temporal starts no other for that time. */
export function fired({ server }: TestGateway, triggerId: string, time: number): Promise<unknown> {
  const at = new Date(time).toISOString().replace('.000', '');
  return server.client.workflow.result(`${fireId('default', triggerId)}-${at}`);
}
