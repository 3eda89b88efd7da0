/** Says in a sentence why a request got no answer. */

import { CliError, EXIT, RetryableCliError } from './exit.ts';

/** The certificate is signed by no authority that this machine trusts; Node's codes. */
const UNTRUSTED_CODE = /SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/;

const CERTIFICATE_FAULTS: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  CERT_REVOKED: 'was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another host name',
};

/** `error` is what fetch threw. Only faults that may pass are a RetryableCliError. */
export function connectionError(url: string, error: unknown): CliError {
  if (error instanceof Error && error.name === 'TimeoutError')
    return new RetryableCliError(
      EXIT.input,
      `The gateway at ${url} did not answer in time. Check its log, logs/gateway.log in the data folder.`,
    );
  const code = codeOf(error);
  const fault = permanentFault(url, code);
  if (fault !== undefined) return new CliError(EXIT.input, fault);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new RetryableCliError(EXIT.input, `The host of ${url} cannot be found. Check SIGNALBOX_URL.`);
  return new RetryableCliError(
    EXIT.input,
    `No gateway answers at ${url}. Start one with npm start, or set SIGNALBOX_URL to its address.`,
  );
}

function permanentFault(url: string, code: string): string | undefined {
  const fault = Object.hasOwn(CERTIFICATE_FAULTS, code) ? CERTIFICATE_FAULTS[code] : undefined;
  if (fault !== undefined) return `The certificate of ${url} ${fault} (${code}).`;
  if (UNTRUSTED_CODE.test(code))
    return `The certificate of ${url} is not trusted (${code}). Set NODE_EXTRA_CA_CERTS to the file of its authority.`;
  if (/^(ERR_SSL_|EPROTO$)/.test(code)) return `${url} does not speak TLS (${code}). Is it an http address?`;
  return undefined;
}

/** Node's code of the cause. */
function codeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}
