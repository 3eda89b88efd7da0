// Payloads as GitHub really sends them.

import examples from '@octokit/webhooks-examples/api.github.com/index.json' with { type: 'json' };
import type { Json } from '../../src/json/json.ts';

export const githubExamples = examples as unknown as readonly { name: string; examples: { [key: string]: Json }[] }[];
