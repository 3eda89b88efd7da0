import type { Config } from '../../config.ts';
import type { Say } from './say.ts';

export type Welcome = {
  config: Config;
  gatewayUrl: string;
  uiUrl: string | undefined;
  /** How long the start took. */
  seconds: number;
};

/** Says where to look, and what to try first. */
export function welcome(say: Say, { config, gatewayUrl, uiUrl, seconds }: Welcome): void {
  const { address, namespace } = config.temporal;
  say(`Ready after ${seconds.toFixed(1)} s. Data: ${config.dataDir}`);
  say(`  Gateway      ${gatewayUrl} (docs: ${gatewayUrl}/docs)`);
  if (uiUrl !== undefined) say(`  Temporal UI  ${uiUrl}/namespaces/${namespace}/workflows`);
  say(`  Temporal     ${address}, namespace ${namespace} (npm run temporal -- workflow list)`);
  say('Try:');
  say(`  curl -s ${gatewayUrl}/api/workflows`);
  say(`  curl -s ${gatewayUrl}/api/executions -H 'content-type: application/json' \\`);
  say(`    -d '{"definition":{"name":"Hello","steps":{"hello":{"stepType":"finish","config":{"output":"hello"}}}}}'`);
}
