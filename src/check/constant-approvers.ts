/** What of an approval's rules a definition says itself, without templates. */
import type { Json } from '../json/json.ts';
import { audienceOf } from '../steps/kinds/approval/approval-votes.ts';

/** Undefined if a template decides who is asked, or if the schema refuses the value. */
export function constantAudience(approvers: Json | undefined): string[] | undefined {
  if (approvers === undefined || JSON.stringify(approvers).includes('{{')) return undefined;
  try {
    return [...new Set(audienceOf(approvers, 'approvers'))];
  } catch {
    return undefined;
  }
}

export function isConstant(value: Json | undefined): value is Json {
  return value !== undefined && value !== null && !(typeof value === 'string' && value.includes('{{'));
}
