/** Problem details (RFC 9457). */
import { z } from 'zod';
import { named, text } from './named.ts';

export const problemItem = named(
  'ProblemItem',
  z.object({
    pointer: text.describe('A JSON pointer to the place.'),
    code: text,
    message: text,
    hint: text.optional(),
    line: z.int().optional().describe('For text that cannot be parsed: the line, from 1.'),
    column: z.int().optional(),
  }),
);

export const problem = named(
  'Problem',
  z
    .looseObject({
      type: text,
      title: text,
      status: z.int(),
      detail: text.describe('A sentence that says what to do.'),
      code: text.describe('Stable; /docs/problems lists all.'),
      problems: z.array(problemItem).optional(),
    })
    .describe('RFC 9457. Some codes come with more members, such as `paths` or `column`.'),
);
