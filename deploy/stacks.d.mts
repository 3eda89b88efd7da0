/** A process. The start time distinguishes it from a later process with the same id. */
export type ProcessNote = { pid: number; started?: string };

/** The content of `<data>/stack.json` of a running stack. */
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
