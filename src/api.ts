/** The public HTTP API: every feature's routes under /v1, behind a key, and what is served without one. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from './app.ts';
import { registerDomainsApi } from './domains/api.ts';
import { registerEmailsApi } from './emails/api.ts';
import { createByteBudget } from './http/byte-budget.ts';
import { serveMetrics } from './http/metrics.ts';
import { createHttpServer } from './http/server.ts';
import { createOverloadCheck, shedWrites } from './http/shed.ts';
import { registerTemplatesApi } from './templates/api.ts';
import { findPlannedCaller, requireApiKey } from './tenants/authenticate.ts';
import { showQuota } from './tenants/quota-headers.ts';
import { registerTopicsApi } from './topics/api.ts';
import { VERSION } from './version.ts';
import { registerWebhookApi } from './webhooks/api.ts';

export async function createApiServer(app: App): Promise<FastifyInstance> {
  const info = { title: 'Postrider', description: 'Email delivery API', version: VERSION };
  const bodies = createByteBudget();
  const server = await createHttpServer(app, info, { metrics: app.metrics, bodies, holderOf });
  if (app.config.http.metrics) serveMetrics(server, app.metrics, 'local');
  server.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok', version: VERSION }));
  server.get('/v1/openapi.json', { schema: { hide: true } }, async () => server.swagger());
  await server.register(
    (v1, _options, done) => {
      requireApiKey(v1, app);
      showQuota(v1, app);
      shedWrites(v1, overloadCheck(app), app.metrics);
      registerEmailsApi(v1, { ...app, bodies });
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

/** Every route that takes a body is behind a key. */
function holderOf(request: FastifyRequest): string {
  return findPlannedCaller(request)?.caller.tenantId ?? request.ip;
}

function overloadCheck({ db, metrics }: Pick<App, 'db' | 'metrics'>) {
  return createOverloadCheck({
    writerLagMs: () => db.lagMs,
    pendingWrites: () => db.pendingWrites,
    pendingBytes: () => db.pendingBytes,
    loopDelayMs: () => metrics.loopDelay.meanMs,
  });
}
