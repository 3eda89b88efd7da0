/** The activity `llm` against a model server, with the organization's model and its key as a worker reads them. */

import type { ApplicationFailure } from '@temporalio/common';
import type { MockActivityEnvironment } from '@temporalio/testing';
import { expect } from 'vitest';
import { createActivities } from '../../activities/registry.ts';
import type { ModelEntry, ModelProvider } from '../../src/contract/organization/models.ts';
import type { ActivityOutput } from '../../src/contract/run/activity.ts';
import type { JsonObject } from '../../src/json/json.ts';
import { environment, inputOf, LOOPBACK } from './server.ts';

export const KEY = 'sk-canary-0123456789';
export const PROVIDERS: readonly ModelProvider[] = ['openai', 'openai-compatible', 'anthropic', 'google'];

export interface Asking {
  readonly entry?: Partial<ModelEntry>;
  readonly within?: MockActivityEnvironment;
  readonly settings?: typeof LOOPBACK;
}

export function askModel(
  { url }: { readonly url: string },
  config: JsonObject = {},
  { entry = {}, within = environment(), settings = LOOPBACK }: Asking = {},
): Promise<ActivityOutput> {
  const activities = createActivities(settings, {
    models: {
      resolve: async (organizationId, name) => {
        expect(organizationId).toBe('default');
        if (name === 'unknown')
          throw Object.assign(new Error("There is no model 'unknown'."), { code: 'model_not_found' });
        return {
          name: name ?? 'house',
          provider: 'openai-compatible',
          model: 'm-1',
          baseUrl: `${url}/v1`,
          apiKeySecret: 'models/key',
          updatedAt: '',
          ...entry,
        };
      },
    },
    secrets: {
      read: async (_org, name, { host }) => {
        expect({ name, host }).toEqual({ name: 'models/key', host: new URL(url).host });
        return KEY;
      },
    },
  });
  const prompt = { messages: [{ role: 'user', content: 'Sort {{ secrets.KEY }}' }] };
  return within.run(activities['llm']!, inputOf({ ...prompt, ...config }));
}

export function modelFailure(...asking: Parameters<typeof askModel>): Promise<ApplicationFailure> {
  return askModel(...asking).then(
    (result) => Promise.reject(new Error(`It did not fail: ${JSON.stringify(result)}`)),
    (error) => error,
  );
}
