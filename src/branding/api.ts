/** `/v1/branding`: how the public pages show the tenant of the key to its readers. There is one for each tenant. */
import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { linksOrigin } from '../links/origin.ts';
import { invalid } from '../system/errors.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { readColour } from './colours.ts';
import { createLogoReader, type LogoReader } from './logo/reader.ts';
import { type BrandingBody, brandingChangeSchema, brandingSchema, showBranding } from './schemas.ts';
import { type BrandingChange, changeBranding, deleteBranding, findBranding } from './store.ts';

const PATH = '/branding';
const tags = ['Branding'];
const response = { 200: brandingSchema };

/** Registers the routes. */
export function registerBrandingApi(
  server: FastifyInstance,
  app: Pick<App, 'db' | 'clock' | 'log' | 'config'>,
): void {
  const { db, clock } = app;
  const origin = linksOrigin(app.config);
  const logos = createLogoReader(app);
  const get = {
    operationId: 'getBranding',
    summary: 'Retrieve the branding',
    description: 'Returns name, colours and logo of the public pages. Every field is null until it is set.',
    tags,
    response,
  };
  server.get(PATH, { schema: get }, async (request) =>
    showBranding(await findBranding(db.read, callerOf(request).tenantId), origin),
  );
  const change = {
    operationId: 'changeBranding',
    summary: 'Set the branding',
    description:
      'Sets name, colours and logo of the pages that links in mail lead to: unsubscribing, preferences and confirmations. Omitted fields keep their ' +
      'values, and null removes one. Colours on which text cannot be read are refused.',
    tags,
    body: brandingChangeSchema,
    response,
  };
  server.put<{ Body: BrandingBody }>(PATH, { schema: change }, async (request) => {
    const { tenantId } = callerOf(request);
    const changed = await readChange(logos, request.body, tenantId);
    return showBranding(
      await db.commit(changeBranding, { tenantId, change: changed, now: clock.now() }),
      origin,
    );
  });
  const remove = {
    operationId: 'deleteBranding',
    summary: 'Delete the branding',
    description: 'Removes name, colours and logo from the public pages.',
    tags,
    response: { 204: Type.Null({ description: 'Deleted' }) },
  };
  server.delete(PATH, { schema: remove }, async (request, reply) => {
    await db.commit(deleteBranding, { tenantId: callerOf(request).tenantId });
    return reply.code(204).send();
  });
}

const COLOURS = ['color', 'textColor', 'darkColor', 'darkTextColor'] as const;

/** @throws AppError validation_error naming the field */
async function readChange(logos: LogoReader, body: BrandingBody, owner: string): Promise<BrandingChange> {
  const { name, logo } = body;
  const colours = COLOURS.flatMap((field) => {
    const value = body[field];
    return value === undefined ? [] : [[field, readColour(field, value)] as const];
  });
  return {
    ...(name !== undefined && { name }),
    ...Object.fromEntries(colours),
    ...(logo !== undefined && (await readLogo(logos, logo, owner))),
  };
}

type LogoColumns = Pick<BrandingChange, 'logo' | 'logoHash' | 'logoWidth' | 'logoHeight'>;

async function readLogo(logos: LogoReader, base64: string | null, owner: string): Promise<LogoColumns> {
  if (base64 === null) return { logo: null, logoHash: null, logoWidth: null, logoHeight: null };
  const { png, width, height } = await logos.read(decode(base64), owner);
  const logoHash = hash('sha256', png, 'base64url');
  return { logo: png, logoHash, logoWidth: width, logoHeight: height };
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function decode(base64: string): Buffer {
  if (base64.length % 4 !== 0 || !BASE64.test(base64)) throw invalid('logo', '`logo` must be base64');
  return Buffer.from(base64, 'base64');
}
