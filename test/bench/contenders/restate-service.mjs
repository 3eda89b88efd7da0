// The same work on Restate: node restate-service.mjs PORT. Sends `ready`.
import * as restate from '@restatedev/restate-sdk';

// The SDK needs it, and Node 20 has none.
Promise.withResolvers ??= function withResolvers() {
  const made = {};
  made.promise = new this((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};

const nothing = async () => 1;
const sequence = restate.service({
  name: 'sequence',
  handlers: {
    run: async (context, count) => {
      let last = 0;
      for (let n = 0; n < count; n++) last = await context.run(`s${n}`, nothing);
      return last;
    },
  },
});
const approval = restate.workflow({
  name: 'approval',
  handlers: {
    run: async (context) => {
      await context.promise('approved');
      return await context.run('go', nothing);
    },
    approve: async (context) => {
      await context.promise('approved').resolve(true);
    },
  },
});
await restate.serve({ services: [sequence, approval], port: Number(process.argv[2]) });
process.send('ready');
process.on('disconnect', () => process.exit(0));
