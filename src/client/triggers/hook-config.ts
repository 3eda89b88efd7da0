/**
 * The webhook triggers of a definition (LANGUAGE.md §10), in the form that their paths need. The clear secrets of the
 * definition are references by now: `secret` is `{secretRef: name}`, and `secrets` is a list of two references during a
 * rotation.
 */

import type { HookConfig } from '../../contract/actors.ts';
import type { Definition, Problem, TriggerDefinition } from '../../definition/document/types.ts';
import { exactJsonBytes } from '../../json/bytes.ts';
import { isObject, type Json, type JsonObject } from '../../json/json.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';
import type { ConfiguredHook } from './hooks.ts';

/** Limit of the config, which is part of a memo. */
const MAX_CONFIG_BYTES = 16_000;

/** Members of a webhook's config that apply to schemes only. */
const SCHEME_OPTIONS = ['header', 'algorithm', 'encoding', 'prefix', 'timestampHeader', 'replayWindow'];

/** The webhook triggers as their paths need them. Call hookProblems first. */
export function hooksOf(definition: Pick<Definition, 'triggers'>): ConfiguredHook[] {
  return webhooks(definition).map(({ trigger }) => {
    const config = trigger.config ?? {};
    return { path: String(config['path']), trigger: trigger.name, config: hookConfig(trigger, config) };
  });
}

/**
 * Problems of webhook triggers that only the client knows: paths and their configs. Pointers are into the definition.
 */
export function hookProblems(definition: Pick<Definition, 'triggers'>): Problem[] {
  const problems: Problem[] = [];
  const paths = new Set<string>();
  for (const { trigger, at } of webhooks(definition)) {
    const config = trigger.config ?? {};
    const add = (member: string, message: string, hint: string) =>
      problems.push({ pointer: `${at}/config${member}`, code: 'invalid_webhook', message, hint });
    const path = String(config['path']);
    if (paths.has(path))
      add('/path', `Another trigger of this workflow has the path ${path} already.`, 'Give each a path of its own.');
    if (path.split('/').some((part) => /^\.+$/.test(part)))
      add('/path', 'A path cannot have parts of dots only: no client would send them.', 'Leave them out.');
    paths.add(path);
    const scheme = schemeOf(config);
    if (scheme !== 'none' && secretNames(config).length === 0) {
      add(
        '/secret',
        `The scheme ${scheme} needs a secret, and the config has none.`,
        'Give `secret`, or `scheme: none` if anybody may call the path.',
      );
    }
    const bytes = exactJsonBytes([config, trigger.variableMapping ?? null]);
    if (bytes > MAX_CONFIG_BYTES) {
      add(
        '',
        `Config and mapping of this webhook take ${bytes} bytes; the limit is ${MAX_CONFIG_BYTES}.`,
        'Do what the mapping does in a step of kind mapping.',
      );
    }
  }
  return problems;
}

function webhooks(definition: Pick<Definition, 'triggers'>): { trigger: TriggerDefinition; at: string }[] {
  return (definition.triggers ?? [])
    .map((trigger, index) => ({ trigger, at: `/triggers/${index}` }))
    .filter(({ trigger }) => trigger.type === 'webhook');
}

/** Without a scheme, a secret means a generic HMAC, and no secret means that anybody may call. */
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
      SCHEME_OPTIONS.flatMap((name) => (config[name] === undefined ? [] : [[name, config[name] as Json]])),
    ),
    ...omitUndefined({ mapping: trigger.variableMapping, targetState: trigger.targetState }),
  };
}

export function secretNames(config: JsonObject): string[] {
  const secrets = config['secrets'];
  const written = [config['secret'], ...(Array.isArray(secrets) ? secrets : [])];
  return written.flatMap((entry) =>
    isObject(entry) && typeof entry['secretRef'] === 'string' ? [entry['secretRef']] : [],
  );
}
