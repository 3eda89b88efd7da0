import { describe, expect, it } from 'vitest';
import { printWelcome } from '../../src/cli/start/welcome.ts';
import { readConfig } from '../../src/config/config.ts';

const lines = (needsKeys: boolean): string[] => {
  const said: string[] = [];
  const config = readConfig({ TEMPORAL_ADDRESS: '127.0.0.1:7233' });
  const addresses = { gatewayUrl: 'http://127.0.0.1:8787', uiUrl: 'http://127.0.0.1:8233' };
  printWelcome((text) => said.push(text), { config, ...addresses, needsKeys, seconds: 1 });
  return said;
};

describe('the end of a start', () => {
  it('prints the address of the console before all others', () => {
    for (const needsKeys of [true, false]) {
      const addresses = lines(needsKeys).filter((line) => line.includes('http://'));
      expect(addresses[0]).toMatch(/^ +Console +http:\/\/127\.0\.0\.1:8787\/console$/);
      expect(addresses[1]).toContain('Gateway');
    }
  });
});
