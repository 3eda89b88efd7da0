/** Which limits are divided among shards (src/contract/lender.ts), and the shard that a run asks. */
import { shardId } from '../../contract/lender.ts';
import type { GateWanted } from '../../contract/limiter.ts';

/** A smaller limit has one limiter, which keeps the order of its queue exactly. */
export const SHARDED_FROM = 160;

/**
 * The limiter that the run asks: a shard, where the limit is divided. Limits of definitions are not, since runs that no
 * gateway starts ask them too; nor those that refuse or replace runs, since that needs to know of all runs at once.
 */
export function shardOf(wanted: GateWanted, run: string): GateWanted {
  const isDivided = wanted.scope !== 'workflow' && wanted.overflow === 'queue' && wanted.limit >= SHARDED_FROM;
  if (!isDivided || wanted.lender !== undefined) return wanted;
  return { ...wanted, gate: shardId(wanted.gate, run), lender: wanted.gate };
}
