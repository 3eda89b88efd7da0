// Builds the console by Vite: `node deploy/console.mjs FOLDER`. In a process of its own, so that a start does not keep
// Vite in memory.
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Say where the console is to be built.');

/**
 * Chunks by what is used together, since many small ones compress badly. Modules of no group are with their screen.
 * The first group that fits takes a module.
 */
const CHUNKS = [
  { name: 'app', test: /console\/((parts|data)\/|(routes|navigation|main|screens)\.)|preact|src\/(json|template)\// },
  { name: 'people', test: /src\/console\/(screens\/(approval|run-form)|form\/)|src\/definition\/payload\// },
  { name: 'graph', test: /src\/console\/graph\// },
  { name: 'workflows', test: /src\/console\/(screens\/(workflow|versions|proposal)|data\/changed-parts)/ },
  { name: 'run', test: /src\/console\/trace\/|src\/console\/screens\/run[.-](?!columns|form)/ },
  { name: 'lists', test: /src\/console\/screens\/(home|runs|run-columns|trigger)/ },
  // A group takes what its modules use as well, so the editor takes what no other group has.
  {
    name: 'editor',
    test: /node_modules\/(@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname|yaml)\/|console\/editor\//,
  },
];

// Also where tests build: Vite takes any other value for a build that is to be debugged.
process.env.NODE_ENV = 'production';

await build({
  configFile: false,
  root: fileURLToPath(new URL('../src/console', import.meta.url)),
  base: '/console/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: folder,
    emptyOutDir: true,
    license: { fileName: 'licenses.md' },
    target: 'es2023',
    // Browsers that the console is for know module preloading.
    modulePreload: { polyfill: false },
    // The page's policy allows no data: addresses but of pictures, and files are cached for good.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
  },
});
