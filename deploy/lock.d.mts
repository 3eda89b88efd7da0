/** Who holds a lock: process id and machine. */
export type Holder = { pid: number; host: string; started?: string };
export function processStarted(pid: number): string | undefined;
export function isAlive(holder: { pid: number; started?: string | undefined }): boolean;
export function tryLock(path: string): { release: () => void; holder?: never } | { release?: never; holder: Holder };
export function withLock<T>(path: string, onWait: (holder: Holder) => void, work: () => Promise<T>): Promise<T>;
