import { isoInstant, planDuration, planInstant } from '../config/duration.ts';
import { configSchema, duration, instant } from '../config/schema.ts';
import { ConfigError, type Outcome, type StepKind } from '../kind.ts';

export const sleep: StepKind<{ readonly until: number }> = {
  type: 'sleep',
  class: 'wait',
  summary: 'Waits for a duration, or until a time.',
  description: `Takes either \`duration\` or \`until\`. The timer is durable: it survives restarts and never fires
early. A time in the past does not wait. \`skipTimer\` ends the wait immediately.`,
  example: { stepType: 'sleep', config: { duration: '2h' }, nextSteps: { success: 'remind' } },
  output: '`{until}`: the time waited for, ISO 8601.',
  dataMembers: ['until'],
  schema: () =>
    configSchema({
      duration: duration().optional().describe("How long: milliseconds, '2d', or ISO 8601 ('PT5M')."),
      until: instant().optional().describe("Until when: '2026-01-31T09:00:00Z', or milliseconds since 1970."),
    }),
  ports: () => ({ normal: 'success', names: ['success'] }),
  plan(config, parse) {
    const { duration: durationConfig, until } = config;
    if ((durationConfig === undefined) === (until === undefined))
      throw new ConfigError('', "Expected one of 'duration' and 'until'.");
    const waitMs = durationConfig === undefined ? undefined : planDuration(durationConfig, '/duration', parse);
    const instantOf = until === undefined ? undefined : planInstant(until, '/until', parse);
    return {
      begin(visit) {
        const at = waitMs === undefined ? instantOf!(visit) : visit.now + waitMs(visit);
        if (at <= visit.now) return endSleep(at);
        return { do: 'suspend', state: { until: at }, waiting: { kind: 'timer', until: at }, timers: [{ at }] };
      },
      resume: (visit, event) => (event.on === 'fired' ? endSleep(visit.state.until) : { do: 'ignore' }),
    };
  },
};

function endSleep(at: number): Outcome<never> {
  return { do: 'end', port: 'success', data: { until: isoInstant(at) } };
}
