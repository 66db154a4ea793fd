/** Serves what the public pages load: their stylesheet, and the colours and logos of brands. Everything comes from this host. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { App } from '../app.ts';
import { BRANDING_PATH, coloursOf, logoHashOf } from '../branding/paths.ts';
import { findLogo } from '../branding/store.ts';
import { sendStatic, staticContent } from '../http/transport/static-content.ts';
import { notFound } from '../system/errors.ts';
import { brandStylesheet, STYLESHEET, STYLESHEET_PATH } from './stylesheet.ts';

/** Time for which a browser keeps a stylesheet. An upgrade may change it. */
const STYLESHEET_SECONDS = 86_400;
/** Time for which a browser keeps a logo, whose address contains its hash: a year. */
const LOGO_SECONDS = 31_536_000;

/** Registers the routes. */
export function serveAssets(server: FastifyInstance, { db }: Pick<App, 'db'>): void {
  const content = staticContent(Buffer.from(STYLESHEET));
  server.get(STYLESHEET_PATH, async (request, reply) => sendStatic(request, asStylesheet(reply), content));
  server.get<{ Params: { file: string } }>(`${BRANDING_PATH}/:file`, async (request, reply) => {
    const { file } = request.params;
    const colours = coloursOf(file);
    if (colours)
      return sendStatic(request, asStylesheet(reply), staticContent(Buffer.from(brandStylesheet(colours))));
    const hash = logoHashOf(file);
    const logo = hash === undefined ? undefined : await findLogo(db.read, hash);
    if (!logo) throw notFound('Page');
    reply.headers({
      'content-type': 'image/png',
      'cache-control': `public, max-age=${LOGO_SECONDS}, immutable`,
    });
    return reply.send(Buffer.from(logo));
  });
}

function asStylesheet(reply: FastifyReply): FastifyReply {
  return reply.headers({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': `public, max-age=${STYLESHEET_SECONDS}`,
  });
}
