/** The codec, for the OpenAPI document. */
import { codecBody } from '../http/codec.ts';
import type { Operation } from './openapi-operation.ts';

export const accessOperations: readonly Operation[] = [
  ...(['encode', 'decode'] as const).map(
    (way): Operation => ({
      method: 'POST',
      path: `/codec/${way}`,
      id: `${way}Payloads`,
      tag: 'access',
      summary:
        way === 'encode'
          ? "Encodes payloads of Temporal's as this store does."
          : 'Decodes payloads that this store has encoded.',
      description: "For Temporal's Web UI and CLI (`--codec-endpoint`), and for admins of `default`.",
      body: { schema: codecBody },
      answers: { 200: { text: 'The payloads, in order.', schema: codecBody } },
      problems: ['not_found', 'codec_failed'],
    }),
  ),
];
