/** Counts the calls of a client to Temporal: by method, and by the workflow that each is about. */
import proto from '@temporalio/proto';
import type { CallInterceptor } from '../../../src/client/temporal/connect.ts';

export interface Call {
  readonly method: string;
  /** Absent where the call is about no single workflow. */
  readonly workflowId?: string;
}

/** Calls that a gateway makes by time, and not for a request. */
const IN_BACKGROUND = new Set(['GetSystemInfo', 'ListWorkers', 'DescribeTaskQueue', 'DescribeNamespace']);

interface Request {
  readonly workflowId?: string;
  readonly workflowExecution?: { readonly workflowId?: string };
  readonly execution?: { readonly workflowId?: string };
  readonly operations?: readonly { readonly startWorkflow?: { readonly workflowId?: string } }[];
}

/** Longer than a gateway takes to refresh what it caches, and what is in regular use (refresh-ahead.ts). */
const QUIET_MS = 1_500;
const LOOK_MS = 100;

/** Resolves when a gateway has made no call for a while. `made`: how many it has made so far. */
export async function quiet(made: () => number): Promise<void> {
  for (let [before, since] = [made(), Date.now()]; Date.now() - since < QUIET_MS; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    if (made() !== before) [before, since] = [made(), Date.now()];
  }
}

/** An interceptor that tells of every call. Attempts of one call count once. */
export function noting(note: (call: Call) => void): CallInterceptor {
  return (options, next) => {
    const method = options.method_definition.path.split('/').at(-1) ?? '';
    const call = next(options);
    if (IN_BACKGROUND.has(method)) return call;
    const send = call.sendMessageWithContext.bind(call);
    call.sendMessageWithContext = (context, message) => {
      note(callOf(method, message as unknown as Uint8Array));
      send(context, message);
    };
    return call;
  };
}

function callOf(method: string, message: Uint8Array): Call {
  const types = proto.temporal.api.workflowservice.v1 as unknown as {
    readonly [name: string]: { decode(bytes: Uint8Array): Request } | undefined;
  };
  const request = types[`${method}Request`]?.decode(message);
  const workflowId =
    request?.workflowExecution?.workflowId ??
    request?.execution?.workflowId ??
    request?.operations?.[0]?.startWorkflow?.workflowId ??
    request?.workflowId;
  return workflowId === undefined ? { method } : { method, workflowId };
}
