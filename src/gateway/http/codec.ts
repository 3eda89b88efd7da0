/**
 * `/codec`: the codec server of this store (src/client/payloads/codec.ts), for Temporal's Web UI and CLI:
 * `temporal workflow show --codec-endpoint <gateway>/codec --codec-auth 'Bearer <key>'`. It makes everything readable that
 * any organization keeps in Temporal, so it is for admins of `default`. The Web UI calls it from its own origin.
 */
import type { RequestHandler, Router } from 'express';
import { z } from 'zod';
import { payloadCodecOf, transcode } from '../../client/payloads/codec.ts';
import { DEFAULT_ORGANIZATION } from '../../engine/state/start.ts';
import { demandNoQuery } from '../validation/validation.ts';
import { bodyAs, readRawBody } from './body.ts';
import type { Gateway } from './context.ts';
import { trustOrigin } from './loopback.ts';
import { demandOrganization } from './principal.ts';
import { type Handler, resource } from './resource.ts';

export const CODEC_PATH = '/codec';
/** A page of history at once, in base64. */
const LARGEST_BYTES = 64 * 1024 * 1024;
const base64 = z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'Expected base64.');

export const codecBody = z.object({
  payloads: z
    .array(z.object({ metadata: z.record(z.string(), base64).optional(), data: base64.optional() }))
    .max(10_000)
    .default([])
    .describe("In Temporal's JSON: bytes are base64."),
});

/** To be mounted at CODEC_PATH before anybody is asked for a key: browsers ask without one whether they may ask. */
export function codecDoor({ access, config }: Gateway): RequestHandler {
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

/** Bodies that are larger than any other's. To be mounted after the key is checked. */
export const readCodecBody = (): RequestHandler => readRawBody(LARGEST_BYTES);

export function codecRoutes(router: Router, { config }: Gateway): void {
  const codec = payloadCodecOf(config);
  const way =
    (name: 'encode' | 'decode'): Handler =>
    async (req, res) => {
      demandOrganization(req, DEFAULT_ORGANIZATION);
      demandNoQuery(req);
      const { payloads } = bodyAs(req, codecBody);
      res.json({ payloads: await transcode(codec, name, payloads) });
    };
  resource(router, `${CODEC_PATH}/encode`, { POST: way('encode') });
  resource(router, `${CODEC_PATH}/decode`, { POST: way('decode') });
}
