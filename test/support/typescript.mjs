// For `--import`: threads of this process can load the project's sources.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
