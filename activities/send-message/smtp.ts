/** Selects the SMTP server of an e-mail: the step's, or the host's. */
import type { Config } from '../../src/config/config.ts';
import { SMTP_ENCRYPTIONS } from '../../src/contract/run/activity-options.ts';
import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { parseUrl } from '../http/request.ts';
import { ActivityError, invalidConfig } from '../runtime/failure.ts';
import { optionalText, requireText } from './channel.ts';

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly encryption: Encryption;
  readonly auth: { readonly user: string; readonly pass: string } | undefined;
  /** The host's relay may be in a private network; a server in a definition follows the egress policy. */
  readonly isHosts: boolean;
}

type Encryption = (typeof SMTP_ENCRYPTIONS)[number];
const IMPLICIT_PORT = 465;
const SUBMISSION_PORT = 587;

export type MailSettings = Pick<Config, 'mail'>;

/** @throws ActivityError `invalid_config`, `smtp_missing`. */
export function smtpServer(smtp: Json | undefined, { mail }: MailSettings): SmtpServer {
  if (smtp !== undefined && smtp !== null) {
    if (!isObject(smtp)) throw invalidConfig('smtp', 'an object such as {host, port, username, password}');
    return { ...serverOf(smtp), isHosts: false };
  }
  const url = mail.smtpUrl === undefined ? undefined : parseUrl(mail.smtpUrl);
  if (url === undefined)
    throw new ActivityError(
      'smtp_missing',
      "No SMTP server is configured. Set one in the step's 'smtp', or have the host set SIGNALBOX_SMTP_URL.",
    );
  const port = url.port === '' ? null : Number(url.port);
  return {
    ...serverOf({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port,
      encryption: url.searchParams.get('encryption') ?? (url.protocol === 'smtps:' ? 'implicit' : null),
      username: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    }),
    isHosts: true,
  };
}

/** `host:port` of the server that receives the secrets of a config; undefined if it is not known without them. */
export function smtpHostOf(config: JsonObject, settings: MailSettings): string | undefined {
  try {
    const { host, port } = smtpServer(config['smtp'], settings);
    return `${host}:${port}`;
  } catch {
    return undefined;
  }
}

function serverOf(smtp: JsonObject): Omit<SmtpServer, 'isHosts'> {
  const user = optionalText(smtp['username'], 'smtp.username');
  const pass = optionalText(smtp['password'], 'smtp.password');
  if ((user === undefined) !== (pass === undefined))
    throw invalidConfig('smtp', 'given both username and password, or neither');
  const auth = user === undefined || pass === undefined ? undefined : { user, pass };
  const encryption = encryptionOf(smtp['encryption']);
  const port = portOf(smtp['port']) ?? (encryption === 'implicit' ? IMPLICIT_PORT : SUBMISSION_PORT);
  const usual: Encryption = port === IMPLICIT_PORT ? 'implicit' : auth === undefined ? 'optional' : 'starttls';
  return { host: requireText(smtp['host'], 'smtp.host'), port, encryption: encryption ?? usual, auth };
}

function encryptionOf(value: Json | undefined): Encryption | undefined {
  const written = optionalText(value, 'smtp.encryption');
  const found = SMTP_ENCRYPTIONS.find((one) => one === written);
  if (found === undefined && written !== undefined)
    throw invalidConfig('smtp.encryption', `one of ${SMTP_ENCRYPTIONS.join(', ')}`);
  return found;
}

function portOf(value: Json | undefined): number | undefined {
  const written = optionalText(value, 'smtp.port');
  if (written === undefined) return undefined;
  const port = Number(written);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalidConfig('smtp.port', 'a port number');
  return port;
}
