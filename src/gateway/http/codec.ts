/**
 * `/codec`: the codec server (src/client/payloads/codec.ts) for Temporal's Web UI and CLI:
 * `temporal workflow show --codec-endpoint <gateway>/codec --codec-auth 'Bearer <key>'`. It decrypts the payloads of
 * all organizations, so only admins of `default` may call it. The Web UI calls it from its own origin.
 */
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { payloadCodecOf, transcode } from '../../client/payloads/codec.ts';
import { DEFAULT_ORGANIZATION } from '../../contract/organization/organization.ts';
import { type Gateway, perGateway } from './context.ts';
import { trustOrigin } from './loopback.ts';
import { demandOrganization } from './principal.ts';
import { ok, route } from './route.ts';
import { jsonOf } from './route-body.ts';

export const CODEC_PATH = '/codec';
/** A page of history, in base64. */
const MAX_BYTES = 64 * 1024 * 1024;
const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'Expected base64.');

const codecBody = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), base64).optional(), data: base64.optional() }))
    .max(10_000)
    .default([])
    .describe("In Temporal's JSON: bytes are base64."),
});

/** Mount it at CODEC_PATH before the key check: preflight requests of browsers have no key. */
export function codecCors({ access, config }: Gateway): RequestHandler {
  const origins = new Set([
    ...(access.webUrl === undefined ? [] : [new URL(access.webUrl).origin]),
    ...config.uiOrigins,
  ]);
  return (req, res, next) => {
    const origin = req.get('origin');
    res.setHeader('vary', 'origin');
    if (origin === undefined || !origins.has(origin)) return next();
    trustOrigin(req);
    res.setHeader('access-control-allow-origin', origin);
    if (req.method !== 'OPTIONS') return next();
    res.setHeader('access-control-allow-methods', 'POST, OPTIONS');
    res.setHeader('access-control-allow-headers', 'authorization, content-type, x-namespace');
    res.setHeader('access-control-max-age', '600');
    res.status(204).end();
  };
}

const codecOf = perGateway(({ config }) => payloadCodecOf(config));

const codecRoute = (direction: 'encode' | 'decode', summary: string) =>
  route({
    method: 'POST',
    path: `${CODEC_PATH}/${direction}`,
    role: 'admin',
    idempotency: 'none',
    id: `${direction}Payloads`,
    summary,
    description: "For Temporal's Web UI and CLI (`--codec-endpoint`), and for admins of `default`.",
    body: jsonOf(codecBody, { maxBytes: MAX_BYTES }),
    answers: { 200: { text: 'The payloads, in order.', schema: codecBody } },
    problems: ['not_found', 'codec_failed'],
    handle: async ({ gateway, req, body: { payloads } }) => {
      demandOrganization(req, DEFAULT_ORGANIZATION);
      return ok({ payloads: await transcode(codecOf(gateway), direction, payloads) });
    },
  });

export const codecRoutes = [
  codecRoute('encode', "Encodes payloads of Temporal's as this store does."),
  codecRoute('decode', 'Decodes payloads that this store has encoded.'),
];
