/**
 * The signature schemes that a webhook may name (LANGUAGE.md §10). Each is a file of src/gateway/webhook-signatures;
 * `none` accepts any caller.
 */
export const WEBHOOK_SCHEMES = ['github', 'stripe', 'slack', 'standard', 'hmac', 'api_key', 'none'] as const;

export type WebhookScheme = (typeof WEBHOOK_SCHEMES)[number];
