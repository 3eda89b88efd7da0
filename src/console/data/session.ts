/** Who uses the console, and what that person may do. */
import { addressOf, loginTarget } from '../routes.ts';
import { get, onLoggedOut, post, remove } from './api.ts';
import { type ApiProblem, asApiProblem } from './problem.ts';
import { createStore, useStore } from './store.ts';
import type { Me, Role } from './types.ts';

interface Session {
  readonly me?: Me;
  /** Why it is not known who asks, where that is no lack of a login. */
  readonly problem?: ApiProblem;
}

const session = createStore<Session>({});

export const useSession = (): Session => useStore(session);

/** The caller; undefined until that is known, and where nobody is logged in. */
export const useMe = (): Me | undefined => useStore(session).me;

/** Whether `me` holds the role: each role includes those before it. */
export const hasRole = (me: Me | undefined, role: Role): boolean => me?.roles.includes(role) ?? false;

/** Whether the caller holds the role. */
export const useHasRole = (role: Role): boolean => hasRole(useMe(), role);

/** Asks who the caller is. Where a login is needed, the console goes there. */
export async function loadMe(): Promise<void> {
  try {
    session.set({ me: await get<Me>('/api/me') });
  } catch (thrown) {
    const problem = asApiProblem(thrown);
    session.set(problem.status === 401 ? {} : { problem });
  }
}

/** Begins a session. @throws ApiProblem `key_invalid`, `login_not_needed` and others. */
export async function logIn(key: string): Promise<void> {
  session.set({ me: await post<Me>('/api/session', { key }) });
}

/** Ends the session. @throws ApiProblem. */
export async function logOut(): Promise<void> {
  await remove('/api/session');
  session.set({});
}

/** The address of the login, which then returns to the present address. */
function loginAddress(): string {
  const here = `${location.pathname}${location.search}`;
  return addressOf('login', {}, { to: loginTarget(here) === here ? here : undefined });
}

/** Redirects to the login when the API requires one. */
export function startLoginRedirect(navigateTo: (address: string) => void): void {
  onLoggedOut(() => {
    session.set({});
    if (location.pathname !== addressOf('login')) navigateTo(loginAddress());
  });
}
