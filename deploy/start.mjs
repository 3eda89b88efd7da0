// `npm start`: from a bare clone to a running stack. Plain Node, because packages are not installed yet.
import { checkNode, install } from './install.mjs';

checkNode();
try {
  await install();
  const { build } = await import('./build.mjs');
  await build();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
process.argv.splice(2, 0, 'start');
await import('../dist/src/cli/main.js');
