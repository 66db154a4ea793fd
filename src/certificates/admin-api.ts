/** The operator's routes about certificates, on the control socket. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { type Continuation, pageOfFound } from '../db/continued.ts';
import { continuedQuery, DEFAULT_ITEMS } from '../db/continued-query.ts';
import { sealCertificateKey } from './acme/certificate-key.ts';
import { findCertificate, removeAccount, renewNow } from './acme/store.ts';
import type { CertificateAdmin } from './certificates.ts';
import { type CertificateState, type CertificateStatus, namesOf, stateOf } from './show.ts';

/** `name` selects the certificates with a host name that contains it. */
const listQuery = Type.Object({ ...continuedQuery, name: Type.Optional(Type.String()) });

type Listed = CertificateStatus & { state: CertificateState };

/** A page of certificates as the control socket answers with it: those that need attention, and then the others. */
export type ShownCertificates = Continuation & { certificates: Listed[] };

type Renewal = { Params: { name: string }; Querystring: { newKey?: boolean } };

/** Registers the routes. */
export function registerCertificateAdmin(
  server: FastifyInstance,
  app: Pick<App, 'clock' | 'config' | 'db' | 'sealer'> & { certificates: CertificateAdmin },
): void {
  server.get<{ Querystring: Static<typeof listQuery> }>(
    '/certificates',
    { schema: { querystring: listQuery } },
    async ({ query }) => listPage(app, query),
  );
  server.post('/certificates/reload', () => app.certificates.reload());
  server.post('/certificates/new-account', async () => {
    const { directory } = app.config.acme;
    await app.db.commit(removeAccount, { directory, now: app.clock.now() });
    return { directory };
  });
  server.post<Renewal>(
    '/certificates/:name/renew',
    { schema: { querystring: Type.Object({ newKey: Type.Optional(Type.Boolean()) }) } },
    async ({ params: { name }, query: { newKey = false } }) => {
      const row = newKey ? await findCertificate(app.db.read, name) : undefined;
      const nextKeySealed = row ? await sealCertificateKey(app, row) : null;
      const { tenantId } = await app.db.commit(renewNow, { name, nextKeySealed, now: app.clock.now() });
      return { name, tenantId };
    },
  );
}

/** The certificates are in memory. One that begins to need attention while somebody turns the pages may be on two of them, or on none. */
async function listPage(
  { certificates, clock }: Pick<App, 'clock'> & { certificates: CertificateAdmin },
  { name = '', after = '', limit = DEFAULT_ITEMS }: Static<typeof listQuery>,
): Promise<ShownCertificates> {
  const wanted = name.toLowerCase();
  const now = clock.now();
  const found = (await certificates.list())
    .filter((one) => wanted === '' || namesOf(one).some((text) => text.includes(wanted)))
    .map((one) => ({ ...one, state: stateOf(one, now) }))
    .map((one) => ({ one, place: placeOf(one) }))
    .filter(({ place }) => place > after)
    .sort((one, other) => (one.place < other.place ? -1 : 1));
  const { items, ...continuation } = pageOfFound(found.slice(0, limit + 1), limit, ({ place }) => place);
  return { ...continuation, certificates: items.map(({ one }) => one) };
}

/** Returns the place of a certificate in the list. */
function placeOf({ state, keyType, ...one }: Listed): string {
  const name = one.order?.name ?? one.certificate ?? '';
  return [state === 'valid' ? 'valid' : 'attention', name, keyType ?? ''].join(' ');
}
