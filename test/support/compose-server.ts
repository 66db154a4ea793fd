/** Until src/main.ts exports `createApiServer`: every `src/<feature>/api.ts` that exists, behind its key. */
import { existsSync, globSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import type { App } from '../../src/app.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { requireApiKey } from '../../src/tenants/authenticate.ts';

const SOURCES = new URL('../../src/', import.meta.url);

type Register = (server: FastifyInstance, app: App) => void | Promise<void>;

export async function composeServer(app: App): Promise<FastifyInstance> {
  const main = new URL('main.ts', SOURCES);
  if (existsSync(main)) {
    const module = (await import(main.href)) as { createApiServer?: (app: App) => Promise<FastifyInstance> };
    if (module.createApiServer) return module.createApiServer(app);
  }
  const server = await createHttpServer(app, { title: 'Postrider', description: '', version: '0.0.0' });
  const apis = globSync('*/api.ts', { cwd: SOURCES });
  await server.register(
    // biome-ignore lint/nursery/noMisusedPromises: Fastify awaits what a plugin returns.
    async (scope) => {
      requireApiKey(scope, app);
      for (const api of apis) {
        const module = (await import(new URL(api, SOURCES).href)) as Record<string, unknown>;
        for (const [name, value] of Object.entries(module)) {
          if (/^register\w+Api$/.test(name)) await (value as Register)(scope, app);
        }
      }
    },
    { prefix: '/v1' },
  );
  return server;
}
