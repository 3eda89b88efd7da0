import { GRPC } from './grpc.ts';
import type { GrpcStatus } from './passing.ts';

const LATER = 'Try again shortly.';
export const NO_NAMESPACE = "Temporal does not have this gateway's namespace. Its operator has to create it.";

/**
 * Why Temporal cannot answer now, as a sentence for callers: it says which part is away, but quotes nothing of the
 * server's. Undefined for a failure that has another cause. The gateway's log has the server's own words.
 */
export function awayText(status: GrpcStatus | undefined, passing: 'moment' | 'away' | undefined): string | undefined {
  const { code, details = '' } = status ?? {};
  if (code === GRPC.UNAUTHENTICATED || code === GRPC.PERMISSION_DENIED)
    return "Temporal refuses this gateway's credentials. Its operator has to renew them.";
  if (code === GRPC.INVALID_ARGUMENT && /no mapping defined for search attribute Signalbox/i.test(details))
    return 'Temporal lacks a search attribute of Signalbox. Its operator has to start a gateway anew to register it.';
  if (passing === 'away') return `Temporal cannot be connected to at the moment. ${LATER}`;
  if (code === GRPC.FAILED_PRECONDITION && passing === 'moment')
    return `The worker cannot take this at the moment. ${LATER}`;
  if (passing === 'moment' && /database|persistence/i.test(details))
    return `Temporal answers, but its database does not at the moment. ${LATER}`;
  return passing === undefined ? undefined : `Temporal does not answer at the moment. ${LATER}`;
}
