import { afterAll, beforeAll, describe } from 'vitest';
import { crowdSuite } from './crowd-suite.ts';
import { type TestGateway, testGateway } from './gateway-support.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway.close());

describe('at once are taken', () => crowdSuite(() => gateway, 200));
