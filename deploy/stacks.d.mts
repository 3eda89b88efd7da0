/** A process, told from a later one with the same id by when it started. */
export type ProcessNote = { pid: number; started?: string };

/** What a running stack notes of itself in `<data>/stack.json`. */
export type StackNote = {
  pid: number;
  started?: string;
  gateway?: { url: string };
  worker?: ProcessNote;
  temporal: {
    address: string;
    namespace: string;
    uiUrl?: string;
    binary?: string;
    server?: ProcessNote;
  };
};

export function readStackNote(dataDir: string): StackNote | undefined;
export function runningStack(dataDir: string): StackNote | undefined;
export function stackOnPort(port: string | number, env: NodeJS.ProcessEnv): StackNote | undefined;
export function notePort(url: string, dataDir: string, env: NodeJS.ProcessEnv): () => void;
