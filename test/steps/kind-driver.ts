/**
 * A run of one step for tests of kinds: the StepContext of steps/kind.ts over plain roots, a fixed clock, and an inbox.
 */

import type { StepDefinition } from '../../src/definition/document/types.ts';
import type { Json, JsonObject } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import type {
  Behaviour,
  DecisionEvent,
  OpenStepContext,
  Outcome,
  Parse,
  Resume,
  StepKind,
  SubmissionEvent,
} from '../../src/steps/kind.ts';
import { evaluate, parseExpression } from '../../src/template/expression.ts';
import { truthy } from '../../src/template/operators.ts';
import { parseTemplate, render } from '../../src/template/template.ts';

export const NOW = Date.parse('2026-01-15T10:30:00Z');

export const parse: Parse = {
  template: (value) => parseTemplate(value ?? null),
  secretTemplate: (value) => parseTemplate(value ?? null, { secrets: true }),
  callbackTemplate: (value) => parseTemplate(value ?? null, { callbacks: true }),
  expression: (source) => parseExpression(source),
};

export interface Given {
  readonly roots?: JsonObject;
  readonly wired?: readonly string[];
  readonly inbox?: readonly { readonly name: string; readonly payload: Json }[];
  readonly stepType?: string;
  /** The person who started the run. */
  readonly initiator?: string;
  readonly requesters?: readonly string[];
}

/** A planned step with one visit, as the core would drive it. */
export class Driven {
  now = NOW;
  outcome: Outcome | undefined;
  readonly assigned: [string, string, Json][] = [];
  readonly inbox: { name: string; payload: Json }[];
  readonly behaviour: Behaviour;
  state: JsonObject = {};
  readonly #roots: JsonObject;
  readonly #wired: readonly string[];
  readonly #persons: Pick<Given, 'initiator' | 'requesters'>;

  constructor(kind: StepKind, config: JsonObject, given: Given = {}) {
    const step: StepDefinition = { stepType: given.stepType ?? kind.type, config };
    this.behaviour = kind.plan(config, parse, step);
    this.#roots = { ...given.roots };
    this.#wired = given.wired ?? kind.ports(step).names;
    this.inbox = [...(given.inbox ?? [])];
    const { initiator, requesters } = given;
    this.#persons = omitUndefined({ initiator, requesters });
  }

  begin(): Outcome {
    return this.#took(this.behaviour.begin(this.#visit()));
  }

  /** What `refuse` refuses is not resumed with, as in the core. */
  resume(event: Resume): Outcome {
    if ((event.on === 'decision' || event.on === 'submit') && this.refusal(event) !== undefined)
      return { do: 'ignore' };
    return this.#took(this.behaviour.resume!(this.#visit(), event));
  }

  /** The clock moves, and the timer of that suffix fires. */
  fire(afterMs: number, suffix = ''): Outcome {
    this.now += afterMs;
    return this.resume({ on: 'fired', suffix });
  }

  decide(decision: 'approved' | 'rejected', more: Partial<DecisionEvent> = {}): Outcome {
    return this.resume({ on: 'decision', decision, via: 'api', ...more });
  }

  refusal(event: DecisionEvent | SubmissionEvent): string | undefined {
    return this.behaviour.refuse?.(this.#visit(), event)?.code;
  }

  #took(outcome: Outcome): Outcome {
    // The state goes through JSON, as it does across continue-as-new.
    if (outcome.do === 'suspend') this.state = JSON.parse(JSON.stringify(outcome.state));
    this.outcome = outcome;
    return outcome;
  }

  #visit(): OpenStepContext {
    const scope = (locals: { readonly [root: string]: unknown } = {}) => ({
      root: (name: string) => locals[name] ?? this.#roots[name],
    });
    const options = { now: this.now };
    const visit: OpenStepContext = {
      path: 'step',
      slug: 'step',
      now: this.now,
      state: this.state,
      branches: [],
      traceEvaluated: () => undefined,
      recordDecision: () => undefined,
      isMarked: () => true,
      execution: { id: 'run.default.test.1', organizationId: 'default', depth: 0, ...this.#persons },
      render: (template, locals) => render(template, scope(locals), options).value,
      renderSecret: (template) => render(template, scope(), options),
      evaluate: (expression, locals) => evaluate(expression, scope(locals), options),
      test: (expression, locals) => truthy(evaluate(expression, scope(locals), options)),
      wired: (port) => this.#wired.includes(port),
      takeMessages: ({ names }, most, accept) => {
        const taken = this.inbox
          .filter((message) => names.includes(message.name) && accept(message.payload))
          .slice(0, most);
        for (const message of taken) this.inbox.splice(this.inbox.indexOf(message), 1);
        return taken.map((message) => ({ ...message, bytes: 0 }));
      },
      returnMessages: (messages) => void this.inbox.unshift(...messages),
      assign: (target, name, value) => {
        this.assigned.push([target, name, value]);
        if (target === 'variables') this.#roots[name] = value;
      },
    };
    return visit;
  }
}

/** Begins a step and gives what it decided. */
export function begin(kind: StepKind, config: JsonObject, given: Given = {}): Outcome {
  return new Driven(kind, config, given).begin();
}
