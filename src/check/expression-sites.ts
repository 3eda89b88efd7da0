/**
 * Every expression and template of a definition, with its pointer. Each kind plans its own config with a parser that
 * records what it parses. The compiler reports what cannot be parsed.
 */

import type { Definition, StepDefinition } from '../definition/document/types.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { childPointer, valueAt } from '../json/pointer.ts';
import type { Parse, StepKind } from '../steps/kind.ts';
import { kindOf } from '../steps/kinds/table.ts';
import { type Expression, parseExpression } from '../template/expression.ts';
import { expressions, type PlaceholderAt, placeholders, references } from '../template/references.ts';
import { parseTemplate, type Template, type TemplateOptions } from '../template/template.ts';
import type { Reference } from '../template/types.ts';

/** The moment of the visit: its begin, or its end, when the output of the step itself is readable. */
type Moment = 'begin' | 'end';

export interface ExpressionSite {
  /** Undefined outside of steps: for the run's output and the keys of its config. */
  readonly slug: string | undefined;
  readonly moment: Moment;
  /** JSON pointer of the text. */
  readonly at: string;
  readonly references: readonly Reference[];
  readonly expressions: readonly { readonly at: string; readonly expression: Expression }[];
  readonly placeholders: readonly PlaceholderAt[];
  /** Roots that only this site has. */
  readonly locals: readonly string[];
  /** All roots that exist there, for a text that is evaluated before the run begins. */
  readonly allowedRoots?: readonly string[];
}

interface StepWithKind {
  readonly kind: StepKind | undefined;
}

export function expressionSitesOf(definition: Definition, steps: ReadonlyMap<string, StepWithKind>): ExpressionSite[] {
  const sites: ExpressionSite[] = [];
  for (const [slug, written] of Object.entries(definition.steps)) {
    const kind = steps.get(slug)?.kind;
    const at = childPointer('/steps', slug);
    const recorder = new Recorder(slug, sites);
    if (kind !== undefined) recordPlan(kind, written, written.config ?? {}, recorder, `${at}/config`, 'begin');
    recordModifiers(written, recorder, at);
  }
  const definitionRecorder = new Recorder(undefined, sites);
  const { output } = definition;
  if (output !== undefined)
    definitionRecorder.ignoringErrors(() => definitionRecorder.template(output, '/output', 'end'));
  const { concurrency, debounce, variables = {} } = definition.config ?? {};
  // The roots that src/engine/state/definition-limits.ts and src/definition/document/payload-key.ts provide; a key has
  // no clock.
  key(concurrency?.key, '/config/concurrency/key', ['input', 'variables', 'organizationId', ...Object.keys(variables)]);
  if (debounce?.key?.includes('{{') === true) key(debounce.key, '/config/debounce/key', ['input']);
  return sites;

  function key(source: string | undefined, at: string, allowedRoots: readonly string[]): void {
    const found: ExpressionSite[] = [];
    const recorder = new Recorder(undefined, found);
    if (source !== undefined) recorder.ignoringErrors(() => recorder.template(source, at, 'begin'));
    for (const site of found) sites.push({ ...site, allowedRoots });
  }
}

function recordPlan(
  kind: StepKind,
  step: StepDefinition,
  config: JsonObject,
  recorder: Recorder,
  at: string,
  moment: Moment,
): void {
  const parse: Parse = {
    template: (value, within) =>
      recorder.onlyIf(isWritten(config, within, value)).template(value ?? null, at + within, moment),
    secretTemplate: (value, within) =>
      recorder.onlyIf(isWritten(config, within, value)).template(value ?? null, at + within, moment, { secrets: true }),
    callbackTemplate: (value, within) =>
      recorder
        .onlyIf(isWritten(config, within, value))
        .template(value ?? null, at + within, moment, { callbacks: true }),
    expression: (source, within, locals) =>
      recorder.onlyIf(isWritten(config, within, source)).expression(source, at + within, moment, locals),
  };
  try {
    kind.plan(config, parse, step);
  } catch {
    // The compiler reports the error. What was parsed before it is recorded.
  }
}

/** Whether the author wrote the text. A kind also parses texts of its own (a trigger reads `input`). */
function isWritten(config: JsonObject, within: string, value: Json | undefined): boolean {
  return typeof value !== 'string' || valueAt(config, within) === value;
}

function recordModifiers(step: StepDefinition, recorder: Recorder, at: string): void {
  const condition = (when: StepDefinition['when'], place: string): void => {
    if (typeof when === 'string') recorder.ignoringErrors(() => recorder.expression(when, place, 'begin'));
    else if (when !== undefined) recorder.ignoringErrors(() => recorder.expression(when.ref, `${place}/ref`, 'begin'));
  };
  condition(step.when, `${at}/when`);
  if (step.bail !== undefined && step.bail !== true) condition(step.bail, `${at}/bail`);
  const { ref, items } = step.forEach ?? {};
  if (ref !== undefined) recorder.ignoringErrors(() => recorder.expression(ref, `${at}/forEach/ref`, 'begin'));
  if (items !== undefined) recorder.ignoringErrors(() => recorder.template(items, `${at}/forEach/items`, 'begin'));
  if (typeof step.saveToState === 'object') {
    for (const [key, source] of Object.entries(step.saveToState)) {
      recorder.ignoringErrors(() =>
        recorder.expression(source, childPointer(`${at}/saveToState`, key), 'end', ['output']),
      );
    }
  }
  const kind = step.rollback === undefined ? undefined : kindOf(step.rollback.stepType);
  if (step.rollback !== undefined && kind !== undefined) {
    const { stepType, config = {} } = step.rollback;
    recordPlan(kind, { stepType, config }, config, recorder, `${at}/rollback/config`, 'end');
  }
}

class Recorder {
  private readonly slug: string | undefined;
  private readonly sites: ExpressionSite[];

  constructor(slug: string | undefined, sites: ExpressionSite[]) {
    this.slug = slug;
    this.sites = sites;
  }

  template(value: Json, at: string, moment: Moment, allowed: TemplateOptions = {}): Template {
    const template = parseTemplate(value, allowed);
    if (template.root.kind === 'constant') return template;
    this.sites.push({
      slug: this.slug,
      moment,
      at,
      references: references(template),
      expressions: expressions(template).map(({ expression, pointer }) => ({ expression, at: at + pointer })),
      placeholders: placeholders(template),
      locals: [],
    });
    return template;
  }

  expression(source: string, at: string, moment: Moment, locals: readonly string[] = []): Expression {
    const expression = parseExpression(source);
    const { slug } = this;
    this.sites.push({
      slug,
      moment,
      at,
      references: references(expression),
      expressions: [{ expression, at }],
      placeholders: [],
      locals,
    });
    return expression;
  }

  /** This recorder, or one whose records are dropped. */
  onlyIf(isWanted: boolean): Recorder {
    return isWanted ? this : new Recorder(this.slug, []);
  }

  /** Ignores parse errors, which the compiler reports. */
  ignoringErrors(read: () => unknown): void {
    try {
      read();
    } catch {
      // The compiler reports it.
    }
  }
}
