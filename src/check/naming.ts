/** Variables that are named like roots: only the engine writes those (LANGUAGE.md §3). */

import { below } from '../definition/document/pointer.ts';
import { isRoot } from '../definition/document/roots.ts';
import { isObject } from '../json/json.ts';
import { type Findings, problem, type Subject } from './subject.ts';

export function checkNaming({ definition, steps }: Subject, { problems }: Findings): void {
  const report = (at: string, name: string): void => {
    if (isRoot(name))
      problems.push(
        problem(at, 'reserved_name', `"${name}" is a root, which only the engine writes.`, 'Take another name.'),
      );
  };
  for (const name of Object.keys(definition.config?.variables ?? {})) report(below('/config/variables', name), name);
  for (const { at, kind, written } of steps.values()) {
    const config = written.config ?? {};
    if (kind?.type === 'forEach' && typeof config['as'] === 'string' && config['as'] !== 'item')
      report(`${at}/config/as`, config['as']);
    if (kind?.type !== 'set' || config['target'] === 'state') continue;
    const { values } = config;
    if (Array.isArray(values)) {
      for (const [index, entry] of values.entries()) {
        if (isObject(entry) && typeof entry['name'] === 'string')
          report(`${at}/config/values/${index}/name`, entry['name']);
      }
    } else if (isObject(values)) {
      for (const name of Object.keys(values)) report(below(`${at}/config/values`, name), name);
    }
  }
}
