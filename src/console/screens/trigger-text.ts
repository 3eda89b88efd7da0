/** Texts about triggers. */
import type { WebhookScheme } from '../../contract/triggers/webhook-scheme.ts';
import { shellQuoted } from '../../json/shell.ts';
import type { Trigger } from '../data/types.ts';

/** What a trigger listens to: the path of a webhook, the times of a schedule, the name of an event. */
export function triggerSourceText({ type, config }: Pick<Trigger, 'type' | 'config'>): string {
  const texts = (...names: readonly string[]): string =>
    names
      .map((name) => config[name])
      .filter((value) => typeof value === 'string' || typeof value === 'number')
      .join(' ');
  if (type === 'webhook') return texts('path');
  if (type === 'schedule') return texts('cron', 'interval', 'every', 'at', 'timezone');
  if (type === 'event') return texts('event', 'name', 'eventName');
  return '';
}

/**
 * A request that fires a webhook trigger, for a shell. It reads the secret from `$SECRET`, and signs with openssl.
 * `config`: that of the trigger; the schemes are those of src/gateway/webhook-signatures.
 */
export function curlCommand(url: string, body: string, config: Trigger['config']): string {
  const { setupLines, headers } = signatureOf(config);
  const all = [`-H 'content-type: application/json'`, ...headers.map((header) => `-H "${header}"`)].join(' ');
  return [`BODY=${shellQuoted(body)}`, ...setupLines, `curl -s ${shellQuoted(url)} ${all} -d "$BODY"`].join('\n');
}

interface Signature {
  /** Lines of shell before the request. */
  readonly setupLines: readonly string[];
  /** `name: value`, within double quotes. */
  readonly headers: readonly string[];
}

const NOW_LINE = 'NOW=$(date +%s)';

/** A text of the trigger's config; `otherwise` where there is none. */
type ReadText = (name: string, otherwise: string) => string;

const UNSIGNED: Signature = { setupLines: [], headers: [] };

const SIGNERS: { readonly [scheme in WebhookScheme]: (text: ReadText) => Signature } = {
  github: () => ({ setupLines: [macLine('"$BODY"')], headers: ['X-Hub-Signature-256: sha256=$MAC'] }),
  slack: () => ({
    setupLines: [NOW_LINE, macLine('"v0:$NOW:$BODY"')],
    headers: ['X-Slack-Request-Timestamp: $NOW', 'X-Slack-Signature: v0=$MAC'],
  }),
  stripe: () => ({ setupLines: [NOW_LINE, macLine('"$NOW.$BODY"')], headers: ['Stripe-Signature: t=$NOW,v1=$MAC'] }),
  standard: () => ({
    setupLines: [
      NOW_LINE,
      'ID=msg_$NOW$$',
      STANDARD_KEY_LINE,
      macLine('"$ID.$NOW.$BODY"', 'sha256', 'base64', STANDARD_OPTION),
    ],
    headers: ['webhook-id: $ID', 'webhook-timestamp: $NOW', 'webhook-signature: v1,$MAC'],
  }),
  hmac: (text) => {
    const timestamp = text('timestampHeader', '');
    const signed = timestamp === '' ? '"$BODY"' : '"$NOW.$BODY"';
    const encoding = text('encoding', 'hex') === 'base64' ? 'base64' : 'hex';
    return {
      setupLines: [...(timestamp === '' ? [] : [NOW_LINE]), macLine(signed, text('algorithm', 'sha256'), encoding)],
      headers: [
        ...(timestamp === '' ? [] : [`${timestamp}: $NOW`]),
        `${text('header', 'X-Signature')}: ${text('prefix', '')}$MAC`,
      ],
    };
  },
  api_key: (text) => ({ setupLines: [], headers: [`${text('header', 'X-API-Key')}: $SECRET`] }),
  none: () => UNSIGNED,
};

function signatureOf(config: Trigger['config']): Signature {
  const text: ReadText = (name, otherwise) => {
    const value = config[name];
    return typeof value === 'string' && value !== '' ? value : otherwise;
  };
  const signer = Object.entries(SIGNERS).find(([scheme]) => scheme === text('scheme', 'none'))?.[1];
  return signer?.(text) ?? UNSIGNED;
}

/** A secret `whsec_…` is base64; any other is the key as it stands. */
const STANDARD_KEY_LINE =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell expands it.
  'case "$SECRET" in whsec_*) KEY=$(printf %s "${SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d " \\n");; ' +
  '*) KEY=$(printf %s "$SECRET" | od -An -v -tx1 | tr -d " \\n");; esac';
const STANDARD_OPTION = '-mac HMAC -macopt "hexkey:$KEY"';

/** A line that sets `$MAC`. `signed`: a word of the shell. */
function macLine(signed: string, algorithm = 'sha256', encoding = 'hex', key = '-hmac "$SECRET"'): string {
  const digest = `printf %s ${signed} | openssl dgst -${algorithm} ${key} -binary`;
  const written = encoding === 'hex' ? 'od -An -v -tx1 | tr -d " \\n"' : 'base64 | tr -d "\\n"';
  return `MAC=$(${digest} | ${written})`;
}

/** A time in a zone: `Mon 23 Nov, 09:00`. Undefined for a zone that the browser does not know. */
export function timeInZone(at: string, timeZone: string | undefined): string | undefined {
  try {
    return new Date(at).toLocaleString('en-GB', {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      ...(timeZone === undefined ? {} : { timeZone }),
    });
  } catch {
    return undefined;
  }
}
