/** The operator's routes about certificates, on the control socket. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { sealCertificateKey } from './acme/certificate-key.ts';
import { findCertificate, removeAccount, renewNow } from './acme/store.ts';
import type { CertificateAdmin } from './certificates.ts';

type Renewal = { Params: { name: string }; Querystring: { newKey?: boolean } };

/** Registers the routes. */
export function registerCertificateAdmin(
  server: FastifyInstance,
  app: Pick<App, 'clock' | 'config' | 'db' | 'sealer'> & { certificates: CertificateAdmin },
): void {
  server.get('/certificates', () => app.certificates.list());
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
      await app.db.commit(renewNow, { name, nextKeySealed, now: app.clock.now() });
      return { name };
    },
  );
}
