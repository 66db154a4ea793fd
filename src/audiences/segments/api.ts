/** Routes of `/v1/segments` (specification 4.6). */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { type PageQuery, pageQuery, pageRequest } from '../../http/json/page.ts';
import { type Ask, paramsOf, resourceRoutes } from '../../http/json/resource.ts';
import { whileAwaited } from '../../http/transport/client-disconnect.ts';
import { newId } from '../../system/ids.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { forShowing } from '../contacts/for-showing.ts';
import { showContact } from '../contacts/show.ts';
import { readFilter } from './filter.ts';
import { filterOf, type Scans, type SegmentPage } from './scan.ts';
import {
  countRequestSchema,
  countSchema,
  newSegmentSchema,
  type SegmentView,
  segmentChangeSchema,
  segmentContactsSchema,
  segmentSchema,
  showSegment,
} from './schemas.ts';
import {
  changeSegment,
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  requireAudience,
  requireReferences,
} from './store.ts';

type SegmentsApp = Pick<App, 'db' | 'clock'> & { scans: Scans };

const TAG = 'Segments';
const listQuery = {
  audienceId: Type.Optional(Type.String({ description: 'Only segments of this audience.' })),
};

const showQuery = {
  count: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'False leaves out the number of contacts, which takes a second for a million of them.',
    }),
  ),
};

/** Adds the routes of segments to the server. All scans of the daemon share the limits of `app.scans`. */
export function registerSegmentsApi(server: FastifyInstance, app: SegmentsApp): void {
  const { scans } = app;
  const segments = resourceRoutes<SegmentView>(server, {
    name: 'segment',
    tag: TAG,
    path: '/segments',
    prefix: 'seg',
    schema: segmentSchema,
    show: showSegment,
  });
  segments.create({ body: newSegmentSchema }, (request) => {
    const now = app.clock.now();
    const { name, audienceId } = request.body;
    const filter = readFilter(request.body.filter);
    const identity = { id: newId('seg', now), tenantId: callerOf(request).tenantId };
    const segment = { ...identity, name, audienceId, filter, createdAt: now, updatedAt: now };
    return app.db.commit(createSegment, segment);
  });
  segments.list({ query: listQuery }, (request, page) => {
    const { audienceId } = request.query;
    const filter = audienceId === undefined ? {} : { audienceId };
    return listSegments(app.db.read, callerOf(request).tenantId, { ...page, ...filter });
  });
  segments.get(
    { description: 'Returns a segment with the number of its contacts.', query: showQuery },
    async (request) => {
      const { tenantId } = callerOf(request);
      const segment = await getSegment(app.db.read, tenantId, request.params.id);
      if (request.query.count === false) return segment;
      const { audienceId } = segment;
      const query = { tenantId, audienceId, filter: filterOf(segment), now: app.clock.now() };
      const contactCount = await whileAwaited(request, (gone) => scans.count(query, gone));
      return { ...segment, contactCount };
    },
  );
  segments.update({ body: segmentChangeSchema }, (request) => {
    const { name, filter } = request.body;
    const change = {
      ...(name !== undefined && { name }),
      ...(filter !== undefined && { filter: readFilter(filter) }),
    };
    const { tenantId, approval } = callerOf(request);
    const { id } = request.params;
    return app.db.commit(changeSegment, { tenantId, approval, id, change, now: app.clock.now() });
  });
  segments.delete({}, (request) => {
    const { tenantId, approval } = callerOf(request);
    return app.db.commit(deleteSegment, { tenantId, approval, id: request.params.id });
  });
  registerContacts(server, app);
  registerCount(server, app);
}

const CONTACTS_PATH = '/segments/:id/contacts';

function registerContacts(server: FastifyInstance, app: SegmentsApp): void {
  const { scans } = app;
  const schema = {
    operationId: 'listSegmentContacts',
    summary: 'List the contacts of a segment',
    description:
      'A request scans a bounded number of contacts of the audience, so a page can be short or empty although more contacts ' +
      'follow. Continue with `nextCursor` until `hasMore` is false.',
    tags: [TAG],
    ...paramsOf(CONTACTS_PATH),
    querystring: Type.Object(pageQuery),
    response: { 200: segmentContactsSchema },
  };
  server.get(CONTACTS_PATH, { schema }, async (request) => {
    const { params, query: asked } = request as Ask<unknown, PageQuery>;
    const caller = callerOf(request);
    const { tenantId } = caller;
    const segment = await getSegment(app.db.read, tenantId, params.id);
    const { audienceId } = segment;
    const query = { tenantId, audienceId, filter: filterOf(segment), now: app.clock.now() };
    const page = await scans.page(query, pageRequest(asked, 'ct'));
    const contacts = await forShowing(app.db.read, caller, page.items);
    return { data: contacts.map(showContact), hasMore: page.hasMore, ...cursors(asked, page) };
  });
}

/** Returns the cursors of a page. Onward from it is the last contact that was scanned; back is where the page came from. */
function cursors({ startingAfter, endingBefore }: PageQuery, { items, last }: SegmentPage) {
  const onward = last ?? null;
  if (endingBefore !== undefined) return { nextCursor: items.at(-1)?.id ?? null, previousCursor: onward };
  return { nextCursor: onward, previousCursor: startingAfter === undefined ? null : (items[0]?.id ?? null) };
}

function registerCount(server: FastifyInstance, app: SegmentsApp): void {
  const { scans } = app;
  const schema = {
    operationId: 'countSegment',
    summary: 'Count the contacts that a filter finds',
    description: 'Tries a filter before it is saved. Nothing is stored.',
    tags: [TAG],
    body: countRequestSchema,
    response: { 200: countSchema },
  };
  server.post(
    '/segments/count',
    { config: { needs: 'read', worksOnLowDisk: true }, schema },
    async (request) => {
      const body = request.body as Static<typeof countRequestSchema>;
      const { tenantId } = callerOf(request);
      const filter = readFilter(body.filter);
      const audienceId = await requireAudience(app.db.read, tenantId, body.audienceId);
      await requireReferences(app.db.read, tenantId, filter);
      const query = { tenantId, audienceId, filter, now: app.clock.now() };
      return { contactCount: await whileAwaited(request, (gone) => scans.count(query, gone)) };
    },
  );
}
