import { Import, type Imported } from './imported.ts';
import type { JsonObject } from './types.ts';
export function from001(_: JsonObject): Imported {
  return new Import().refused();
}
