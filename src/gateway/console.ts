/**
 * Serves the console: what Vite has built into dist/console, read into memory once. Pages load nothing from elsewhere
 * and run nothing that is not a file of this folder (PAGE_POLICY). Every address of the console is the same page.
 */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Express, Request, Response } from 'express';
import { text } from './answers/named.ts';
import { perGateway } from './http/context.ts';
import { type Route, rawRoute, route, SENT } from './http/route.ts';
import { HttpProblem } from './validation/http-problem.ts';
import { anyQuery, pathName } from './validation/validation.ts';

const PATH = '/console';
/** Where the page's nonce stands in index.html. */
const NONCE = '__NONCE__';
const NONCE_BYTES = 18;
/** A smaller file gains nothing. */
const MIN_COMPRESSED_BYTES = 1_000;
const BROTLI_QUALITY = 9;
/** Compressed beside the file by whoever built it: name ending → encoding. The first that the caller takes is sent. */
const ENCODINGS = { '.br': 'br', '.gz': 'gzip' } as const;
type Encoding = (typeof ENCODINGS)[keyof typeof ENCODINGS];
const COMPRESSED: ReadonlySet<string> = new Set(['.js', '.css', '.svg', '.json', '.html', '.txt', '.map']);

interface Asset {
  readonly name: string;
  readonly plain: Buffer;
  readonly encoded: ReadonlyMap<Encoding, Buffer>;
}

interface ConsoleFiles {
  /** index.html, split at its nonces. */
  readonly page: readonly string[];
  readonly assets: ReadonlyMap<string, Asset>;
}

/** From sources and from dist/ alike. */
const builtFolder = (): string =>
  fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../dist/console' : '../../console', import.meta.url));

/** The console of a gateway. Undefined where none was built. Call it when the gateway starts: reading begins then. */
export const consoleOf = perGateway(({ consoleDir, log }) =>
  readConsole(consoleDir ?? builtFolder()).catch((err: unknown) => {
    if (!isMissing(err)) log.warn({ err: String(err) }, 'The console cannot be read.');
    return undefined;
  }),
);

async function readConsole(folder: string): Promise<ConsoleFiles> {
  const page = (await readFile(join(folder, 'index.html'), 'utf8')).split(NONCE);
  const assetsFolder = join(folder, 'assets');
  const names = await readdir(assetsFolder);
  const files = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(assetsFolder, name))] as const)),
  );
  const plain = [...files].filter(([name]) => !Object.keys(ENCODINGS).includes(extname(name)));
  const assets = await Promise.all(
    plain.map(async ([name, bytes]) => ({ name, plain: bytes, encoded: await encodedOf(name, bytes, files) })),
  );
  return { page, assets: new Map(assets.map((asset) => [asset.name, asset])) };
}

async function encodedOf(
  name: string,
  plain: Buffer,
  files: ReadonlyMap<string, Buffer>,
): Promise<ReadonlyMap<Encoding, Buffer>> {
  if (plain.length < MIN_COMPRESSED_BYTES || !COMPRESSED.has(extname(name))) return new Map();
  return new Map([
    ['br', files.get(`${name}.br`) ?? (await brotli(plain))],
    ['gzip', files.get(`${name}.gz`) ?? (await promisify(gzip)(plain))],
  ]);
}

const brotli = (plain: Buffer): Promise<Buffer> =>
  promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * Redirects a browser from `/` to the console, or to the manual where no console was built. A program gets the answer
 * of any unknown address.
 */
export function redirectToConsole(app: Express, gateway: Parameters<typeof consoleOf>[0]): void {
  app.get('/', async (req, res, next) => {
    if (req.accepts(['json', 'html']) !== 'html') return next();
    res.redirect(302, (await consoleOf(gateway)) === undefined ? '/docs' : PATH);
  });
}

/**
 * Styles come from files and from the sheets that carry the nonce. Scripts come from files. No text becomes a script or
 * HTML by any other way (Trusted Types).
 */
const pagePolicy = (nonce: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'";

const pageRoute = (path: string, id: string): Route =>
  rawRoute({
    method: 'GET',
    path,
    role: 'public',
    asksTemporal: false,
    id,
    summary: 'The console, a page for browsers.',
    description: 'The same page at each of its addresses. It calls the API as the person who is logged in.',
    ...(path.includes('*') ? { params: { place: text } } : {}),
    answers: { 200: { text: 'The page.', schema: text, media: ['text/html'] } },
    problems: ['console_missing'],
    handle: async ({ gateway }) => {
      const { page } = await demandConsole(gateway);
      const nonce = randomBytes(NONCE_BYTES).toString('base64');
      const headers = {
        'content-security-policy': pagePolicy(nonce),
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'same-origin',
      };
      return { status: 200, type: 'html', text: page.join(nonce), headers };
    },
  });

export const consoleRoutes = [
  pageRoute(PATH, 'console'),
  route({
    method: 'GET',
    path: `${PATH}/assets/:name`,
    role: 'public',
    asksTemporal: false,
    id: 'consoleAsset',
    summary: 'A script or a style sheet of the console. Its name holds its hash, so it never changes.',
    description: 'Compressed where the browser takes that. Browsers may keep it for a year.',
    params: { name: pathName },
    query: anyQuery,
    answers: { 200: { text: 'The file.', schema: text, media: ['text/javascript', 'text/css'] } },
    problems: ['not_found', 'console_missing'],
    handle: async ({ gateway, params: { name }, req, res }): Promise<typeof SENT> => {
      const asset = (await demandConsole(gateway)).assets.get(name);
      if (asset === undefined) throw new HttpProblem('not_found', 'The console has no such file. Load its page again.');
      sendAsset(req, res, asset);
      return SENT;
    },
  }),
  pageRoute(`${PATH}/*place`, 'consolePage'),
];

/** @throws HttpProblem `console_missing`. */
async function demandConsole(gateway: Parameters<typeof consoleOf>[0]): Promise<ConsoleFiles> {
  const files = await consoleOf(gateway);
  if (files !== undefined) return files;
  throw new HttpProblem('console_missing', 'The console was not built. Run `npm run build`, and start again.');
}

function sendAsset(req: Request, res: Response, { name, plain, encoded }: Asset): void {
  const encoding = Object.values(ENCODINGS).find((one) => encoded.has(one) && req.acceptsEncodings(one) !== false);
  const bytes = (encoding === undefined ? undefined : encoded.get(encoding)) ?? plain;
  res.status(200).type(extname(name));
  res.setHeader('cache-control', 'public, max-age=31536000, immutable');
  res.setHeader('cross-origin-resource-policy', 'same-origin');
  if (encoded.size > 0) res.setHeader('vary', 'accept-encoding');
  if (encoding !== undefined) res.setHeader('content-encoding', encoding);
  res.setHeader('content-length', bytes.length);
  res.end(req.method === 'HEAD' ? undefined : bytes);
}
