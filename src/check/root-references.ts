/** References other than `steps`: unknown names, and roots where they have no value (LANGUAGE.md §3, "Roots"). */

import { flatInput } from '../compat/tale/flat-input.ts';
import { traitsOf } from '../compat/traits.ts';
import { didYouMean } from '../definition/document/names.ts';
import { isRoot, ROOTS } from '../definition/document/roots.ts';
import { type Analysis, type Findings, problem } from './analysis.ts';
import type { ExpressionSite } from './expression-sites.ts';
import { unavailableRoot } from './pre-run-roots.ts';
import { checkRootMember } from './root-members.ts';
import type { StepOrder } from './step-order.ts';
import { enclosingContainers, isInBody, type StepPositions } from './step-positions.ts';

interface KnownNames {
  /** Of config.variables, and those that a `set` writes. */
  readonly variables: ReadonlySet<string>;
  /** A `set` computes names of variables, so that any name can be a variable. */
  readonly areComputed: boolean;
  readonly outputs: ReadonlySet<string>;
  /** Keys of the input, which tale reads without the prefix `input.`. */
  readonly inputKeys: ReadonlySet<string>;
  /** Names from a forEach's `as`, and the forEach steps that define them. */
  readonly itemAliases: ReadonlyMap<string, readonly string[]>;
}

export function knownNamesOf({ definition, steps }: Analysis): KnownNames {
  const variables = new Set(Object.keys(definition.config?.variables ?? {}));
  const outputs = new Set<string>();
  const itemAliases = new Map<string, string[]>();
  let areComputed = false;
  for (const { slug, kind, written } of steps.values()) {
    if (written.outputVariable !== undefined) outputs.add(written.outputVariable);
    const config = written.config ?? {};
    if (kind?.scope === 'iterations' && typeof config['as'] === 'string')
      itemAliases.set(config['as'], [...(itemAliases.get(config['as']) ?? []), slug]);
    const assigned = kind?.assigns?.(config);
    if (assigned?.target !== 'variables') continue;
    if (assigned.names === undefined) areComputed = true;
    for (const { name } of assigned.names ?? []) {
      if (name.includes('{{')) areComputed = true;
      else variables.add(name);
    }
  }
  const inputKeys = traitsOf(definition.dialect).readsInputKeys
    ? flatInput(definition.input, Object.values(definition.steps))
    : new Set<string>();
  return { variables, areComputed, outputs, inputKeys, itemAliases };
}

/** What references are checked against, and the findings. */
interface CheckContext {
  readonly analysis: Analysis;
  /** Undefined in flow: dag, which has no walk. */
  readonly stepOrder: StepOrder | undefined;
  readonly positions: StepPositions;
  readonly names: KnownNames;
  /** The slugs of the loops. */
  readonly loops: readonly string[];
  /** By slug: whether a loop can have begun before the step. A cache. */
  readonly loopBegunCache: Map<string, boolean>;
  readonly findings: Findings;
}

/** One reference to a root. */
interface RootReference {
  readonly site: ExpressionSite;
  readonly root: string;
  /** The JSON Pointer of the template. */
  readonly at: string;
  readonly column: number;
}

export function checkRootReferences(
  analysis: Analysis,
  stepOrder: StepOrder | undefined,
  positions: StepPositions,
  names: KnownNames,
  findings: Findings,
): void {
  const loops = [...analysis.steps.values()].filter(({ kind }) => kind?.scope === 'loop').map(({ slug }) => slug);
  const context: CheckContext = {
    analysis,
    stepOrder,
    positions,
    names,
    loops,
    loopBegunCache: new Map(),
    findings,
  };
  for (const site of analysis.expressionSites) {
    for (const { root, path, column, pointer } of site.references) {
      const at = `${site.at}${pointer ?? ''}`;
      if (
        site.allowedRoots?.includes(root) === false &&
        (isRoot(root) || !traitsOf(analysis.definition.dialect).readsInputKeys)
      ) {
        findings.problems.push(unavailableRoot(at, column, root, site.allowedRoots));
        continue;
      }
      if (site.locals.includes(root) || root === 'steps') continue;
      const reference: RootReference = { site, root, at, column };
      checkRootMember({ root, path, at, column }, findings);
      if (!isRoot(root)) checkName(context, reference);
      else if (root === 'loop') checkLoop(context, reference);
      else if (root === 'item' || root === 'index') checkItem(context, reference);
      else if (root === 'variables' || root === 'outputs') checkMember(context, reference, path[0]);
    }
    checkPlaceholders(analysis, site, findings);
  }
}

function checkName(
  { analysis, positions, names, findings: { problems, warnings } }: CheckContext,
  { site, root, at, column }: RootReference,
): void {
  if (names.variables.has(root) || names.inputKeys.has(root)) return;
  const definingForEach = names.itemAliases.get(root);
  if (definingForEach !== undefined && site.slug !== undefined) {
    const inside = positions
      .at(site.slug)
      .map((position) => definingForEach.some((forEach) => isInBody(analysis, position, forEach)));
    if (inside.includes(false) && inside.includes(true)) warnings.push(reachedFromOutside(at, column, site.slug, root));
    if (inside.includes(true)) return;
  }
  const { readsInputKeys = false } = traitsOf(analysis.definition.dialect);
  const isUncertain = names.areComputed || readsInputKeys;
  const words = isUncertain
    ? 'is not a root, and no variable of that name is declared or set'
    : 'is neither a root nor a variable';
  const hint =
    didYouMean(root, [...ROOTS, ...names.variables]) ??
    (readsInputKeys
      ? 'It reads the key of the input, if the input has one.'
      : `Declare it in config.variables, or write input.${root}.`);
  (isUncertain ? warnings : problems).add(
    at,
    isUncertain ? 'unknown_variable' : 'unknown_root',
    `Column ${column}: "${root}" ${words}.`,
    hint,
  );
}

function checkMember(
  { analysis: { definition }, names, findings: { warnings } }: CheckContext,
  { root, at, column }: RootReference,
  member: string | number | undefined,
): void {
  if (typeof member !== 'string') return;
  if (root === 'outputs' && !names.outputs.has(member)) {
    warnings.add(
      at,
      'unknown_output',
      `Column ${column}: no step has the outputVariable "${member}".`,
      didYouMean(member, [...names.outputs]),
    );
  } else if (
    root === 'variables' &&
    !names.variables.has(member) &&
    !names.areComputed &&
    !traitsOf(definition.dialect).readsInputKeys
  ) {
    warnings.add(
      at,
      'unknown_variable',
      `Column ${column}: the variable "${member}" is neither declared nor set.`,
      didYouMean(member, [...names.variables]),
    );
  }
}

function checkLoop(
  { analysis, stepOrder, positions, loops, loopBegunCache, findings: { problems } }: CheckContext,
  { site: { slug }, at, column }: RootReference,
): void {
  if (stepOrder === undefined || (slug === undefined && loops.length > 0)) return;
  const canHaveBegun =
    slug === undefined
      ? false
      : (loopBegunCache.get(slug) ??
        loops.some(
          (loop) =>
            loop === slug ||
            positions.at(slug).some((position) => isInBody(analysis, position, loop)) ||
            stepOrder.canPrecede(loop, slug, 'begin'),
        ));
  if (slug !== undefined) loopBegunCache.set(slug, canHaveBegun);
  if (canHaveBegun || (slug !== undefined && !stepOrder.reachable.has(slug))) return;
  problems.add(
    at,
    'outside_loop',
    `Column ${column}: loop has no value here, since no loop can have begun.`,
    'Read it in the body of a loop or after a loop.',
  );
}

function checkItem(
  { analysis, positions, findings: { problems, warnings } }: CheckContext,
  { site: { slug }, root, at, column }: RootReference,
): void {
  if (slug !== undefined) {
    const step = analysis.steps.get(slug);
    if (analysis.isDag && step?.written.forEach !== undefined) {
      if (!PER_ITEM_MEMBERS.some((member) => at.startsWith(`${step.at}/${member}/`)))
        problems.push(evaluatedOnceProblem(analysis.definition, at, column, root));
      return;
    }
    const inside = positions
      .at(slug)
      .map((position) => [...enclosingContainers(analysis, position)].some(({ kind }) => kind?.scope === 'iterations'));
    if (!inside.includes(false)) return;
    if (inside.includes(true)) {
      warnings.push(reachedFromOutside(at, column, slug, root));
      return;
    }
  }
  const [where, hint] = analysis.isDag
    ? ['a step with forEach', 'Give the step a forEach.']
    : ['the body of a forEach', `In a loop, write loop.${root}.`];
  problems.add(at, 'outside_iteration', `Column ${column}: ${root} has a value only in ${where}.`, hint);
}

/** Members that flow: dag evaluates for each item. It evaluates other modifiers once for the whole step. */
const PER_ITEM_MEMBERS = ['config', 'rollback'] as const;

function evaluatedOnceProblem(
  { dialect }: Analysis['definition'],
  at: string,
  column: number,
  root: string,
): Findings['problems'][number] {
  return problem(
    at,
    'outside_iteration',
    `Column ${column}: ${root} has no value here, since this member is evaluated once for all items.`,
    traitsOf(dialect).filterHint ?? 'Filter the items in forEach.items, such as items[.ok].',
  );
}

/** For a step that ends the run and is reached both from within an iteration and from outside. */
function reachedFromOutside(at: string, column: number, slug: string, root: string): Findings['warnings'][number] {
  return problem(
    at,
    'outside_iteration',
    `Column ${column}: "${slug}" is also reached from outside of the forEach, where ${root} has no value.`,
    'Add a fallback (?:), or use a separate step for each place.',
  );
}

function checkPlaceholders(
  { definition, steps }: Analysis,
  site: ExpressionSite,
  { problems, warnings }: Findings,
): void {
  const declared = definition.config?.secrets ?? {};
  for (const { placeholder, pointer, column } of site.placeholders) {
    const at = site.at + pointer;
    if ('secret' in placeholder) {
      if (Object.hasOwn(declared, placeholder.secret)) continue;
      const hint =
        didYouMean(placeholder.secret, Object.keys(declared)) ??
        `Add config.secrets: {${placeholder.secret}: NAME-IN-THE-STORE}.`;
      warnings.add(
        at,
        'undeclared_secret',
        `Column ${column}: "${placeholder.secret}" is not in config.secrets; the stored secret of that name is used.`,
        hint,
      );
    } else if (steps.get(placeholder.callback)?.kind?.takesCallbacks !== true) {
      const waits = [...steps.values()].filter(({ kind }) => kind?.takesCallbacks === true).map(({ slug }) => slug);
      problems.add(
        at,
        'unknown_step',
        `Column ${column}: "${placeholder.callback}" is not a wait_callback step.`,
        didYouMean(placeholder.callback, waits),
      );
    }
  }
}
