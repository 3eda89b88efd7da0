/** Reads of everything but `steps`: names that nothing has, and roots where they have no value (LANGUAGE.md §3, "Roots"). */

import { flatInput } from '../definition/dialects/flat-input.ts';
import { didYouMean } from '../definition/document/names.ts';
import { isRoot, ROOTS } from '../definition/document/roots.ts';
import type { Before } from './before.ts';
import { notReadHere } from './limited-roots.ts';
import { around, isInBody, type Places } from './places.ts';
import type { Reading } from './readings.ts';
import { type Findings, problem, type Subject } from './subject.ts';

export interface Names {
  /** config.variables, and what `set` writes. */
  readonly variables: ReadonlySet<string>;
  /** A `set` makes the names of variables as it runs, so that any name may be one. */
  readonly areOpen: boolean;
  readonly outputs: ReadonlySet<string>;
  /** Keys of the input that document 000 reads flat. */
  readonly flat: ReadonlySet<string>;
  /** Names that forEach gives its item, and the steps in whose bodies they are readable. */
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

/** What reads are checked against, and what is found. */
interface Ground {
  readonly subject: Subject;
  /** Undefined where the walk of the definition cannot be told. */
  readonly before: Before | undefined;
  readonly places: Places;
  readonly names: Names;
  /** The slugs of the loops. */
  readonly loops: readonly string[];
  /** By slug: whether a loop can have begun before the step. Filled as it is asked. */
  readonly loopsBegun: Map<string, boolean>;
  readonly findings: Findings;
}

/** One root as a template reads it. */
interface Read {
  readonly reading: Reading;
  readonly root: string;
  /** The JSON Pointer of the template. */
  readonly at: string;
  readonly column: number;
}

export function checkRootReferences(
  subject: Subject,
  before: Before | undefined,
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
    ? 'is no root, and nothing declares or sets a variable of that name'
    : 'is no root and no variable';
  const hint =
    didYouMean(root, [...ROOTS, ...names.variables]) ??
    (dialect === '000'
      ? 'It is read from the input if that has such a key.'
      : `Declare it in config.variables, or write input.${root}.`);
  (isMaybe ? warnings : problems).push(
    problem(at, isMaybe ? 'unknown_variable' : 'unknown_root', `Column ${column}: "${root}" ${words}.`, hint),
  );
}

function unknownMember(
  { subject: { definition }, names, findings: { warnings } }: Ground,
  { root, at, column }: Read,
  member: string | number | undefined,
): void {
  if (typeof member !== 'string') return;
  if (root === 'outputs' && !names.outputs.has(member)) {
    warnings.push(
      problem(
        at,
        'unknown_output',
        `Column ${column}: no step has the outputVariable "${member}".`,
        didYouMean(member, [...names.outputs]),
      ),
    );
  } else if (root === 'variables' && !names.variables.has(member) && !names.areOpen && definition.dialect !== '000') {
    warnings.push(
      problem(
        at,
        'unknown_variable',
        `Column ${column}: nothing declares or sets the variable "${member}".`,
        didYouMean(member, [...names.variables]),
      ),
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
  problems.push(
    problem(
      at,
      'outside_loop',
      `Column ${column}: no loop can have begun here, so that loop has no value.`,
      'Read it in the body of a loop or after one.',
    ),
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
    : ['the body of a forEach', `In a loop write loop.${root}.`];
  problems.push(problem(at, 'outside_iteration', `Column ${column}: ${root} has a value only in ${where}.`, hint));
}

/** What a dag evaluates once for each item; its other modifiers are of the step as a whole. */
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
    `Column ${column}: ${root} has no value here, where it is about the step as a whole and not about one item.`,
    dialect === '001'
      ? 'Keep the items that are meant in a code step before, and let forEach.ref name it.'
      : 'In forEach.items keep those that are meant: items[.ok].',
  );
}

/** For a step that ends the run: it is reached from within an iteration, and not only from there. */
function alsoOutside(at: string, column: number, slug: string, root: string): Findings['warnings'][number] {
  return problem(
    at,
    'outside_iteration',
    `Column ${column}: "${slug}" is also reached from outside of the forEach, where ${root} has no value.`,
    'Give a fallback (?:), or use a step of its own for each.',
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
      warnings.push(
        problem(
          at,
          'undeclared_secret',
          `Column ${column}: config.secrets does not name "${placeholder.secret}"; the store's secret of that very name is used.`,
          hint,
        ),
      );
    } else if (steps.get(placeholder.callback)?.kind?.takesCallbacks !== true) {
      const waits = [...steps.values()].filter(({ kind }) => kind?.takesCallbacks === true).map(({ slug }) => slug);
      problems.push(
        problem(
          at,
          'unknown_step',
          `Column ${column}: "${placeholder.callback}" is no wait_callback step.`,
          didYouMean(placeholder.callback, waits),
        ),
      );
    }
  }
}
