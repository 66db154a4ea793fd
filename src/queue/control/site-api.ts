/**
 * Registers the operator's routes of sites: what keeps their mail, how they are spoken to, the end of connections and rests, and what is
 * forgotten. They are served on the control socket alone.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { isoTime } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import type { Restriction } from '../shaping/restriction.ts';
import type { Disconnected, Lifted, Sites, Unlearned } from '../shaping/site-calls.ts';
import type { ConnectionReport, NamedSite, SiteReport } from '../shaping/site-report.ts';
import type { Censuses } from './census.ts';
import { listKeptSites, type ShownKeptSites } from './kept-sites.ts';
import { findSiteOf } from './site-store.ts';

/** Maximum number of entries in one answer, and the number without `limit`. */
const MAX_LISTED = 1_000;
const LISTED = 100;

/** The whole key of a site, one of its hosts, or a domain. */
const name = Type.String({ minLength: 1, maxLength: 1_000 });
const siteSchema = Type.Object({ name });
type Named = Static<typeof siteSchema>;

/** All connections of the site end when no id of one is given. */
const disconnectSchema = Type.Object(
  {
    name,
    connection: Type.Optional(Type.Integer({ minimum: 1 })),
    force: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
/** `restriction` is the id of one or the name of a rule. Without it, everything that keeps the site is lifted. */
const liftSchema = Type.Object(
  { name, restriction: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })) },
  { additionalProperties: false },
);

/** `after` is the `next` of another answer: the number of entries before it. */
const keptSchema = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LISTED })),
  after: Type.Optional(Type.Integer({ minimum: 0 })),
});

/** `sites` is undefined when no daemon runs: nothing is delivered then. */
type SiteApp = Pick<App, 'db' | 'dns'> & { sites: Sites | undefined; censuses: Censuses };

/** A site as the control socket answers with it. */
export type ShownSite = ReturnType<typeof showSite>;
/** The answers to commands: the connections that they have ended, and the rests that they have lifted. */
export type ShownDisconnections = { disconnected: readonly Disconnected[] };
export type ShownLifted = { lifted: ReturnType<typeof showLifted>[] };
export type ShownUnlearned = { forgotten: readonly Unlearned[] };

/** Registers `/queue/sites` and `/queue/site` on the server of the control socket. */
export function registerSiteReport(server: FastifyInstance, app: SiteApp): void {
  server.get<{ Querystring: Static<typeof keptSchema> }>(
    '/queue/sites',
    { schema: { querystring: keptSchema } },
    async ({ query: { limit = LISTED, after = 0 } }): Promise<ShownKeptSites> =>
      listKeptSites({ ...app, sites: runningSites(app) }, await app.censuses.read(), { after, limit }),
  );
  server.get<{ Querystring: Named }>(
    '/queue/site',
    { schema: { querystring: siteSchema } },
    async ({ query }) => {
      const { reports } = await findSites(app, query.name);
      return { sites: reports.map(showSite) };
    },
  );
  registerChanges(server, app);
}

function registerChanges(server: FastifyInstance, app: SiteApp): void {
  server.post<{ Body: Static<typeof disconnectSchema> }>(
    '/queue/site/disconnect',
    { schema: { body: disconnectSchema } },
    async ({ body }): Promise<ShownDisconnections> => {
      const { sites, named } = await findSites(app, body.name);
      const { connection = null, force = false } = body;
      const disconnected = await sites.disconnect({ ...named, connection, force });
      if (connection !== null && disconnected.length === 0)
        throw new AppError('not_found', `${body.name} has no connection ${connection}: it has ended`);
      return { disconnected };
    },
  );
  server.post<{ Body: Static<typeof liftSchema> }>(
    '/queue/site/lift',
    { schema: { body: liftSchema } },
    async ({ body }): Promise<ShownLifted> => {
      const { restriction = null } = body;
      const { sites, named, reports } = await lookUpSites(app, body.name);
      const lifted = await sites.liftRests({ ...named, restriction });
      if (lifted.length + reports.length === 0) throw unknownSite(body.name);
      if (restriction !== null && lifted.length === 0)
        throw new AppError('not_found', `${restriction} is not in force at ${body.name}`);
      return { lifted: lifted.map(showLifted) };
    },
  );
  server.post<{ Body: Named }>(
    '/queue/site/reset',
    { schema: { body: siteSchema } },
    async ({ body }): Promise<ShownUnlearned> => {
      const { sites, named } = await findSites(app, body.name);
      return { forgotten: await sites.forgetLearned(named) };
    },
  );
}

type Found = { sites: Sites; named: NamedSite; reports: readonly SiteReport[] };

/** Returns the sites that the operator names. @throws AppError when there are none */
async function findSites(app: SiteApp, asked: string): Promise<Found> {
  const found = await lookUpSites(app, asked);
  if (found.reports.length === 0) throw unknownSite(asked);
  return found;
}

function runningSites({ sites }: Pick<SiteApp, 'sites'>): Sites {
  if (!sites) throw new AppError('invalid_state', 'No daemon runs, so nothing is being delivered');
  return sites;
}

/** Returns the sites that the operator names, of which there may be none. */
async function lookUpSites({ db, dns, ...app }: SiteApp, asked: string): Promise<Found> {
  const sites = runningSites(app);
  const name = asked.toLowerCase();
  const named = { name, siteOfDomain: await findSiteOf(db.read, name) };
  const reports = await sites.explainSites(named);
  if (reports.length > 0) return { sites, named, reports };
  // A domain whose mail has all left is known by its hosts alone.
  const host = await findHostOf(dns, name);
  if (host !== undefined) {
    const byHost = { name: host, siteOfDomain: undefined };
    const found = await sites.explainSites(byHost);
    if (found.length > 0) return { sites, named: byHost, reports: found };
  }
  return { sites, named, reports };
}

function unknownSite(asked: string): AppError {
  return new AppError(
    'not_found',
    `No site is known by ${asked}: no mail was routed to such a host, key or domain since the daemon started`,
  );
}

/** Returns the host that a domain prefers; undefined when DNS has none. */
async function findHostOf(dns: App['dns'], domain: string): Promise<string | undefined> {
  const answer = await dns.mx(domain);
  if (answer.kind !== 'found') return undefined;
  return answer.records.toSorted((one, other) => one.preference - other.preference)[0]?.exchange;
}

function showSite({
  limits,
  binding,
  learned,
  connections,
  restingTenants,
  restrictions,
  ...site
}: SiteReport) {
  return {
    ...site,
    limits: Object.entries(limits).map(([limit, { value, origin }]) => ({
      limit,
      value,
      origin: { ...origin, until: 'until' in origin ? isoTime(origin.until) : null },
    })),
    binding: { ...binding, until: timeOf(binding.until) },
    learned: { ...learned, ceilingUntil: timeOf(learned.ceilingUntil) },
    connections: connections.map(showConnection),
    restingTenants: restingTenants.map((one) => ({ ...one, until: isoTime(one.until) })),
    restrictions: restrictions.map(showRestriction),
  };
}

function showConnection({ since, ...connection }: ConnectionReport) {
  return { ...connection, since: timeOf(since) };
}

function showRestriction({ since, until, ...restriction }: Restriction) {
  return { ...restriction, since: isoTime(since), until: isoTime(until) };
}

function showLifted(lifted: Lifted) {
  if (lifted.kind === 'rest') return { ...lifted, until: timeOf(lifted.until) };
  const { kind, ...restriction } = lifted;
  return { kind, ...showRestriction(restriction) };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
