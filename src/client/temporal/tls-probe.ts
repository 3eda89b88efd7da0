/**
 * What a connection to Temporal's address shows, for operators. gRPC says of every fault of an address, a port or a
 * certificate only that the connection did not come about in time.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { TemporalSettings } from '../../config/config.ts';
import { omitUndefined } from '../../json/omit-undefined.ts';

interface ProbeResult {
  /** A sentence that names the cause. Undefined where the connection and its certificates are right. */
  readonly fault?: string;
  /** When the certificates end, where TLS is configured. */
  readonly serverUntil?: Date;
  readonly clientUntil?: Date;
}

const PROBE_MS = 3_000;
/** With TLS 1.3 the server refuses a client's certificate only after the handshake. */
const ALERT_WAIT_MS = 500;
/** Of a server that ends the connection without saying why. */
const CLOSED = 'TLS_ALERT_CONNECTION_CLOSED';

export async function probeAddress(
  address: string,
  settings: Pick<TemporalSettings, 'tls' | 'apiKey'>,
): Promise<ProbeResult> {
  const tls = tlsOf(settings);
  if (tls === undefined) {
    const seen = await handshake(address, {});
    if (seen.isSecure || isAlert(seen.code))
      return { fault: `${address} speaks TLS, and TLS is not configured here: set TEMPORAL_TLS=true.` };
    return omitUndefined({ fault: networkFault(address, seen.code) });
  }
  const { clientCertPair: pair, serverRootCACertificate: ca } = tls;
  const clientUntil = pair === undefined ? undefined : expiryOf(pair.crt);
  const seen = await handshake(address, tls);
  const expiries = omitUndefined({ serverUntil: seen.until, clientUntil });
  const fault = tlsFault(address, seen, pair !== undefined, ca !== undefined, clientUntil);
  return { ...expiries, ...omitUndefined({ fault }) };
}

type Tls = Exclude<NonNullable<TemporalSettings['tls']>, boolean>;

/** As the SDK reads it: an API key alone implies TLS. */
function tlsOf({ tls, apiKey }: Pick<TemporalSettings, 'tls' | 'apiKey'>): Tls | undefined {
  if (tls === false || (tls === undefined && apiKey === undefined)) return undefined;
  return tls === true || tls === undefined ? {} : tls;
}

interface Handshake {
  readonly isSecure: boolean;
  /** Of the error that ended it, or for which the certificate of the server is not trusted. */
  readonly code?: string;
  readonly until?: Date;
}

/** Verifies the certificate, but continues also where it is not trusted, to see what comes after it. */
function handshake(address: string, tls: Tls): Promise<Handshake> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  const { serverNameOverride, serverRootCACertificate: ca, clientCertPair: pair } = tls;
  const name = serverNameOverride ?? host;
  const servername = isIP(name) === 0 ? name : undefined;
  return new Promise((resolve) => {
    let socket: TLSSocket;
    let verified: Handshake | undefined;
    const end = (seen: Handshake): void => {
      clearTimeout(timeout);
      socket?.destroy();
      resolve(seen);
    };
    const timeout = setTimeout(() => end(verified ?? { isSecure: false, code: 'ETIMEDOUT' }), PROBE_MS);
    const failed = (error: NodeJS.ErrnoException): void =>
      end({ ...verified, isSecure: false, code: error.code ?? '' });
    try {
      socket = connect({
        host,
        port: Number(address.slice(at + 1)),
        ALPNProtocols: ['h2'],
        rejectUnauthorized: false,
        ...omitUndefined({
          servername,
          ca: ca === undefined ? undefined : Buffer.from(ca),
          cert: pair === undefined ? undefined : Buffer.from(pair.crt),
          key: pair === undefined ? undefined : Buffer.from(pair.key),
        }),
      });
    } catch (error) {
      // A certificate or key that cannot be read.
      failed(error as NodeJS.ErrnoException);
      return;
    }
    socket.once('secureConnect', () => {
      const { authorized, authorizationError } = socket;
      const until = new Date(socket.getPeerCertificate().valid_to);
      verified = { isSecure: true, until, ...(authorized ? {} : { code: String(authorizationError) }) };
      setTimeout(() => end(verified as Handshake), ALERT_WAIT_MS);
    });
    socket.once('error', failed);
    socket.once('close', () =>
      failed({ code: verified === undefined ? 'ECONNRESET' : CLOSED } as NodeJS.ErrnoException),
    );
  });
}

const isAlert = (code: string | undefined): boolean => code?.includes('_ALERT_') === true;

function tlsFault(
  address: string,
  { isSecure, code }: Handshake,
  hasPair: boolean,
  hasAuthority: boolean,
  clientUntil: Date | undefined,
): string | undefined {
  if (clientUntil !== undefined && clientUntil.getTime() < Date.now())
    return `The client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH) has expired: ${clientUntil.toISOString()}.`;
  if (code === undefined) return undefined;
  if (isAlert(code))
    return hasPair
      ? `${address} refuses the client certificate (TEMPORAL_TLS_CLIENT_CERT_PATH): ${alertText(code)}.`
      : `${address} demands a client certificate: set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH.`;
  if (code === 'CERT_HAS_EXPIRED') return `The certificate of ${address}, or of its authority, has expired.`;
  if (code === 'CERT_NOT_YET_VALID') return `The certificate of ${address} is not valid yet. Compare the clocks.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${address} is for another name: set TEMPORAL_TLS_SERVER_NAME to one that it has.`;
  if (isSecure)
    return (
      `The certificate of ${address} is of an authority that is not trusted here (${code}): ` +
      `${hasAuthority ? 'TEMPORAL_TLS_SERVER_CA_CERT_PATH names another one' : 'set TEMPORAL_TLS_SERVER_CA_CERT_PATH'}.`
    );
  const network = networkFault(address, code);
  if (network !== undefined) return network;
  if (code.startsWith('ERR_OSSL'))
    return `The client certificate or its key cannot be read (TEMPORAL_TLS_CLIENT_CERT_PATH, …_KEY_PATH): ${code}.`;
  return `${address} does not speak TLS, which TEMPORAL_TLS sets here, or TEMPORAL_API_KEY, which implies it.`;
}

function networkFault(address: string, code: string | undefined): string | undefined {
  switch (code) {
    case 'ECONNREFUSED':
      return `Nobody listens at ${address} (ECONNREFUSED).`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The name in ${address} has no address (${code}).`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `No connection to ${address} comes about (${code}): look at firewalls and network policies.`;
    default:
      return undefined;
  }
}

/** `ERR_SSL_TLSV1_ALERT_UNKNOWN_CA` → `unknown ca`. */
const alertText = (code: string): string =>
  code
    .replace(/^.*_ALERT_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();

function expiryOf(certificate: Uint8Array): Date | undefined {
  try {
    return new Date(new X509Certificate(certificate).validTo);
  } catch {
    return undefined;
  }
}
