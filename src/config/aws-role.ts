/** Where temporary credentials of AWS come from, by the variables that EKS and ECS set for the SDKs of AWS. */
import { omitUndefined } from '../json/omit-undefined.ts';
import { ConfigError } from './config-error.ts';

/** A token of Kubernetes, exchanged at STS for the credentials of a role (IRSA). */
interface WebIdentity {
  readonly from: 'web identity';
  readonly tokenFile: string;
  readonly roleArn: string;
  readonly sessionName: string;
  readonly stsUrl: string;
}

/** An address of the machine that answers credentials (EKS Pod Identity, ECS). */
interface Container {
  readonly from: 'container';
  readonly url: string;
  readonly authorization?: string;
  /** Read for each request, since it is replaced from time to time. */
  readonly authorizationFile?: string;
}

export type AwsRole = WebIdentity | Container;

type Env = Readonly<Record<string, string>>;

/** The address of ECS, which AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is a path of. */
const ECS = 'http://169.254.170.2';
/** As the SDKs of AWS do it, plain HTTP is for addresses of the machine alone. */
const LOCAL_HOST = /^(?:127(?:\.\d+){3}|localhost|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

/** Undefined where no variable names one. In the order of the SDKs of AWS. @throws ConfigError */
export function awsRoleOf(env: Env, region: string): AwsRole | undefined {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile, AWS_ROLE_ARN: roleArn } = env;
  if (tokenFile !== undefined && roleArn !== undefined) {
    const host = `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
    const stsUrl = env['AWS_ENDPOINT_URL_STS'] ?? `https://${host}`;
    return {
      from: 'web identity',
      tokenFile,
      roleArn,
      sessionName: env['AWS_ROLE_SESSION_NAME'] ?? 'signalbox',
      stsUrl,
    };
  }
  const path = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
  const url = path === undefined ? env['AWS_CONTAINER_CREDENTIALS_FULL_URI'] : `${ECS}${path}`;
  if (url === undefined) return undefined;
  if (!URL.canParse(url) || !isHttpsOrLocal(new URL(url)))
    throw new ConfigError(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      'expected https, or http at an address of this machine, of ECS or of EKS.',
    );
  const {
    AWS_CONTAINER_AUTHORIZATION_TOKEN: authorization,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: authorizationFile,
  } = env;
  return { from: 'container', url, ...omitUndefined({ authorization, authorizationFile }) };
}

const isHttpsOrLocal = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOCAL_HOST.test(hostname));
