/** Options in configs that a kind of step and its activity must read alike. */
export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
/** The encoding of a request's body. */
export const BODY_ENCODINGS = ['json', 'form', 'text', 'base64'] as const;
/** The format in which an answer is read. */
export const RESPONSE_FORMATS = ['json', 'text', 'base64'] as const;

export const CODE_LANGUAGES = ['javascript', 'typescript', 'python'] as const;

export const MESSAGE_CHANNELS = ['webhook', 'slack', 'email', 'inbox'] as const;
export type MessageChannel = (typeof MESSAGE_CHANNELS)[number];
/** The members that each channel of send_message takes. */
export const MESSAGE_MEMBERS: { readonly [channel in MessageChannel]: readonly string[] } = {
  webhook: ['channel', 'to', 'text', 'subject', 'data', 'headers', 'secret'],
  slack: ['channel', 'to', 'text', 'subject', 'blocks'],
  email: ['channel', 'to', 'text', 'subject', 'html', 'from', 'cc', 'bcc', 'replyTo', 'smtp'],
  inbox: ['channel', 'to', 'text', 'subject', 'data'],
};
/**
 * The members of a message that may hold secrets: its credentials (LANGUAGE.md §3). Recipients of an e-mail or an inbox
 * message are shown.
 */
export const MESSAGE_CREDENTIALS: { readonly [channel in MessageChannel]: readonly string[] } = {
  webhook: ['to', 'headers', 'secret'],
  slack: ['to'],
  email: ['smtp'],
  inbox: [],
};
/** Members that may also contain callback URLs: the receiver reads them. */
export const MESSAGE_CONTENT_MEMBERS: readonly string[] = ['text', 'subject', 'data', 'blocks', 'html'];
export const SMTP_ENCRYPTIONS = ['implicit', 'starttls', 'optional', 'none'] as const;
