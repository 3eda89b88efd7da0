/** `flow: dag` (language.md §8): who depends on whom, and that nobody waits for himself. */
import { didYouMean } from '../definition/names.ts';
import { kinds } from '../steps/table.ts';
import { type Findings, problem, type Subject } from './subject.ts';

export function checkDag(subject: Subject, findings: Findings): void {
  const { problems } = findings;
  const slugs = Object.keys(subject.definition.steps);
  for (const { slug, at, written } of subject.steps.values()) {
    if (written.nextSteps !== undefined) {
      problems.push(
        problem(
          `${at}/nextSteps`,
          'not_in_dag',
          'A dag has no nextSteps: a step waits for those that it reads.',
          'Use dependsOn, or flow: ports.',
        ),
      );
    }
    if (subject.steps.get(slug)?.kind === undefined) {
      const hint = didYouMean(
        written.stepType,
        kinds.flatMap(({ type, aliases }) => [type, ...(aliases ?? [])]),
      );
      problems.push(
        problem(`${at}/stepType`, 'unknown_kind', `There is no step kind '${written.stepType.slice(0, 80)}'.`, hint),
      );
    }
    for (const [index, dependency] of (written.dependsOn ?? []).entries()) {
      if (subject.steps.has(dependency)) continue;
      problems.push(
        problem(
          `${at}/dependsOn/${index}`,
          'unknown_step',
          `There is no step "${dependency.slice(0, 80)}".`,
          didYouMean(dependency, slugs),
        ),
      );
    }
  }
  const circle = findCircle(dependencies(subject));
  if (circle !== undefined) {
    problems.push(
      problem(
        subject.steps.get(circle[0] ?? '')?.at ?? '/steps',
        'circular_dependency',
        `Circular dependency detected: ${circle.join(' -> ')}`,
        'Take one of these references out.',
      ),
    );
  }
}

/** Step → the steps that it waits for: those that it reads, and dependsOn. */
export function dependencies({ steps, readings }: Subject): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { slug, written } of steps.values())
    found.set(slug, new Set((written.dependsOn ?? []).filter((one) => steps.has(one))));
  for (const { slug, references, moment } of readings) {
    if (slug === undefined) continue;
    for (const { root, path } of references) {
      const [read] = path;
      if (root !== 'steps' || typeof read !== 'string' || !steps.has(read) || (read === slug && moment === 'end'))
        continue;
      found.get(slug)?.add(read);
    }
  }
  return found;
}

/** The first circle met, from a step back to itself. */
function findCircle(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const done = new Set<string>();
  for (const root of graph.keys()) {
    if (done.has(root)) continue;
    const path: string[] = [root];
    const onPath = new Set(path);
    const open = [[...(graph.get(root) ?? [])]];
    for (let targets = open.at(-1); targets !== undefined; targets = open.at(-1)) {
      const target = targets.pop();
      if (target === undefined) {
        open.pop();
        const left = path.pop();
        if (left !== undefined) {
          onPath.delete(left);
          done.add(left);
        }
      } else if (onPath.has(target)) {
        return [...path.slice(path.indexOf(target)), target];
      } else if (!done.has(target)) {
        path.push(target);
        onPath.add(target);
        open.push([...(graph.get(target) ?? [])]);
      }
    }
  }
  return undefined;
}
