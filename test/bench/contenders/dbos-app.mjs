// The same work on DBOS: node dbos-app.mjs PORT DATABASE_URL. Listens on the port for the bench, and sends `ready`.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { DBOS } from '@dbos-inc/dbos-sdk';

const [port, systemDatabaseUrl] = process.argv.slice(2);
const nothing = async () => 1;
const sequence = DBOS.registerWorkflow(
  async (count) => {
    let last = 0;
    for (let n = 0; n < count; n++) last = await DBOS.runStep(nothing, { name: `s${n}` });
    return last;
  },
  { name: 'sequence' },
);
const approval = DBOS.registerWorkflow(
  async () => {
    await DBOS.recv('approved', 3_600);
    return await DBOS.runStep(nothing, { name: 'go' });
  },
  { name: 'approval' },
);
DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error', runAdminServer: false });
await DBOS.launch();

const routes = {
  sequence: async ({ count }) => (await DBOS.startWorkflow(sequence)(count)).getResult(),
  park: async () => {
    const workflowID = randomUUID();
    await DBOS.startWorkflow(approval, { workflowID })();
    return workflowID;
  },
  approve: async ({ id }) => {
    await DBOS.send(id, true, 'approved');
    return DBOS.retrieveWorkflow(id).getResult();
  },
};
createServer(async (request, response) => {
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await routes[request.url.slice(1)](JSON.parse(Buffer.concat(chunks).toString() || '{}'));
    response.end(JSON.stringify(answer));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
}).listen(Number(port), '127.0.0.1', () => process.send('ready'));
process.on('disconnect', () => process.exit(0));
