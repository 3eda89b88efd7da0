// What the tests of schedules share.

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
