/** The public pages of tracked mail: the pixel, and the links, which lead the reader on. */

import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { chargeAddress } from '../http/transport/address-limit.ts';
import type { Links } from '../links/links.ts';
import type { TrackingTarget } from '../links/tracking-token.ts';
import { notFound } from '../system/errors.ts';
import { renderTemplate, type VariableValue } from '../templates/render.ts';
import type { Recorder } from './engagements/recorder.ts';
import type { TrackingHosts } from './links/hosts.ts';
import { CLICK_PATH, OPEN_PATH } from './links/instrument.ts';
import { findTarget, findTrackedEmail } from './links/store.ts';

type PagesApp = App & {
  links: Links;
  recorder: Recorder;
  hosts: TrackingHosts;
};

/** A transparent image of one pixel, a GIF of 43 bytes. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64');

type Route = { Params: { token: string } };

/** Registers the routes. Both answer HEAD as they answer GET. */
export function registerTrackingPages(server: FastifyInstance, app: PagesApp): void {
  server.get<Route>(`${OPEN_PATH}/:token`, async (request, reply) => {
    const { emailId, email } = await requireTarget(app, request, 'open');
    record(app, { request, email }, { kind: 'open', emailId, link: null, url: null });
    return withoutStore(reply).header('content-type', 'image/gif').send(PIXEL);
  });
  server.get<Route>(`${CLICK_PATH}/:token`, async (request, reply) => {
    const { emailId, link, email } = await requireTarget(app, request, 'click');
    const url = await findTarget(app.db.read, email.broadcastId ?? emailId, link);
    const location = url === undefined ? undefined : locationOf({ url, values: valuesOf(email) });
    if (location === undefined) throw notFound('Page');
    record(app, { request, email }, { kind: 'click', emailId, link, url: location });
    return withoutStore(reply).code(302).header('location', location).send();
  });
}

/**
 * Limits the tracking hosts of domains to tracked links, and to these other paths: all other pages are shown at our own host names
 * alone.
 */
export function keepToTracking(
  server: FastifyInstance,
  hosts: TrackingHosts,
  paths: readonly string[],
): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const isAllowed = isTrackingRoute(request) || paths.includes(request.routeOptions.url ?? '');
    const isElsewhere = hosts.has(request.hostname.toLowerCase()) && !isAllowed;
    done(isElsewhere ? notFound('Page') : undefined);
  });
}

function isTrackingRoute({ routeOptions: { url = '' } }: FastifyRequest): boolean {
  return url.startsWith(`${OPEN_PATH}/`) || url.startsWith(`${CLICK_PATH}/`);
}

/** Returns true for a request with a valid token, which has a limit of its own: its sender has an email of ours. */
export function isTracked({ links }: Pick<PagesApp, 'links'>, request: FastifyRequest): boolean {
  if (!isTrackingRoute(request)) return false;
  return links.openTrackingToken((request.params as Route['Params']).token) !== undefined;
}

type Email = NonNullable<Awaited<ReturnType<typeof findTrackedEmail>>>;
type Found = { emailId: TrackingTarget['emailId']; link: number; email: Email };

/**
 * Returns what a token stands for, with its email.
 * @throws AppError not_found; rate_limited, also with a valid token
 */
async function requireTarget(
  { db, guards, hosts, links }: PagesApp,
  request: FastifyRequest<Route>,
  kind: TrackingTarget['kind'],
): Promise<Found> {
  const target = links.openTrackingToken(request.params.token);
  if (target?.kind !== kind) throw notFound('Page');
  chargeAddress(guards.readers, request);
  const email = await findTrackedEmail(db.read, target.emailId);
  // A tracking host shows nothing of other tenants.
  if (!email || !(await hosts.serves(request.hostname.toLowerCase(), email.tenantId))) throw notFound('Page');
  return { emailId: target.emailId, link: target.kind === 'click' ? target.link : 0, email };
}

/** Returns the values for the placeholders in a link of a broadcast. Retention may have removed them. */
function valuesOf({ broadcastId, mergeValues }: Email): Record<string, VariableValue> | null {
  return broadcastId === null ? null : (JSON.parse(mergeValues ?? '{}') as Record<string, VariableValue>);
}

type Engagement = Pick<Parameters<Recorder['record']>[1], 'emailId' | 'kind' | 'link' | 'url'>;

function record(
  { clock, recorder }: PagesApp,
  { request, email }: { request: FastifyRequest; email: Email },
  engagement: Engagement,
): void {
  recorder.record(email.tenantId, {
    ...engagement,
    at: clock.now(),
    ip: request.clientAddress,
    userAgent: request.headers['user-agent'] ?? null,
    method: request.method,
    isPrefetch: isPrefetchRequest(request.headers),
  });
}

function withoutStore(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store');
}

/**
 * The fields by which browsers announce them: `Sec-Purpose` (HTML standard, Speculation Rules), `Purpose` (Chromium and
 * Safari), `X-Purpose` (Safari's previews) and `X-Moz` (Firefox).
 */
const FIELDS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;
const AHEAD = /\b(?:prefetch|prerender|preview)\b/i;

/** Returns true for the header fields of a prefetch, a prerendered page or a preview. */
export function isPrefetchRequest(headers: IncomingHttpHeaders): boolean {
  return FIELDS.some((name) => {
    const value = headers[name];
    return AHEAD.test(Array.isArray(value) ? value.join() : (value ?? ''));
  });
}

/** A tracked link of one email. */
type Link = {
  /** The address as it was stored. */
  url: string;
  /** Values for its placeholders; null when it has none, because they were filled in before. */
  values: Readonly<Record<string, VariableValue>> | null;
};

/** Maximum length of a `Location`, about what browsers and proxies accept. */
const MAX_LOCATION_CHARACTERS = 8_192;

/**
 * Returns the address that a browser would compute from the link that was replaced (URL standard), or undefined when the values of
 * the reader make no web address of the same host.
 */
export function locationOf({ url, values }: Link): string | undefined {
  const location = URL.parse(values ? fill(url, values) : url);
  // A link without values has the host that was checked when the email was accepted.
  const original = values ? URL.parse(fill(url, {})) : location;
  if (!location || !original || !/^https?:$/.test(location.protocol)) return undefined;
  if (location.host !== original.host || location.username !== '' || location.password !== '')
    return undefined;
  return location.href.length > MAX_LOCATION_CHARACTERS ? undefined : location.href;
}

function fill(url: string, values: NonNullable<Link['values']>): string {
  return renderTemplate(url, values, { form: 'url', isMarketing: true }).text;
}
