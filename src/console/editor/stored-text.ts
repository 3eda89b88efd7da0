/** The stored text of a workflow with its ETag, which a change must send; an example for a new workflow. */
import { apiPath, get, request } from '../data/api.ts';
import { ApiProblem } from '../data/problem.ts';
import type { ReadWorkflow, WorkflowText } from '../data/types.ts';

export interface StoredText {
  readonly text: string;
  readonly media: 'yaml' | 'json';
  /** The header ETag. '' if nothing is stored yet. */
  readonly etag: string;
  readonly name: string;
  /** Of the stored version; undefined where there is none. */
  readonly version?: string;
  readonly hash?: string;
}

/** The stored text, or an example where the slug has none. @throws ApiProblem. */
export async function readStoredText(slug: string, signal?: AbortSignal): Promise<StoredText> {
  const options = signal === undefined ? {} : { signal };
  try {
    const { body, headers } = await request<ReadWorkflow>('GET', apiPath`/api/workflows/${slug}`, options);
    const { hash, textHash, name, version } = body;
    // The text of that version, and not of one that somebody stores meanwhile.
    const query = { hash, text: textHash };
    const { text, media } = await get<WorkflowText>(apiPath`/api/workflows/${slug}/text`, { ...options, query });
    return { text, media, etag: headers.get('etag') ?? '', name, version, hash };
  } catch (thrown) {
    if (!(thrown instanceof ApiProblem) || thrown.code !== 'not_found') throw thrown;
    return { text: exampleOf(slug), media: 'yaml', etag: '', name: slug };
  }
}

const exampleOf = (slug: string): string => `# A new workflow. Ctrl+Space shows what can be written at a place.
name: ${JSON.stringify(slug)}
slug: ${JSON.stringify(slug)}

input:
  name: {type: string, default: Ann}

steps:
  received:
    stepType: trigger
    nextSteps: {success: greet}

  greet:
    stepType: mapping
    config:
      output: {text: 'Hello, {{ input.name }}.'}
    nextSteps: {success: done}

  done:
    stepType: finish
    config:
      output: '{{ steps.greet.output.data }}'
`;
