/** Accepts any caller: for paths that another system protects, or that do no harm. */
import { OK, type Scheme } from './scheme.ts';

export const none: Scheme = { name: 'none', verify: () => OK, takesKeys: true, privateHeaders: () => [] };
