import type { Logger } from 'pino';
import type { HostActions } from '../../actions/load.ts';
import type { Access } from '../../client/temporal/access.ts';
import type { Config } from '../../config/config.ts';
import type { OffloadPool } from '../threads/pool.ts';

/** Makes something once for each gateway. */
export function perGateway<Made, Rest extends readonly unknown[]>(
  make: (gateway: Gateway, ...rest: Rest) => Made,
): (gateway: Gateway, ...rest: Rest) => Made {
  const made = new WeakMap<Gateway['config'], Made>();
  return (gateway, ...rest) => {
    const known = made.get(gateway.config) ?? make(gateway, ...rest);
    made.set(gateway.config, known);
    return known;
  };
}

/** What every resource of the gateway needs. Made once, when the app is built. */
export interface Gateway {
  /** For reads. A request writes with the access of its Call (route.ts). */
  readonly access: Access;
  readonly config: Config;
  readonly log: Logger;
  /** The host's own. */
  readonly actions: HostActions;
  /** Threads for work whose length the caller decides. */
  readonly offload: OffloadPool;
  /** Where the console was built. Default: dist/console. */
  readonly consoleDir?: string;
  /** Aborted when the gateway closes, which ends long waits. */
  readonly closing: AbortSignal;
  /** Identities of workers whose processes ended, as the process that started the gateway knows. The set may change. */
  readonly deadWorkers?: ReadonlySet<string>;
  /** The gateway's URL as callers see it, without a slash at the end. */
  publicUrl(): string;
}
