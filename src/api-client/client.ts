/**
 * `signalbox/client`: the HTTP API for programs, in Node and in browsers. What each path takes and answers is in
 * `types.d.ts`, which the build writes beside this file (`write-types.ts`).
 */
import createFetchClient, { type Client, type ClientOptions } from 'openapi-fetch';

/** A client of the gateway at `url`, which may have a path. A gateway without API keys needs no `key`. */
export function createClient<Paths extends object>({
  url,
  key,
  headers,
  ...rest
}: Omit<ClientOptions, 'baseUrl'> & { url: string; key?: string | undefined }): Client<Paths> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return createFetchClient<Paths>({ ...rest, baseUrl: url, headers: { ...authorization, ...headers } });
}
