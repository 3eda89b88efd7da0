import type { Request } from 'express';
import { DEFAULT_ORGANIZATION } from '../engine/start.ts';

/** On whose behalf a request acts. */
export interface Principal {
  readonly organizationId: string;
  /** The person or program, where there are keys that name one. */
  readonly id?: string;
}

/** While a store has no keys there is one organization, and everybody who gets in acts for it. */
export function principalOf(_req: Request): Principal {
  return { organizationId: DEFAULT_ORGANIZATION };
}
