/** The public HTTP API: every feature's routes under /v1, behind a key, and what is served without one. */
import type { FastifyInstance } from 'fastify';
import type { App } from './app.ts';
import { registerDomainsApi } from './domains/api.ts';
import { registerEmailsApi } from './emails/api.ts';
import { serveMetrics } from './http/metrics.ts';
import { createHttpServer } from './http/server.ts';
import { createOverloadCheck, shedWrites } from './http/shed.ts';
import { registerTemplatesApi } from './templates/api.ts';
import { requireApiKey } from './tenants/authenticate.ts';
import { showQuota } from './tenants/quota-headers.ts';
import { registerTopicsApi } from './topics/api.ts';
import { VERSION } from './version.ts';
import { registerWebhookApi } from './webhooks/api.ts';

export async function createApiServer(app: App): Promise<FastifyInstance> {
  const info = { title: 'Postrider', description: 'Email delivery API', version: VERSION };
  const server = await createHttpServer(app, info, { metrics: app.metrics });
  serveMetrics(server, app.metrics, 'local');
  server.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok', version: VERSION }));
  server.get('/v1/openapi.json', { schema: { hide: true } }, async () => server.swagger());
  await server.register(
    (v1, _options, done) => {
      requireApiKey(v1, app);
      showQuota(v1, app);
      shedWrites(v1, overloadCheck(app), app.metrics);
      registerEmailsApi(v1, app);
      registerDomainsApi(v1, app);
      registerTopicsApi(v1, app);
      registerTemplatesApi(v1, app);
      registerWebhookApi(v1, app);
      done();
    },
    { prefix: '/v1' },
  );
  await server.ready();
  return server;
}

function overloadCheck({ db, metrics }: Pick<App, 'db' | 'metrics'>) {
  return createOverloadCheck({
    writerLagMs: () => db.lagMs,
    pendingWrites: () => db.pendingWrites,
    pendingBytes: () => db.pendingBytes,
    loopDelayMs: () => metrics.loopDelay.meanMs,
  });
}
