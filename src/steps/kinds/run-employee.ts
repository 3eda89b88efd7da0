import type { PayloadFormat } from '../../definition/document/types.ts';
import { declaredNames } from '../../definition/payload/format.ts';
import { assert } from '../../json/assert.ts';
import type { Json } from '../../json/json.ts';
import { parsedJson, possibleJson } from '../../json/model-json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { payloadProblems, planFormat, type StoredFormat } from '../config/payload.ts';
import { invalid, isAbsent, text } from '../config/read.ts';
import { anyValue, configSchema, payloadFormat, textTemplate } from '../config/schema.ts';
import { ConfigError, type StepContext, StepFailure, type StepKind } from '../kind.ts';
import { endWithChild, startChild, timeoutOf } from './run-workflow.ts';

const MAX_LISTED_PROBLEMS = 20;

export const runEmployee: StepKind<StoredFormat<'responseSchema'>> = {
  type: 'run_employee',
  class: 'effect',
  startsRuns: true,
  summary: 'Gives an assignment to an AI employee, and waits for the answer.',
  description: `Starts a run of \`employee\`, a workflow of \`type: employee\` in the same organization, as
\`run_workflow\` does: with its depth limit and its errors. \`timeout\` limits the whole answer. The input of the
employee's run is \`{assignment, attachments_json, attachments, responseSchema}\`: \`attachments_json\` is JSON text,
and \`attachments\` is the value that it holds.

With \`responseSchema\`, a payload format, the answer is shaped: text that is JSON, also inside a Markdown fence, is
parsed, and plain text becomes the only member of a format that declares one member. An answer that still does not fit
fails the step with \`invalid_response\`, and the problems in its details.`,
  example: {
    stepType: 'run_employee',
    config: {
      employee: 'support-agent',
      assignment: 'Sort this complaint: {{ input.text }}',
      responseSchema: { category: 'string', urgent: 'boolean' },
    },
    nextSteps: { success: 'route' },
  },
  output: "The employee's answer, shaped by `responseSchema`. `meta.executionId` names its run.",
  schema: () =>
    configSchema({
      employee: textTemplate().describe('The slug of the employee.'),
      assignment: textTemplate().describe('The task.'),
      attachments_json: anyValue()
        .refine(mayBeAttachments, { error: 'expected JSON text, such as a list of {name, url}' })
        .optional()
        .describe('Attachments: a list, or one as JSON text.'),
      responseSchema: payloadFormat().optional().describe('The format of the answer: a payload format.'),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse, step) {
    for (const member of ['employee', 'assignment'])
      if (isAbsent(config[member])) throw new ConfigError(`/${member}`, 'Expected a text.');
    const employee = parse.template(config['employee'], '/employee');
    const assignment = parse.template(config['assignment'], '/assignment');
    const attached = parse.template(config['attachments_json'], '/attachments_json');
    const schema = planFormat(config['responseSchema'], 'responseSchema', parse);
    const timeoutMs = timeoutOf(step);
    return {
      begin(visit) {
        const state = schema.stored(visit);
        const format = schema.formatOf(visit, state);
        const input: Json = {
          assignment: text(visit.render(assignment), 'assignment'),
          ...attachmentsOf(visit.render(attached)),
          ...omitUndefined({ responseSchema: format }),
        };
        const workflow = text(visit.render(employee), 'employee');
        return startChild(visit, timeoutMs, state, { workflow, input, employee: true });
      },
      resume(visit, event) {
        if (event.on !== 'completed') return endWithChild(visit, event);
        const { data, meta } = event.result;
        return endWithChild(visit, {
          ...event,
          result: { data: shapeAnswer(visit, schema.formatOf(visit, visit.state), data), ...omitUndefined({ meta }) },
        });
      },
    };
  },
};

/** Whether the written value can be attachments: a text is JSON, or a template decides. */
function mayBeAttachments(value: unknown): boolean {
  return typeof value !== 'string' || value === '' || value.includes('{{') || parsedJson(value) !== undefined;
}

function attachmentsOf(value: Json): { attachments_json?: string; attachments?: Json } {
  if (isAbsent(value) || value === '') return {};
  if (typeof value !== 'string') return { attachments_json: JSON.stringify(value), attachments: value };
  const parsed = parsedJson(value);
  if (parsed === undefined) throw invalid('attachments_json', 'JSON text, such as a list of {name, url}', value);
  return { attachments_json: value, attachments: parsed };
}

/** The answer in the declared format. @throws StepFailure `invalid_response`. */
export function shapeAnswer(
  visit: Pick<StepContext, 'isMarked'>,
  format: PayloadFormat | undefined,
  answer: Json,
): Json {
  if (format === undefined) return answer;
  const readings = typeof answer === 'string' ? readingsOf(format, answer) : [answer];
  const [asGiven] = readings;
  assert(asGiven !== undefined, 'Any answer has at least one reading.');
  const fitting = readings.find((reading) => payloadProblems(visit, format, reading).length === 0);
  if (fitting !== undefined) return fitting;
  const problems = payloadProblems(visit, format, asGiven);
  const [first] = problems;
  throw new StepFailure(
    'invalid_response',
    `The employee's answer does not fit responseSchema: ${first?.pointer || '/'}: ` +
      `${first?.message ?? 'it is not as declared.'} ` +
      'Ask for that form in the assignment, or declare what may be left out.',
    {
      details: {
        problems: problems
          .slice(0, MAX_LISTED_PROBLEMS)
          .map(({ pointer, code, message }) => ({ pointer, code, message })),
      },
    },
  );
}

/** The possible values of a text, the most likely first. */
function readingsOf(format: PayloadFormat, answer: string): Json[] {
  const readings = possibleJson(answer);
  readings.push(answer);
  const [only, ...others] = declaredNames(format);
  if (only !== undefined && others.length === 0) readings.push({ [only]: answer });
  return readings;
}
