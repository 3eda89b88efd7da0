/**
 * Webhook triggers of a definition (language.md §10) as what their paths answer with. Clear secrets have been taken out
 * of the definition before: `secret` is `{secretRef: name}`, `secrets` a list of two such while rotating.
 */
import type { HookConfig } from '../definition/actors.ts';
import { isObject } from '../definition/json.ts';
import { below } from '../definition/pointer.ts';
import type { Definition, JsonObject, Problem, TriggerDefinition } from '../definition/types.ts';
import type { Json } from '../template/types.ts';
import type { HookWanted } from './hooks.ts';

export const SCHEMES = ['github', 'stripe', 'slack', 'standard', 'hmac', 'api_key', 'none'] as const;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const PATH = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$/;
/** The whole config stands in a memo, which is meant to be small. */
const LARGEST_CONFIG_BYTES = 16_000;

/** Members of a webhook's config; the last five only mean something to `hmac` and `api_key`. */
const MEMBERS = [
  'path',
  'method',
  'scheme',
  'secret',
  'secrets',
  'headers',
  'respond',
  'header',
  'algorithm',
  'encoding',
  'prefix',
  'timestampHeader',
];
const OPTIONS = ['header', 'algorithm', 'encoding', 'prefix', 'timestampHeader'];

/** The webhook triggers as their paths need them. Call hookProblems first. */
export function hooksOf(definition: Pick<Definition, 'triggers'>): HookWanted[] {
  return webhooks(definition).map(({ trigger }) => {
    const config = trigger.config ?? {};
    return { path: String(config['path']), trigger: trigger.name, config: hookConfig(trigger, config) };
  });
}

/** What is wrong with the webhook triggers, each with its pointer. */
export function hookProblems(definition: Pick<Definition, 'triggers'>): Problem[] {
  const problems: Problem[] = [];
  const paths = new Set<string>();
  for (const { trigger, at } of webhooks(definition)) {
    const config = trigger.config ?? {};
    const add = (member: string, message: string, hint?: string) =>
      problems.push({
        pointer: below(`${at}/config`, member),
        code: 'invalid_webhook',
        message,
        ...(hint === undefined ? {} : { hint }),
      });
    const path = config['path'];
    if (typeof path !== 'string' || !PATH.test(path)) {
      add('path', 'Expected a path of letters, digits, `-`, `_`, `.` and `~`, at most 100, such as "refunds".');
    } else if (paths.has(path)) add('path', `Another trigger of this workflow has the path ${path} already.`);
    else paths.add(path);
    for (const member of Object.keys(config)) {
      if (!MEMBERS.includes(member)) add(member, `A webhook has no member ${member}.`, `Known: ${MEMBERS.join(', ')}.`);
    }
    oneOf(config, 'method', METHODS, add);
    oneOf(config, 'scheme', SCHEMES, add);
    oneOf(config, 'respond', ['accepted', 'result'], add);
    oneOf(config, 'encoding', ['hex', 'base64'], add);
    oneOf(config, 'algorithm', ['sha1', 'sha256', 'sha512'], add);
    const headers = config['headers'];
    if (
      headers !== undefined &&
      !(isObject(headers) && Object.values(headers).every((value) => typeof value === 'string'))
    ) {
      add('headers', 'Expected a map of header names to the values that they must have; `*` stands for any.');
    }
    const secrets = secretNames(config);
    if (schemeOf(config) !== 'none' && secrets.length === 0) {
      add(
        'secret',
        `The scheme ${schemeOf(config)} needs a secret, and the config names none.`,
        'Give `secret`, or `scheme: none` if anybody may call the path.',
      );
    }
    if (secrets.length > 2) add('secrets', 'Expected one secret, or two while rotating.');
    if (Buffer.byteLength(JSON.stringify([config, trigger.variableMapping ?? null])) > LARGEST_CONFIG_BYTES) {
      add('', `Config and mapping of a webhook may take ${LARGEST_CONFIG_BYTES} bytes.`);
    }
  }
  return problems;
}

type Adder = (member: string, message: string) => void;

function oneOf(config: JsonObject, member: string, values: readonly string[], add: Adder): void {
  const value = config[member];
  const plain = typeof value === 'string' && member === 'method' ? value.toUpperCase() : value;
  if (value !== undefined && !(typeof plain === 'string' && values.includes(plain))) {
    add(member, `Expected one of ${values.join(', ')}.`);
  }
}

function webhooks(definition: Pick<Definition, 'triggers'>): { trigger: TriggerDefinition; at: string }[] {
  return (definition.triggers ?? [])
    .map((trigger, index) => ({ trigger, at: `/triggers/${index}` }))
    .filter(({ trigger }) => trigger.type === 'webhook');
}

/** Without a scheme, a secret means a generic HMAC, and none means that anybody may call. */
function schemeOf(config: JsonObject): string {
  const scheme = config['scheme'];
  if (typeof scheme === 'string') return scheme;
  return config['secret'] === undefined && config['secrets'] === undefined ? 'none' : 'hmac';
}

function hookConfig(trigger: TriggerDefinition, config: JsonObject): HookConfig {
  const method = config['method'];
  const headers = config['headers'];
  return {
    enabled: trigger.enabled ?? true,
    method: typeof method === 'string' ? method.toUpperCase() : 'POST',
    scheme: schemeOf(config),
    secrets: secretNames(config),
    headers: isObject(headers) ? (headers as Record<string, string>) : {},
    respond: config['respond'] === 'result' ? 'result' : 'accepted',
    options: Object.fromEntries(
      OPTIONS.flatMap((name) => (config[name] === undefined ? [] : [[name, config[name] as Json]])),
    ),
    ...(trigger.variableMapping === undefined ? {} : { mapping: trigger.variableMapping }),
  };
}

function secretNames(config: JsonObject): string[] {
  const secrets = config['secrets'];
  const written = [config['secret'], ...(Array.isArray(secrets) ? secrets : [])];
  return written.flatMap((entry) =>
    isObject(entry) && typeof entry['secretRef'] === 'string' ? [entry['secretRef']] : [],
  );
}
