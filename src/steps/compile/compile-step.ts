/** Compiles one step of a definition. */

import type { Definition, StepDefinition, When } from '../../definition/document/types.ts';
import { isObject, type Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { childPointer } from '../../json/pointer.ts';
import { type Expression, parseExpression } from '../../template/expression.ts';
import { references } from '../../template/references.ts';
import { parseTemplate, type Template } from '../../template/template.ts';
import { type Reference, TemplateError } from '../../template/types.ts';
import type { FailureShape, Parse, Ports, StepKind } from '../kind.ts';
import { kindOf } from '../kinds/table.ts';
import { COMMON_PORTS, CONTAINER_RESERVED, END_TARGET } from '../ports.ts';
import type { Condition, Preset, ResolvedRetryPolicy, Save, Step } from '../program-types.ts';
import { duration, LocatedTemplateError, type Report, tryOrReport } from './report.ts';
import { resolveRetry } from './retry.ts';

export function compileStep(
  slug: string,
  definition: Definition,
  runRetry: ResolvedRetryPolicy,
  report: Report,
): Step | undefined {
  const written = definition.steps[slug]!;
  const at = `/steps/${slug}`;
  const kind = kindOf(written.stepType);
  if (kind === undefined) {
    report(`${at}/stepType`, 'unknown_kind', `There is no step kind '${written.stepType}'.`);
    for (const edge of Object.entries(written.nextSteps ?? {})) leadsToStep(edge, definition, at, report);
    return undefined;
  }
  const ports = kind.ports(written);
  const next = edges(written, kind, ports, definition, at, report);
  const read: Reference[] = [];
  const behaviour = tryOrReport(`${at}/config`, report, () =>
    kind.plan(written.config ?? {}, parser(`${at}/config`, read), written),
  );
  if (behaviour === undefined) return undefined;
  const when = written.when === undefined ? undefined : condition(written.when, `${at}/when`, report);
  const retry = resolveRetry(written.retry, runRetry, `${at}/retry`, report);
  const timeoutMs = duration(written.timeout, `${at}/timeout`, report);
  if (timeoutMs !== undefined && kind.class === 'wait')
    report(
      `${at}/timeout`,
      'timeout_on_wait',
      `The modifier timeout limits an attempt of an effect; '${kind.type}' waits, and its config says how long.`,
    );
  const rollback = written.rollback === undefined ? undefined : compileRollback(written, at, runRetry, report);
  const branches = branchesOf(ports, next);
  return {
    slug,
    name: written.name ?? slug,
    kind,
    type: written.stepType,
    behaviour,
    ports,
    next,
    branches,
    config: written.config ?? {},
    ...omitUndefined({ when }),
    retry,
    ...omitUndefined({ timeoutMs }),
    local: written.local ?? 'auto',
    fuses: written.fuse !== false,
    continueOnError: written.onError === 'continue',
    saves: savesOf(written, at, report),
    ...omitUndefined({ outputVariable: written.outputVariable, rollback }),
    ...(written.preset === undefined ? {} : { preset: presetOf(written.preset) }),
    references: when === undefined ? read : [...read, ...references(when.ref)],
  };
}

/**
 * A preset with a member `data` is an envelope `{data, port?, meta?}`. A preset whose only member is `error` with a
 * code is a failure. Any other preset is the data itself.
 */
export function presetOf(value: Json): Preset {
  const error = presetError(value);
  if (error !== undefined) return { data: null, error };
  if (isObject(value) && Object.hasOwn(value, 'data')) {
    const { data, port, meta } = value as { data: Json; port?: Json; meta?: Json };
    return {
      data,
      ...(typeof port === 'string' ? { port } : {}),
      ...(isObject(meta) ? { meta } : {}),
    };
  }
  return { data: value };
}

function presetError(value: Json): FailureShape | undefined {
  if (!isObject(value)) return undefined;
  const { error } = value;
  if (Object.keys(value).length !== 1 || !isObject(error)) return undefined;
  const { code, message } = error;
  if (typeof code !== 'string') return undefined;
  return { code, message: typeof message === 'string' ? message : 'The step is preset to fail.', retryable: false };
}

function edges(
  written: StepDefinition,
  kind: StepKind,
  ports: Ports,
  definition: Definition,
  at: string,
  report: Report,
): { [port: string]: string } {
  const next: { [port: string]: string } = {};
  for (const [port, target] of Object.entries(written.nextSteps ?? {})) {
    const pointer = (): string => childPointer(`${at}/nextSteps`, port);
    if (!leadsToStep([port, target], definition, at, report)) continue;
    if (port === '__proto__') {
      report(pointer(), 'invalid_port', "A port cannot be called '__proto__'; give it another name.");
      continue;
    }
    const common = kind.class === 'end' ? port === 'skipped' : COMMON_PORTS.has(port);
    const branch = ports.body === 'any' && !CONTAINER_RESERVED.has(port);
    if (!common && !branch && !ports.names.includes(port)) {
      const known = [...ports.names, ...(kind.class === 'end' ? ['skipped'] : COMMON_PORTS)].map((name) => `'${name}'`);
      report(
        pointer(),
        'unknown_port',
        `A '${kind.type}' cannot end with the port '${port}'; it has ${known.join(', ') || 'no ports'}.`,
      );
      continue;
    }
    next[port] = target;
  }
  return next;
}

function leadsToStep(
  [port, target]: readonly [port: string, target: string],
  definition: Definition,
  at: string,
  report: Report,
): boolean {
  if (target === END_TARGET || Object.hasOwn(definition.steps, target)) return true;
  report(
    childPointer(`${at}/nextSteps`, port),
    'unknown_step',
    `The port '${port}' leads to '${target}', which is no step of this definition.`,
    "Name a step, or '$end'.",
  );
  return false;
}

function branchesOf(ports: Ports, next: { readonly [port: string]: string }): string[] {
  const body = ports.body;
  if (body === undefined) return [];
  return Object.keys(next).filter((port) => (body === 'any' ? !CONTAINER_RESERVED.has(port) : body.includes(port)));
}

function compileRollback(
  written: StepDefinition,
  at: string,
  runRetry: ResolvedRetryPolicy,
  report: Report,
): Step['rollback'] {
  const { stepType, config, retry, timeout } = written.rollback!;
  const kind = kindOf(stepType);
  if (kind === undefined || kind.class !== 'effect' || kind.canUndo === false) {
    report(
      `${at}/rollback/stepType`,
      kind === undefined ? 'unknown_kind' : 'rollback_kind',
      `A rollback is an effect such as 'action' or 'http', not '${stepType}'.`,
    );
    return undefined;
  }
  const pointer = `${at}/rollback/config`;
  const read: Reference[] = [];
  const behaviour = tryOrReport(pointer, report, () =>
    kind.plan(config ?? {}, parser(pointer, read), { stepType, ...omitUndefined({ config }) }),
  );
  if (behaviour === undefined) return undefined;
  const timeoutMs = duration(timeout, `${at}/rollback/timeout`, report);
  return {
    behaviour,
    retry: resolveRetry(retry, runRetry, `${at}/rollback/retry`, report),
    ...omitUndefined({ timeoutMs }),
    references: read,
  };
}

function savesOf(written: StepDefinition, at: string, report: Report): Save[] {
  const save = written.saveToState;
  if (save === undefined) return [];
  if (typeof save === 'string') return [{ key: save }];
  return Object.entries(save).flatMap(([key, source]) => {
    const expression = tryOrReport(childPointer(`${at}/saveToState`, key), report, () => parseExpression(source));
    return expression === undefined ? [] : [{ key, expression }];
  });
}

export function condition(when: When, pointer: string, report: Report): Condition | undefined {
  if (typeof when === 'string') {
    const ref = tryOrReport(pointer, report, () => parseExpression(when));
    return ref === undefined ? undefined : { ref };
  }
  const ref = tryOrReport(`${pointer}/ref`, report, () => parseExpression(when.ref));
  if (ref === undefined) return undefined;
  for (const op of ['eq', 'neq', 'gt', 'lt'] as const) {
    const value = when[op];
    if (value !== undefined) return { ref, compare: { op, value } };
  }
  return { ref };
}

/** `read` collects the references of everything that is parsed. */
export function parser(base: string, read: Reference[] = []): Parse {
  const within = <T extends Expression | Template>(at: string, parse: () => T): T => {
    try {
      const parsed = parse();
      for (const reference of references(parsed)) read.push(reference);
      return parsed;
    } catch (error) {
      if (error instanceof TemplateError) throw new LocatedTemplateError(`${base}${at}${error.pointer ?? ''}`, error);
      throw error;
    }
  };
  return {
    template: (value, at) => within(at, () => parseTemplate(value ?? null)),
    secretTemplate: (value, at) => within(at, () => parseTemplate(value ?? null, { secrets: true })),
    callbackTemplate: (value, at) => within(at, () => parseTemplate(value ?? null, { callbacks: true })),
    expression: (source, at) => within(at, () => parseExpression(source)),
  };
}
