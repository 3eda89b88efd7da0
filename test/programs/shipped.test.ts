import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { toCanonical } from '../../src/definition/dialects/dialects.ts';
import type { Definition, StepDefinition } from '../../src/definition/document/types.ts';
import type { Json } from '../../src/json/json.ts';
import { compile } from '../../src/steps/compile/program.ts';
import { answer, type ProgramFile } from './load.ts';
import { sent, simulateProgram, writtenTrace } from './run.ts';

const documents = new URL('../definition/cases/000/', import.meta.url);
const walks = new URL('shipped/', import.meta.url);

const shape = z.strictObject({
  about: z.string(),
  effects: z.record(z.string(), z.array(answer)),
  /** Members that the configs of effects must have, by path of the visit. */
  sent: z.record(z.string(), z.json()).default({}),
  trace: z.array(z.string()),
});

/** The actions and models of their host, replaced by requests with the same parameters, which are still evaluated. */
function mocked(definition: Definition): Definition {
  const steps = Object.entries(definition.steps).map(([slug, step]): [string, StepDefinition] => {
    if (!['action', 'llm', 'agent'].includes(step.stepType)) return [slug, step];
    const body: Json = step.stepType === 'action' ? (step.config?.['parameters'] ?? null) : (step.config ?? null);
    return [slug, { ...step, stepType: 'http', config: { method: 'POST', url: 'https://host.test', body } }];
  });
  return { ...definition, steps: Object.fromEntries(steps) };
}

function document(name: string): Json {
  return JSON.parse(readFileSync(new URL(`${name}.json`, documents), 'utf8')) as Json;
}

const names = readdirSync(documents).map((file) => basename(file, '.json'));
const walked = readdirSync(walks).map((file) => basename(file, '.yaml'));

describe('the definitions that the product of document 000 shipped', () => {
  it.each(walked)('%s is walked to its end', (name) => {
    const {
      about,
      effects,
      sent: wanted,
      trace,
    } = shape.parse(parse(readFileSync(new URL(`${name}.yaml`, walks), 'utf8')));
    const { definition } = toCanonical(document(name));
    const file: ProgramFile = {
      about,
      name,
      definition: mocked(definition!),
      input: {},
      effects,
      signals: [],
      timeouts: true,
      expect: { status: 'completed' },
    };
    const [plain, carried] = [simulateProgram(file, false), simulateProgram(file, true)];
    expect({ status: plain.status, error: plain.error }).toEqual({ status: 'completed', error: undefined });
    expect(writtenTrace(plain)).toEqual(trace);
    expect(sent(plain)).toMatchObject(wanted);
    expect(carried.commands).toEqual(plain.commands);
  });

  it('are 21, of which two are broken', () => {
    expect(names).toHaveLength(21);
    expect(names.filter((name) => !walked.includes(name))).toEqual([
      'circuly_sync_subscriptions',
      'loopi_customer_status_assessment',
    ]);
    // Its last step leaves by a port that the kind cannot give.
    const { definition } = toCanonical(document('circuly_sync_subscriptions'));
    const compiled = compile(mocked(definition!));
    expect(compiled).toMatchObject({
      problems: [{ pointer: '/steps/update_cursor_and_fetch_next/nextSteps/default', code: 'unknown_port' }],
    });
    // It hides its prompt where nobody looks for it.
    expect(toCanonical(document('loopi_customer_status_assessment')).problems).toMatchObject([
      { pointer: '/stepsConfig/4/config/llmNode', code: 'unknown_member' },
    ]);
  });
});
