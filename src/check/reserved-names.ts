/** Variables with the name of a root, which only the engine writes (LANGUAGE.md §3). */

import { isRoot } from '../definition/document/roots.ts';
import { childPointer } from '../json/pointer.ts';
import type { Analysis, Findings } from './analysis.ts';

export function checkReservedNames({ definition, steps }: Analysis, { problems }: Findings): void {
  const report = (at: string, name: string): void => {
    if (isRoot(name))
      problems.add(at, 'reserved_name', `"${name}" is a root, which only the engine writes.`, 'Choose another name.');
  };
  for (const name of Object.keys(definition.config?.variables ?? {}))
    report(childPointer('/config/variables', name), name);
  for (const { at, kind, written } of steps.values()) {
    const config = written.config ?? {};
    if (kind?.scope === 'iterations' && typeof config['as'] === 'string' && config['as'] !== 'item')
      report(`${at}/config/as`, config['as']);
    const assigned = kind?.assigns?.(config);
    if (assigned?.target === 'variables')
      for (const one of assigned.names ?? []) report(`${at}/config${one.at}`, one.name);
  }
}
