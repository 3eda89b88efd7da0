/**
 * Restricts where outgoing requests may go (THREATS.md). undici skips its lookup hooks for IP literals, so the
 * connector checks the literal, every DNS answer, and finally the address of the connected socket.
 */
import { lookup } from 'node:dns/promises';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector } from 'undici';
import { ActivityError } from '../runtime/failure.ts';

export interface EgressPolicy {
  /** CIDRs of private ranges that may be reached. */
  readonly allow: readonly string[];
  /** Ports of this stack on this machine, refused even if the address is allowed. */
  readonly ownPorts: readonly number[];
  /** Parts of this stack on other hosts, such as a Temporal server; also refused. */
  readonly own: readonly { readonly host: string; readonly port: number }[];
}

const CONNECT_TIMEOUT_MS = 10_000;
/** How many addresses of a name are tried. */
const MAX_ADDRESSES = 4;
const IDLE_MS = 4_000;
/** Node's codes for an untrusted certificate: those of OpenSSL, and its own for a wrong host name. */
const UNTRUSTED_PATTERN =
  /^(CERT_|ERROR_IN_CERT_|UNABLE_TO_(GET|VERIFY|DECODE|DECRYPT)_|(DEPTH_ZERO_)?SELF_SIGNED_CERT|ERR_TLS_CERT_ALTNAME_)/;
const UNTRUSTED_CODES: ReadonlySet<string> = new Set([
  'INVALID_CA',
  'INVALID_PURPOSE',
  'PATH_LENGTH_EXCEEDED',
  'HOSTNAME_MISMATCH',
]);

type Connector = ReturnType<typeof buildConnector>;
type ConnectOptions = Parameters<Connector>[0];

/** An agent whose connections follow the policy. */
export function guardedAgent(policy: EgressPolicy): Agent {
  const refuse = egressGuard(policy);
  const connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  return new Agent({
    keepAliveTimeout: IDLE_MS,
    // The timeout of the request covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
      const open = (address: string) => attempt(connector, { ...options, hostname: address });
      connect(options.hostname, port, refuse, open).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
  });
}

type AddressGuard = (address: string, port: number) => Promise<void>;

/** Opens a TCP connection that follows the policy. @throws ActivityError `address_not_allowed`, or a network error */
export function guardedSocket(policy: EgressPolicy, host: string, port: number): Promise<Socket> {
  return connect(host, port, egressGuard(policy), (address) => tcpAttempt(address, port));
}

async function connect<S extends Socket>(
  host: string,
  port: number,
  refuse: AddressGuard,
  open: (address: string) => Promise<S>,
): Promise<S> {
  const name = bare(host);
  const addresses = isIP(name) === 0 ? (await lookup(name, { all: true })).map(({ address }) => address) : [name];
  for (const address of addresses) await refuse(address, port);
  let failed: unknown = new Error('The host name has no address.');
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    try {
      const socket = await open(address);
      try {
        await refuse(socket.remoteAddress ?? '', socket.remotePort ?? port);
      } catch (error) {
        socket.destroy();
        throw error;
      }
      return socket;
    } catch (error) {
      if (error instanceof ActivityError) throw error;
      failed = error;
    }
  }
  throw failed;
}

function attempt(connector: Connector, options: ConnectOptions) {
  return new Promise<NonNullable<Parameters<Parameters<Connector>[1]>[1]>>((resolve, reject) => {
    connector(options, (error, socket) => {
      if (error === null && socket !== null) resolve(socket);
      else reject(certificateError(error) ?? error ?? new Error('No connection.'));
    });
  });
}

/** The error for an untrusted certificate, which a retry does not change; undefined for any other error. */
export function certificateError(error: unknown): ActivityError | undefined {
  // nodemailer stores Node's code in originalCode.
  const { code: own, originalCode: code = own } = (error ?? {}) as { code?: unknown; originalCode?: unknown };
  if (typeof code !== 'string' || !(UNTRUSTED_PATTERN.test(code) || UNTRUSTED_CODES.has(code))) return undefined;
  return new ActivityError(
    'certificate_not_trusted',
    `The server's certificate is not trusted (${code}). Set NODE_EXTRA_CA_CERTS on the worker to trust its ` +
      'authority, or install another certificate on the server.',
    { details: { reason: code } },
  );
}

function tcpAttempt(address: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = tcpConnect({ host: address, port, timeout: CONNECT_TIMEOUT_MS });
    // The listener stays, because an error before the protocol listens would end the process.
    socket.on('error', reject);
    socket.once('timeout', () =>
      socket.destroy(Object.assign(new Error('No connection in time.'), { code: 'ETIMEDOUT' })),
    );
    socket.once('connect', () => {
      socket.removeAllListeners('timeout').setTimeout(0);
      resolve(socket);
    });
  });
}

/** Returns a function that throws `address_not_allowed` for a forbidden address. */
export function egressGuard(policy: EgressPolicy): AddressGuard {
  const ranges = policy.allow.map((range) => ipaddr.parseCIDR(range));
  return async (given, port) => {
    const address = parsed(given);
    if (address === undefined || (!isPublic(address) && !ranges.some((range) => isWithin(address, range))))
      throw new ActivityError(
        'address_not_allowed',
        'The address is private or local. The host can allow it with SIGNALBOX_HTTP_ALLOW.',
      );
    if ((policy.ownPorts.includes(port) && isLocal(address)) || (await isOwn(address, port, policy.own)))
      throw new ActivityError(
        'address_not_allowed',
        'The address belongs to this Signalbox stack, whose own ports are never allowed.',
      );
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Treats IPv4-mapped IPv6 addresses as IPv4. */
function parsed(given: string): Address | undefined {
  const address = bare(given).replace(/%.*$/, '');
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  // Global IPv6 addresses are in 2000::/3; IPv4-compatible and unassigned ones are not.
  return address.kind() === 'ipv4' || ((address as ipaddr.IPv6).parts[0]! & 0xe000) === 0x2000;
}

function isWithin(address: Address, range: [Address, number]): boolean {
  return address.kind() === range[0].kind() && address.match(range as [ipaddr.IPv4, number] & [ipaddr.IPv6, number]);
}

function isLocal(address: Address): boolean {
  if (['loopback', 'unspecified'].includes(address.range())) return true;
  const text = address.toString();
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => parsed(entry.address)?.toString() === text),
  );
}

async function isOwn(address: Address, port: number, own: EgressPolicy['own']): Promise<boolean> {
  const text = address.toString();
  for (const place of own) {
    if (place.port !== port) continue;
    const host = bare(place.host);
    // A name that cannot be resolved has no address to protect.
    const found = isIP(host) === 0 ? await lookup(host, { all: true }).catch(() => []) : [{ address: host }];
    for (const one of found) {
      const taken = parsed(one.address);
      if (taken !== undefined && (taken.toString() === text || (isLocal(taken) && isLocal(address)))) return true;
    }
  }
  return false;
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
