import type { Client } from '@temporalio/client';
import type { Access } from './access.ts';

/** What this process remembers for each client, since each has a server of its own. Made when it is first asked for. */
export function perClient<T>(make: () => T): (access: Pick<Access, 'client'>) => T {
  const made = new WeakMap<Client, T>();
  return ({ client }) => {
    const known = made.get(client) ?? make();
    made.set(client, known);
    return known;
  };
}
