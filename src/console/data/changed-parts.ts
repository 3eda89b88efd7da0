/** The steps and other parts of a definition that differ between two versions. Pure. */
import { pointerParts } from '../../json/pointer.ts';

type ChangeKind = 'added' | 'removed' | 'changed';

export interface ChangedPart {
  /** The slug of a step, or another member of the definition. */
  readonly name: string;
  readonly isStep: boolean;
  readonly kind: ChangeKind;
  /** Members of the step that differ: `config`, `nextSteps`. */
  readonly members: readonly string[];
}

interface Change {
  readonly op: ChangeKind;
  readonly pointer: string;
}

/** The steps and other parts that differ, in the order of the changes, each once. */
export function changedParts(changes: readonly Change[]): ChangedPart[] {
  const parts = new Map<string, { name: string; isStep: boolean; kind: ChangeKind; members: Set<string> }>();
  for (const { op, pointer } of changes) {
    const [first = '', second, third] = pointerParts(pointer);
    const isStep = first === 'steps' && second !== undefined;
    const name = isStep ? second : first;
    const isEntirePart = isStep ? third === undefined : second === undefined;
    const key = `${isStep} ${name}`;
    const part = parts.get(key) ?? { name, isStep, kind: isEntirePart ? op : 'changed', members: new Set<string>() };
    if (isStep && third !== undefined) part.members.add(third);
    parts.set(key, part);
  }
  return [...parts.values()].map((part) => ({ ...part, members: [...part.members] }));
}
