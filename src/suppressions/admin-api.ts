/** Registers the operator's routes for the suppressions of one tenant. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { csvBody, MAX_CSV_BODY_BYTES } from '../http/json/csv-body.ts';
import { createImport } from '../imports/create.ts';
import { showImport } from '../imports/schemas.ts';
import { listJobs } from '../jobs/store.ts';
import { notFound } from '../system/errors.ts';
import { getOnlyTenant } from '../tenants/store.ts';
import { addSuppressions, removeSuppressions } from './change.ts';
import { suppressionImport } from './import.ts';
import { newSuppression, readAddress, readKey } from './request.ts';
import { newSuppressionSchema, suppressionFilter } from './schemas.ts';
import { showSuppression } from './show.ts';
import { listSuppressions } from './store.ts';

/** Maximum number of suppressions, and of imports, in one answer. */
const MAX_LISTED = 1_000;

/** `tenant` is an id or a name; it may be left out while there is only one tenant. */
const tenant = Type.Optional(Type.String());
const newSchema = Type.Object({ ...newSuppressionSchema.properties, tenant });
const listQuery = Type.Object({ ...suppressionFilter, tenant });
const tenantQuery = Type.Object({ tenant });
const importQuery = Type.Object({ tenant, reason: suppressionFilter.reason });

const PATH = '/suppressions';
const IMPORTS = `${PATH}/imports`;

/** Registers `POST` and `GET /suppressions`, `DELETE /suppressions/:key`, and `POST` and `GET /suppressions/imports`. */
export function registerSuppressionsAdmin(server: FastifyInstance, app: App): void {
  const ownerOf = async (name: string | undefined) => (await getOnlyTenant(app.db.read, name)).id;
  server.post<{ Body: Static<typeof newSchema> }>(PATH, { schema: { body: newSchema } }, async ({ body }) => {
    const now = app.clock.now();
    const wanted = [newSuppression(await ownerOf(body.tenant), body, now)];
    const [added] = await app.db.commit(addSuppressions, { wanted, cause: { mode: 'live', now } });
    if (!added) throw new Error('a suppression that was added has no answer');
    return { ...showSuppression(added.suppression), created: added.outcome === 'created' };
  });
  server.get<{ Querystring: Static<typeof listQuery> }>(
    PATH,
    { schema: { querystring: listQuery } },
    async ({ query: { tenant: name, email, reason } }) => {
      const filter = {
        ...(email !== undefined && { email: readAddress('email', email) }),
        ...(reason !== undefined && { reason }),
      };
      const page = await listSuppressions(app.db.read, await ownerOf(name), { ...filter, limit: MAX_LISTED });
      return { suppressions: page.items.map(showSuppression), hasMore: page.hasMore };
    },
  );
  server.delete<{ Params: { key: string }; Querystring: Static<typeof tenantQuery> }>(
    `${PATH}/:key`,
    { schema: { querystring: tenantQuery } },
    async ({ params, query }) => {
      const key = readKey(params.key);
      const cause = { mode: 'live', now: app.clock.now() } as const;
      const removal = { tenantId: await ownerOf(query.tenant), keys: [key], cause };
      const [removed] = await app.db.commit(removeSuppressions, removal);
      if (!removed) throw notFound('Suppression');
      return { removed: key };
    },
  );
  registerImports(server, app, ownerOf);
}

function registerImports(
  server: FastifyInstance,
  app: App,
  ownerOf: (name: string | undefined) => Promise<TenantRow['id']>,
): void {
  server.post<{ Body: Buffer; Querystring: Static<typeof importQuery> }>(
    IMPORTS,
    {
      bodyLimit: MAX_CSV_BODY_BYTES,
      config: { takesCsv: true },
      schema: {
        querystring: importQuery,
        body: csvBody('A file with addresses.', 'email\r\nreader@example.com\r\n'),
      },
    },
    async ({ body: file, query: { tenant: name, reason } }) => {
      const options = reason === undefined ? {} : { reason };
      const wanted = {
        tenantId: await ownerOf(name),
        kind: 'suppressions',
        audienceId: null,
        options,
        file,
      } as const;
      return showImport(await createImport(app, suppressionImport, wanted));
    },
  );
  server.get<{ Querystring: Static<typeof tenantQuery> }>(
    IMPORTS,
    { schema: { querystring: tenantQuery } },
    async ({ query }) => {
      const reach = { tenantId: await ownerOf(query.tenant), domainId: null };
      const wanted = { type: 'import', kind: 'suppressions', limit: MAX_LISTED } as const;
      const page = await listJobs(app.db.read, reach, wanted);
      return { imports: page.items.map(showImport), hasMore: page.hasMore };
    },
  );
}
