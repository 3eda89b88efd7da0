// Builds the package signalbox-cli: `node deploy/cli/build.mjs FOLDER`. The program is src/cli/remote-main.ts with all
// that it imports.
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Say where the package is to be built.');
const root = fileURLToPath(new URL('../..', import.meta.url));

process.env.NODE_ENV = 'production';

await build({
  configFile: false,
  root,
  publicDir: false,
  logLevel: 'warn',
  ssr: { noExternal: true },
  build: {
    ssr: join(root, 'src/cli/remote-main.ts'),
    outDir: folder,
    emptyOutDir: true,
    target: 'node20.19',
    license: { fileName: 'licenses.md' },
    rolldownOptions: { output: { entryFileNames: 'main.js', chunkFileNames: '[name]-[hash].js' } },
  },
});
chmodSync(join(folder, 'main.js'), 0o755);
copyFileSync(join(root, 'deploy/cli/README.md'), join(folder, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
const { version, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const manifest = JSON.parse(readFileSync(join(root, 'deploy/cli/package.json'), 'utf8'));
writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, version, engines }, null, 2)}\n`);
