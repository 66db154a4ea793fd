/** Registers the operator's route that says how a site is spoken to. It is served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { isoTime } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import type { ExplainSites, SiteReport } from '../shaping/site-report.ts';
import { findSiteOf } from './site-store.ts';

/** The whole key of a site, one of its hosts, or a domain. */
const siteSchema = Type.Object({ name: Type.String({ minLength: 1, maxLength: 1_000 }) });

/** `explainSites` is undefined when no daemon runs: nothing is delivered then. */
type SiteApp = Pick<App, 'db'> & { explainSites: ExplainSites | undefined };

/** A site as the control socket answers with it. */
export type ShownSite = ReturnType<typeof showSite>;

/** Registers `GET /queue/site` on the server of the control socket. */
export function registerSiteReport(server: FastifyInstance, { db, explainSites }: SiteApp): void {
  server.get<{ Querystring: Static<typeof siteSchema> }>(
    '/queue/site',
    { schema: { querystring: siteSchema } },
    async ({ query }) => {
      if (!explainSites) throw new AppError('invalid_state', 'No daemon runs, so nothing is being delivered');
      const name = query.name.toLowerCase();
      const sites = await explainSites({ name, siteOfDomain: await findSiteOf(db.read, name) });
      if (sites.length === 0)
        throw new AppError(
          'not_found',
          `No site is known by ${name}: it is no host, key or domain of mail since the daemon started`,
        );
      return { sites: sites.map(showSite) };
    },
  );
}

function showSite({ limits, binding, restingTenants, restrictions, ...site }: SiteReport) {
  return {
    ...site,
    limits: Object.entries(limits).map(([limit, { value, origin }]) => ({
      limit,
      value,
      origin: { ...origin, until: 'until' in origin ? isoTime(origin.until) : null },
    })),
    binding: { ...binding, until: binding.until === null ? null : isoTime(binding.until) },
    restingTenants: restingTenants.map((one) => ({ ...one, until: isoTime(one.until) })),
    restrictions: restrictions.map(({ since, until, ...one }) => ({
      ...one,
      since: isoTime(since),
      until: isoTime(until),
    })),
  };
}
