import type { Config } from '../../config/config.ts';
import type { Say } from './say.ts';

type WelcomeFacts = {
  config: Config;
  gatewayUrl: string;
  uiUrl: string | undefined;
  /** Whether requests need an API key. */
  needsKeys: boolean;
  /** The duration of the start. */
  seconds: number;
};

/** Prints the addresses and the first commands to try. */
export function printWelcome(say: Say, { config, gatewayUrl, uiUrl, needsKeys, seconds }: WelcomeFacts): void {
  const { address, namespace } = config.temporal;
  say(`Ready after ${seconds.toFixed(1)} s. Data: ${config.dataDir}`);
  say(`  Console      ${gatewayUrl}/console`);
  say(`  Gateway      ${gatewayUrl} (docs: ${gatewayUrl}/docs)`);
  const isClosed = needsKeys && config.ownTemporal.ui !== 'always';
  if (uiUrl !== undefined)
    say(
      isClosed
        ? '  Temporal UI  closed while there are API keys: SIGNALBOX_UI=1 opens it'
        : `  Temporal UI  ${uiUrl}/namespaces/${namespace}/workflows`,
    );
  say(`  Temporal     ${address}, namespace ${namespace} (npm run temporal -- workflow list)`);
  if (needsKeys) {
    say('  API keys     required: set SIGNALBOX_API_KEY');
    say('Try:');
    say('  npx signalbox list workflows');
    return;
  }
  say('  API keys     none: only this machine has access (npx signalbox keys create NAME --role admin)');
  say('Try:');
  say(`  curl -s ${gatewayUrl}/api/workflows`);
  say(`  curl -s ${gatewayUrl}/api/executions -H 'content-type: application/json' \\`);
  say(`    -d '{"definition":{"name":"Hello","steps":{"hello":{"stepType":"finish","config":{"output":"hello"}}}}}'`);
}
