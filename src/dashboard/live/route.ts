/**
 * `GET /live?topic=…`: one stream of server-sent events for all windows of a browser. It needs a session, and the rights of each topic. Both are
 * checked again and again while it lasts: it ends with the session, and when the rights of the person have changed.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { callsOf } from '../../http/json/calls.ts';
import { channelOf } from '../../http/transport/channel.ts';
import { AppError, notFound } from '../../system/errors.ts';
import { actAsPerson } from '../../tenants/authenticate.ts';
import { actAsPage } from '../audit/commands.ts';
import type { Assets } from '../frame/assets.ts';
import { tenantPath } from '../frame/layout.tsx';
import type { Contexts, DashboardApp } from '../page.ts';
import { readCookie } from '../people/cookie.ts';
import { pageHeaders } from '../policy.ts';
import { contextFor, type Servers } from '../viewer.ts';
import { createHub, type Watching } from './hub.ts';
import { watchRights } from './rights.ts';
import { beginStream, frameOf } from './stream.ts';
import { operatorTail, type Topic, tenantTail, traceTopic, workTopic } from './topics.ts';

/** Path of the streams. */
export const LIVE_PATH = '/live';
/** Maximum number of topics of a stream. A browser has one for each of its windows that shows something live. */
const MAX_TOPICS = 20;
/** Maximum number of open streams. Each takes a connection. */
const MAX_STREAMS = 500;
/** Maximum number of open streams of a person, who needs one for each browser. */
export const MAX_STREAMS_PER_PERSON = 20;
/** Time to retry after when there are too many. */
const RETRY_AFTER_SECONDS = 60;

type LiveApp = DashboardApp & { servers: Servers; assets: Assets };

/** Registers the route. */
export function serveLive(server: FastifyInstance, app: LiveApp): void {
  const hub = createHub(app);
  const open = new Map<string, number>();
  let all = 0;
  server.addHook('preClose', async () => hub.close());

  server.get(LIVE_PATH, async (request, reply) => {
    const channel = channelOf(request, app.config.http.trustedProxies);
    const asked = { request, reply, channel };
    // The rights are read before the topics are granted, so that a change in between ends the stream.
    const isAllowed = await watchRights(app, readCookie(request, channel, 'session'));
    const context = await contextFor(app, app.servers, { area: 'account', asked });
    const topics = topicsOf(app, context);
    const { id } = context.person;
    // Nothing is awaited between the check and the count, so that no two requests take the same place.
    const count = open.get(id) ?? 0;
    if (all >= MAX_STREAMS || count >= MAX_STREAMS_PER_PERSON) throw tooManyStreams();
    open.set(id, count + 1);
    all += 1;
    reply.hijack();
    const stream = beginStream(reply.raw, headersOf(request, reply, app), () => {
      all -= 1;
      const left = (open.get(id) ?? 1) - 1;
      if (left > 0) open.set(id, left);
      else open.delete(id);
      void hub.remove(watching);
    });
    const watching: Watching = { stream, topics, after: positionOf(request), isAllowed };
    stream.send(frameOf('version', { version: app.assets.version() }));
    await hub.add(watching).catch((error: unknown) => {
      app.log.warn({ err: error }, 'a stream of the dashboard could not begin');
      stream.end();
    });
  });
}

/** Returns the headers of an answer that Fastify does not send itself. */
function headersOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { config }: Pick<LiveApp, 'config'>,
): Record<string, string> {
  const set = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(set), ...pageHeaders(request, config) };
}

function tooManyStreams(): AppError {
  return new AppError('rate_limited', 'Too many live views are open; close some of them', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** Returns the position that the browser names: in the header when it connects again by itself, and in the query when a script does. */
function positionOf({ headers, query }: FastifyRequest): number | undefined {
  const given = headers['last-event-id'] ?? (query as Record<string, unknown>)['after'];
  return typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : undefined;
}

/**
 * Returns the topics that the query names.
 * @throws AppError not_found, as for a page that the person may not see
 */
function topicsOf(app: LiveApp, context: Contexts['account']): Topic[] {
  const names = context.query.getAll('topic');
  if (names.length === 0 || names.length > MAX_TOPICS) throw notFound('Page');
  return [...new Set(names)].map((name) => {
    const topic = findTopic(app, context, name);
    if (!topic) throw notFound('Page');
    return topic;
  });
}

/** Splits the name of a topic into its area, and the path of the work or the site that is traced. */
const NAME = /^(\/operator|\/t\/[^/]+\/(?:live|test))\/(?:tail|work(\/.+)|trace\/(.+))$/;

function findTopic({ servers }: LiveApp, context: Contexts['account'], name: string): Topic | undefined {
  const { person, memberships, clientAddress } = context;
  const [, area, work, site] = NAME.exec(name) ?? [];
  if (area === undefined || (site !== undefined && area !== '/operator')) return undefined;
  if (area === '/operator') {
    if (person.isOperator === 0) return undefined;
    const calls = callsOf(servers.operator, { prefix: '', clientAddress, mark: actAsPage });
    if (site !== undefined) return traceTopic(site, calls);
    return work === undefined ? operatorTail : workTopic(area, work, calls);
  }
  for (const mode of ['live', 'test'] as const) {
    const tenant = memberships.find(({ tenantName }) => tenantPath(tenantName, mode) === area);
    if (!tenant) continue;
    const { tenantId, tenantName } = tenant;
    const reader = { tenantId, mode, personId: person.id, permission: 'read_only' as const };
    const calls = callsOf(servers.api, {
      prefix: '/v1',
      clientAddress,
      mark: (raw) => actAsPerson(raw, reader),
    });
    return work === undefined ? tenantTail({ tenantId, tenantName, mode }) : workTopic(area, work, calls);
  }
  return undefined;
}
