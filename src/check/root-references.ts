/** References other than `steps`: unknown names, and roots where they have no value (LANGUAGE.md §3, "Roots"). */

import { flatInput } from '../definition/dialects/flat-input.ts';
import { didYouMean } from '../definition/document/names.ts';
import { isRoot, ROOTS } from '../definition/document/roots.ts';
import { notReadHere } from './limited-roots.ts';
import { around, isInBody, type Places } from './places.ts';
import type { Precedence } from './precedence.ts';
import type { Reading } from './readings.ts';
import { unknownRootMember } from './root-members.ts';
import { type Findings, problem, type Subject } from './subject.ts';

interface Names {
  /** Of config.variables, and those that a `set` writes. */
  readonly variables: ReadonlySet<string>;
  /** A `set` computes names of variables, so that any name can be a variable. */
  readonly areOpen: boolean;
  readonly outputs: ReadonlySet<string>;
  /** Keys of the input, which tale reads without the prefix `input.`. */
  readonly flat: ReadonlySet<string>;
  /** Names from a forEach's `as`, and the forEach steps that define them. */
  readonly items: ReadonlyMap<string, readonly string[]>;
}

export function namesOf({ definition, steps }: Subject): Names {
  const variables = new Set(Object.keys(definition.config?.variables ?? {}));
  const outputs = new Set<string>();
  const items = new Map<string, string[]>();
  let areOpen = false;
  for (const { slug, kind, written } of steps.values()) {
    if (written.outputVariable !== undefined) outputs.add(written.outputVariable);
    const config = written.config ?? {};
    if (kind?.scope === 'iterations' && typeof config['as'] === 'string')
      items.set(config['as'], [...(items.get(config['as']) ?? []), slug]);
    const assigned = kind?.assigns?.(config);
    if (assigned?.target !== 'variables') continue;
    if (assigned.names === undefined) areOpen = true;
    for (const { name } of assigned.names ?? []) {
      if (name.includes('{{')) areOpen = true;
      else variables.add(name);
    }
  }
  const flat =
    definition.dialect === '000' ? flatInput(definition.input, Object.values(definition.steps)) : new Set<string>();
  return { variables, areOpen, outputs, flat, items };
}

/** What references are checked against, and the findings. */
interface Ground {
  readonly subject: Subject;
  /** Undefined in flow: dag, which has no walk. */
  readonly before: Precedence | undefined;
  readonly places: Places;
  readonly names: Names;
  /** The slugs of the loops. */
  readonly loops: readonly string[];
  /** By slug: whether a loop can have begun before the step. A cache. */
  readonly loopsBegun: Map<string, boolean>;
  readonly findings: Findings;
}

/** One reference to a root. */
interface Read {
  readonly reading: Reading;
  readonly root: string;
  /** The JSON Pointer of the template. */
  readonly at: string;
  readonly column: number;
}

export function checkRootReferences(
  subject: Subject,
  before: Precedence | undefined,
  places: Places,
  names: Names,
  findings: Findings,
): void {
  const loops = [...subject.steps.values()].filter(({ kind }) => kind?.scope === 'loop').map(({ slug }) => slug);
  const ground: Ground = { subject, before, places, names, loops, loopsBegun: new Map(), findings };
  for (const reading of subject.readings) {
    for (const { root, path, column, pointer } of reading.references) {
      const at = `${reading.at}${pointer ?? ''}`;
      if (reading.only?.includes(root) === false && (isRoot(root) || subject.definition.dialect !== '000')) {
        findings.problems.push(notReadHere(at, column, root, reading.only));
        continue;
      }
      if (reading.locals.includes(root) || root === 'steps') continue;
      const read: Read = { reading, root, at, column };
      unknownRootMember({ root, path, at, column }, findings);
      if (!isRoot(root)) unknownName(ground, read);
      else if (root === 'loop') loopOutside(ground, read);
      else if (root === 'item' || root === 'index') itemOutside(ground, read);
      else if (root === 'variables' || root === 'outputs') unknownMember(ground, read, path[0]);
    }
    secretsAndCallbacks(subject, reading, findings);
  }
}

function unknownName(
  { subject, places, names, findings: { problems, warnings } }: Ground,
  { reading, root, at, column }: Read,
): void {
  if (names.variables.has(root) || names.flat.has(root)) return;
  const givers = names.items.get(root);
  if (givers !== undefined && reading.slug !== undefined) {
    const inside = places.of(reading.slug).map((place) => givers.some((giver) => isInBody(subject, place, giver)));
    if (inside.includes(false) && inside.includes(true)) warnings.push(alsoOutside(at, column, reading.slug, root));
    if (inside.includes(true)) return;
  }
  const { dialect } = subject.definition;
  const isMaybe = names.areOpen || dialect === '000';
  const words = isMaybe
    ? 'is not a root, and no variable of that name is declared or set'
    : 'is neither a root nor a variable';
  const hint =
    didYouMean(root, [...ROOTS, ...names.variables]) ??
    (dialect === '000'
      ? 'It reads the key of the input, if the input has one.'
      : `Declare it in config.variables, or write input.${root}.`);
  (isMaybe ? warnings : problems).add(
    at,
    isMaybe ? 'unknown_variable' : 'unknown_root',
    `Column ${column}: "${root}" ${words}.`,
    hint,
  );
}

function unknownMember(
  { subject: { definition }, names, findings: { warnings } }: Ground,
  { root, at, column }: Read,
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
  } else if (root === 'variables' && !names.variables.has(member) && !names.areOpen && definition.dialect !== '000') {
    warnings.add(
      at,
      'unknown_variable',
      `Column ${column}: the variable "${member}" is neither declared nor set.`,
      didYouMean(member, [...names.variables]),
    );
  }
}

function loopOutside(
  { subject, before, places, loops, loopsBegun, findings: { problems } }: Ground,
  { reading: { slug }, at, column }: Read,
): void {
  if (before === undefined || (slug === undefined && loops.length > 0)) return;
  const isOpen =
    slug === undefined
      ? false
      : (loopsBegun.get(slug) ??
        loops.some(
          (loop) =>
            loop === slug ||
            places.of(slug).some((place) => isInBody(subject, place, loop)) ||
            before.canPrecede(loop, slug, 'begin'),
        ));
  if (slug !== undefined) loopsBegun.set(slug, isOpen);
  if (isOpen || (slug !== undefined && !before.reachable.has(slug))) return;
  problems.add(
    at,
    'outside_loop',
    `Column ${column}: loop has no value here, since no loop can have begun.`,
    'Read it in the body of a loop or after a loop.',
  );
}

function itemOutside(
  { subject, places, findings: { problems, warnings } }: Ground,
  { reading: { slug }, root, at, column }: Read,
): void {
  if (slug !== undefined) {
    const step = subject.steps.get(slug);
    if (subject.isDag && step?.written.forEach !== undefined) {
      if (!OF_ITERATION.some((member) => at.startsWith(`${step.at}/${member}/`)))
        problems.push(ofTheWhole(subject.definition, at, column, root));
      return;
    }
    const inside = places
      .of(slug)
      .map((place) => [...around(subject, place)].some(({ kind }) => kind?.scope === 'iterations'));
    if (!inside.includes(false)) return;
    if (inside.includes(true)) {
      warnings.push(alsoOutside(at, column, slug, root));
      return;
    }
  }
  const [where, hint] = subject.isDag
    ? ['a step with forEach', 'Give the step a forEach.']
    : ['the body of a forEach', `In a loop, write loop.${root}.`];
  problems.add(at, 'outside_iteration', `Column ${column}: ${root} has a value only in ${where}.`, hint);
}

/** Members that flow: dag evaluates for each item. It evaluates other modifiers once for the whole step. */
const OF_ITERATION = ['config', 'rollback'] as const;

function ofTheWhole(
  { dialect }: Subject['definition'],
  at: string,
  column: number,
  root: string,
): Findings['problems'][number] {
  return problem(
    at,
    'outside_iteration',
    `Column ${column}: ${root} has no value here, since this member is evaluated once for all items.`,
    dialect === '001'
      ? 'Filter the items in a code step before this one, and refer to that step in forEach.ref.'
      : 'Filter the items in forEach.items, such as items[.ok].',
  );
}

/** For a step that ends the run and is reached both from within an iteration and from outside. */
function alsoOutside(at: string, column: number, slug: string, root: string): Findings['warnings'][number] {
  return problem(
    at,
    'outside_iteration',
    `Column ${column}: "${slug}" is also reached from outside of the forEach, where ${root} has no value.`,
    'Add a fallback (?:), or use a separate step for each place.',
  );
}

function secretsAndCallbacks({ definition, steps }: Subject, reading: Reading, { problems, warnings }: Findings): void {
  const declared = definition.config?.secrets ?? {};
  for (const { placeholder, pointer, column } of reading.placeholders) {
    const at = reading.at + pointer;
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
