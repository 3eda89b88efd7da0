/**
 * Sends an e-mail over SMTP. The delivery id determines its Message-ID, so that receivers can recognize a repetition.
 */

import { createTransport } from 'nodemailer';
import addressparser from 'nodemailer/lib/addressparser';
import type { Json } from '../../src/json/json.ts';
import { omitUndefined } from '../../src/json/omit-undefined.ts';
import { certificateError, type EgressPolicy, guardedSocket } from '../http/guarded-agent.ts';
import { ActivityError, invalidConfig, transientError } from '../runtime/failure.ts';
import { type Channel, type Delivery, optionalText, requireText, textList } from './channel.ts';
import { type MailSettings, type SmtpServer, smtpServer } from './smtp.ts';

const MAX_RECIPIENTS = 100;
const TIMEOUT_MS = 30_000;
const MAX_RESPONSE_CHARACTERS = 500;

export function emailChannel(policy: EgressPolicy, settings: MailSettings): Channel {
  return async (delivery) => {
    const { message, context } = delivery;
    const server = smtpServer(message['smtp'], settings);
    const mail = mailOf(delivery, settings, server.isHosts);
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const transport = createTransport({
      ...transportOf(server),
      ...(server.isHosts ? {} : guardedTransport(server, policy)),
    });
    try {
      const signal = AbortSignal.any([context.signal, timeout]);
      const { accepted, rejected, response, messageId } = await transport.sendMail({ ...mail, signal });
      return {
        messageId,
        accepted: addressesOf(accepted),
        rejected: addressesOf(rejected),
        response: shownResponse(response, delivery),
      };
    } catch (error) {
      throw error instanceof ActivityError
        ? error
        : (certificateError(error) ?? failureOf(error, delivery, timeout.aborted));
    } finally {
      transport.close();
    }
  };
}

function transportOf({ host, port, encryption, auth }: SmtpServer) {
  return {
    host,
    port,
    secure: encryption === 'implicit',
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    // If the server offers no login, the message fails and is not sent unauthenticated.
    ...(auth === undefined ? {} : { auth, forceAuth: true }),
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // No member of a message may make this host read a file or fetch a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** Opens the socket with the address check; TLS still verifies the server's name. */
function guardedTransport({ host, port }: SmtpServer, policy: EgressPolicy) {
  return {
    getSocket(_options: unknown, callback: (error: Error | null, socket?: { connection: unknown }) => void): void {
      guardedSocket(policy, host, port).then(
        (connection) => callback(null, { connection }),
        (error: Error) => callback(error),
      );
    },
  };
}

/** Checks the sender, since the host's server vouches for it. @throws ActivityError `sender_not_allowed` */
function demandSender(sender: readonly Address[], { from = '', fromAllow = [] }: MailSettings['mail']): void {
  const own = addressparser(from, { flatten: true }).map(({ address = '' }) => address.toLowerCase());
  const allowed = new Set([...own, ...fromAllow]);
  const isAllowed = ({ address }: Address): boolean => {
    const name = address.toLowerCase();
    return ['*', name, `*${name.slice(name.lastIndexOf('@'))}`].some((pattern) => allowed.has(pattern));
  };
  if (sender.every(isAllowed)) return;
  throw new ActivityError(
    'sender_not_allowed',
    `config.from is not allowed as the sender over the host's SMTP server${
      own.length === 0 ? '' : `, whose sender is ${own.join(', ')}`
    }. Remove it, set a server of your own in config.smtp, or have the host add it to SIGNALBOX_MAIL_FROM_ALLOW.`,
  );
}

function mailOf({ id, message }: Delivery, { mail }: MailSettings, isHosts: boolean) {
  const from = optionalText(message['from'], 'from') ?? mail.from;
  if (from === undefined)
    throw invalidConfig('from', 'the address of the sender, since the host sets no SIGNALBOX_MAIL_FROM');
  const sender = addresses(from, 'from');
  if (isHosts) demandSender(sender, mail);
  const to = addresses(message['to'], 'to');
  const cc = addresses(message['cc'], 'cc');
  const bcc = addresses(message['bcc'], 'bcc');
  const recipients = to.length + cc.length + bcc.length;
  if (recipients === 0) throw invalidConfig('to', ADDRESSES);
  if (recipients > MAX_RECIPIENTS)
    throw invalidConfig('to', `at most ${MAX_RECIPIENTS} addresses, cc and bcc included`);
  const text = optionalText(message['text'], 'text');
  const html = optionalText(message['html'], 'html');
  return {
    messageId: `<${id}@${sender[0]?.address.split('@').at(-1)}>`,
    headers: { 'X-Signalbox-Delivery': id },
    from: sender,
    to,
    cc,
    bcc,
    replyTo: addresses(message['replyTo'], 'replyTo'),
    subject: requireText(message['subject'], 'subject'),
    ...omitUndefined({ text, html }),
  };
}

interface Address {
  readonly name: string;
  readonly address: string;
}

/** Parses `ann@example.com`, `Ann <ann@example.com>`, several separated by commas, or a list of these. */
function addresses(value: Json | undefined, member: string): Address[] {
  return textList(value, member).flatMap((one) => {
    if (member !== 'from' && !isReadable(one)) throw invalidConfig(member, ADDRESSES);
    return addressparser(one, { flatten: true }).map(({ name = '', address = '' }) => {
      if (!/^[^@\s]+@[^@\s]+$/.test(address)) throw invalidConfig(member, ADDRESSES);
      return { name, address };
    });
  });
}

const ADDRESSES = 'an e-mail address, or several separated by commas, or a list of these';
const CONTROL_CHARACTERS = /\p{Cc}/u;

/**
 * Whether the parser can take each address for what it is. Of `a@example.com b@example.com` it makes one recipient
 * with the other one as its name, and of a text in several lines it takes the last address only.
 */
function isReadable(text: string): boolean {
  if (CONTROL_CHARACTERS.test(text)) return false;
  const withoutNames = text.replace(/"(?:[^"\\]|\\.)*"/g, ' ');
  return withoutNames.split(/[,;]/).every((one) => {
    const bracketed = [...one.matchAll(/<([^<>]*)>/g)].map(([, address = '']) => address.trim().toLowerCase());
    const bare = one.replace(/<[^<>]*>/g, ' ').split(/\s+/);
    const others = bare.filter((word) => word.includes('@') && !bracketed.includes(word.toLowerCase()));
    return bracketed.length + others.length <= 1;
  });
}

const addressesOf = (list: readonly (string | { address?: string | undefined })[]): string[] =>
  list.map((one) => (typeof one === 'string' ? one : (one.address ?? '')));

function failureOf(error: unknown, delivery: Delivery, isLate: boolean): ActivityError {
  const { code, responseCode, response, rejected } = (error ?? {}) as {
    readonly code?: string;
    readonly responseCode?: number;
    readonly response?: string;
    readonly rejected?: readonly string[];
  };
  if (isLate)
    return transientError('smtp_timeout', `The SMTP server did not accept the message within ${TIMEOUT_MS} ms.`);
  if (code === 'ETLS')
    return new ActivityError(
      'smtp_tls',
      'The SMTP server offers no encrypted connection. It needs a trusted certificate, and STARTTLS or TLS ' +
        '(encryption: implicit).',
    );
  if (typeof responseCode !== 'number')
    return new ActivityError('smtp_connect', `No response from the SMTP server (${code ?? 'no answer'}).`, {
      // A retry does not change a missing login.
      retryable: code !== 'EAUTH' && code !== 'ENOAUTH',
      details: { reason: code ?? 'no answer' },
    });
  const isAuth = code === 'EAUTH';
  return new ActivityError(
    isAuth ? 'smtp_auth' : 'smtp_refused',
    `The SMTP server refused ${isAuth ? 'the login' : 'the message'} (${responseCode}).`,
    {
      retryable: responseCode >= 400 && responseCode < 500,
      details: {
        responseCode,
        response: shownResponse(response ?? '', delivery),
        ...(rejected === undefined ? {} : { rejected: [...rejected] }),
      },
    },
  );
}

const shownResponse = (response: string, { context }: Delivery): string =>
  context.scrub.text(response).slice(0, MAX_RESPONSE_CHARACTERS);
