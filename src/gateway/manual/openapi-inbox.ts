/** The operations on the inbox, for the OpenAPI document. */
import { z } from 'zod';
import { inboxQuery, messageId } from '../routes/organization/inbox.ts';
import { LIST_PROBLEMS, type Operation, WRITE_PROBLEMS } from './openapi-operation.ts';

const text = z.string();
const message = z.object({
  id: text,
  to: z.array(text).describe('Whom it is for; empty: everybody.'),
  subject: text.optional(),
  text: text
    .optional()
    .describe("URLs of callbacks stand in it for runners and above; others see `{{ callback('slug') }}`."),
  data: z.unknown().optional(),
  executionId: text.describe('The run that sent it.'),
  stepSlug: text,
  receivedAt: z.iso.datetime().describe('ISO 8601.'),
});
const messagePage = z.object({
  items: z.array(message),
  nextCursor: text.optional().describe('Give it as `cursor` for the next page.'),
});

export const inboxOperations: readonly Operation[] = [
  {
    method: 'GET',
    path: '/api/inbox',
    id: 'listInbox',
    tag: 'inbox',
    summary: 'Lists messages that runs sent to you, the newest first.',
    description:
      'What is for nobody in particular is for everybody; an admin sees all. The latest 1,000 messages are kept, and at most 1 MB of them.',
    query: inboxQuery,
    answers: { 200: { text: 'A page of messages.', schema: messagePage } },
    problems: LIST_PROBLEMS,
  },
  {
    method: 'DELETE',
    path: '/api/inbox/:id',
    id: 'deleteInboxMessage',
    tag: 'inbox',
    summary: 'Deletes a message, for everybody whom it is for.',
    parameters: { id: messageId },
    answers: { 204: { text: 'Deleted.' } },
    problems: [...WRITE_PROBLEMS, 'not_found'],
  },
];
