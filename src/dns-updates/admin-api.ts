/** Registers the operator's routes of dynamic updates. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { getNamedDomain } from '../domains/operator-store.ts';
import { invalid } from '../system/errors.ts';
import { zoneOf } from './plan.ts';
import type { DnsUpdates } from './updates.ts';

const oneQuery = Type.Object({ tenant: Type.Optional(Type.String()) });

/** The id or the name of a domain. */
type ByName = { Params: { name: string }; Querystring: Static<typeof oneQuery> };

/** Registers `GET /dns-updates`, `POST /dns-updates/run` and `POST /domains/:name/publish`. */
export function registerDnsUpdatesAdmin(
  server: FastifyInstance,
  app: Pick<App, 'config' | 'db'> & { dnsUpdates: DnsUpdates },
): void {
  server.get('/dns-updates', async () => app.dnsUpdates.report);
  server.post('/dns-updates/run', () => app.dnsUpdates.run());
  server.post<ByName>('/domains/:name/publish', { schema: { querystring: oneQuery } }, async (request) => {
    const { params, query } = request;
    const domain = await getNamedDomain(app.db.read, params.name, query.tenant);
    requireZone(app, domain.name);
    return app.dnsUpdates.publishDomain(domain);
  });
}

/** @throws AppError validation_error when no zone of the updates contains the name */
function requireZone({ config }: Pick<App, 'config'>, name: string): void {
  const { server, zones } = config.dns.update;
  if (server === '')
    throw invalid('name', `${name} cannot be published: dynamic updates are off (dns.update.server)`);
  if (
    zoneOf(
      name,
      zones.map((zone) => zone.toLowerCase()),
    ) === undefined
  )
    throw invalid(
      'name',
      `${name} cannot be published: it is in no zone of dns.update.zones (${zones.join(', ')})`,
    );
}
