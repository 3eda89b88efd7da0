// Asks the process of this container how it is: `node deploy/health.mjs` whether it answers, `… ready` whether Temporal
// answers too, and a worker polls. Exit code 0 or 1. A container with SIGNALBOX_WORKER_PORT is a worker, others are
// gateways.
const { SIGNALBOX_WORKER_PORT: workerPort, SIGNALBOX_PORT: gatewayPort } = process.env;
const ANSWER_MS = 4_000;

const isReady = process.argv[2] === 'ready';
const url = workerPort
  ? `http://127.0.0.1:${workerPort}/${isReady ? 'ready' : 'health'}`
  : `http://127.0.0.1:${gatewayPort || 8787}/${isReady ? 'readyz' : 'healthz'}`;
try {
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
  console.log(`${answer.status} ${await answer.text()}`);
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  console.error(`${url}: ${error.cause?.code ?? error.message}`);
  process.exitCode = 1;
}
