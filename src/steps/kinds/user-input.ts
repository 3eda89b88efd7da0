import type { Json } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import { planTimeout } from '../config/duration.ts';
import { payloadMismatch, planFormat, type StoredFormat, shownForm } from '../config/payload.ts';
import { optionalText } from '../config/read.ts';
import { anyValue, configSchema, duration, nameList, payloadFormat, textTemplate } from '../config/schema.ts';
import type { DecisionEvent, KindRefusal, OpenStepContext, StepKind, SubmissionEvent } from '../kind.ts';
import { matchingAudience, personOf } from './approval/approval-persons.ts';
import { audienceOf } from './approval/approval-votes.ts';

type UserInputState = StoredFormat<'form'> & {
  /** Absent where the config names no persons. */
  readonly audience?: string[];
  readonly default?: Json;
};

export const userInput: StepKind<UserInputState> = {
  type: 'user_input',
  class: 'wait',
  summary: 'Asks a person for data, and waits for it.',
  description: `The run waits until somebody submits data, through the API or the signal \`submit\`. With \`form\`, a
payload format, data that does not fit is refused, and the step keeps waiting.

After \`timeout\` the step ends by \`timeout\`, with \`default\` as its data. If that port is not wired, it ends by
\`submitted\` with \`default\`. Without a \`default\` it fails with \`input_timeout\`.`,
  example: {
    stepType: 'user_input',
    config: { message: 'Where shall it go?', form: { street: 'string', city: 'string' }, timeout: '3d' },
    nextSteps: { submitted: 'ship', timeout: 'remind' },
  },
  output: 'What was submitted. `meta` is `{submittedBy, via}`; via is timeout where the default was taken.',
  schema: () =>
    configSchema({
      message: textTemplate().optional().describe('The question.'),
      form: payloadFormat().optional().describe('The format of the data: a payload format.'),
      assignees: nameList()
        .optional()
        .describe("Who may answer ('ann', 'role:support'). Without API keys, anyone may."),
      timeout: duration().optional().describe('How long to wait. Default: as long as the run may take.'),
      default: anyValue().optional().describe('The data when nobody answers in time.'),
    }),
  ports: ({ config }) => ({
    normal: 'submitted',
    names: ['submitted', 'timeout'],
    unwired: {
      timeout:
        config?.['default'] !== undefined
          ? { leaves: 'submitted' }
          : {
              fails: 'input_timeout',
              message: (slug) =>
                `Nobody answered the step '${slug}' in time; wire its port 'timeout', or give a default.`,
            },
    },
  }),
  plan(config, parse) {
    const message = parse.template(config['message'], '/message');
    const assignees = parse.template(config['assignees'], '/assignees');
    const form = planFormat(config['form'], 'form', parse);
    const otherwise = config['default'] === undefined ? undefined : parse.template(config['default'], '/default');
    const timeoutOf = planTimeout(config, parse);

    function refuse(
      visit: OpenStepContext<UserInputState>,
      event: DecisionEvent | SubmissionEvent,
    ): KindRefusal | undefined {
      if (event.on !== 'submit')
        return {
          code: 'not_waiting',
          message: `The step '${visit.slug}' waits for data, not for a decision: submit it.`,
        };
      const person = personOf(event);
      const { audience = [] } = visit.state;
      if (person !== undefined && audience.length > 0 && matchingAudience(audience, person).length === 0)
        return {
          code: 'not_an_assignee',
          message: `The step '${visit.slug}' asks ${audience.join(', ')}, and ${person.by} is none of them.`,
        };
      const problem = payloadMismatch(visit, form.formatOf(visit, visit.state), event.data);
      return problem === undefined
        ? undefined
        : {
            code: 'invalid_submission',
            message: `The data does not fit the form of the step '${visit.slug}': ${problem}`,
          };
    }

    return {
      begin(visit) {
        const until = timeoutOf(visit);
        const audience = audienceOf(visit.render(assignees), 'assignees');
        const state: UserInputState = {
          ...(audience.length === 0 ? {} : { audience }),
          ...form.stored(visit),
          ...(otherwise === undefined ? {} : { default: visit.render(otherwise) }),
        };
        const renderedMessage = optionalText(visit.render(message), 'message');
        return {
          do: 'suspend',
          state,
          waiting: {
            kind: 'input',
            audience,
            ...shownForm(form.formatOf(visit, state)),
            ...omitUndefined({ message: renderedMessage, until }),
          },
          timers: until === undefined ? [] : [{ at: until }],
        };
      },
      resume(visit, event) {
        const { default: data = null } = visit.state;
        if (event.on === 'fired')
          return { do: 'end', port: 'timeout', data, meta: { submittedBy: null, via: 'timeout' } };
        if (event.on !== 'submit') return { do: 'ignore' };
        return {
          do: 'end',
          port: 'submitted',
          data: event.data,
          meta: { submittedBy: event.by ?? null, via: event.via },
        };
      },
      refuse,
    };
  },
};
