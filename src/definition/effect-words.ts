/** Words of configs that a kind of step and its activity have to read alike. */
export const HTTP_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
/** How a request's body is written. */
export const BODY_FORMS = ['json', 'form', 'text', 'base64'] as const;
/** How an answer is read. */
export const RESPONSE_FORMS = ['json', 'text', 'base64'] as const;

export const CODE_LANGUAGES = ['javascript', 'typescript', 'python'] as const;

export const MESSAGE_CHANNELS = ['webhook', 'slack', 'email', 'inbox'] as const;
export const SMTP_ENCRYPTIONS = ['implicit', 'starttls', 'optional', 'none'] as const;
