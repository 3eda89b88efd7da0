/** Anybody may call: for paths that are behind something else, or that do no harm. */
import { OK, type Scheme } from './scheme.ts';

export const none: Scheme = { name: 'none', verify: () => OK, takesKeys: true, privateHeaders: () => [] };
