/** An HTTP server with a few routes of its own and a log that is kept. */
import type { FastifyInstance, InjectOptions } from 'fastify';
import { Type } from 'typebox';
import type { SomeHeaders } from '../../src/http/json/openapi/answers.ts';
import { pageQuery } from '../../src/http/json/page.ts';
import { createHttpServer } from '../../src/http/json/server.ts';
import type { HttpOptions } from '../../src/http/transport/server.ts';
import { AppError } from '../../src/system/errors.ts';
import type { Log } from '../../src/system/log.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const things = Type.Object({
  name: Type.String({ minLength: 1 }),
  size: Type.Optional(Type.Integer({ minimum: 1 })),
  open: Type.Optional(Type.Boolean()),
  to: Type.Optional(Type.Array(Type.Object({ email: Type.String() }))),
});

export type ServeOptions = HttpOptions & { clock?: FakeClock; headers?: SomeHeaders };

export type Logged = { err: Error; requestId: string; route: string };

/** `more`: routes besides, added before the server is ready. */
export async function serve(
  { clock = createFakeClock(Date.UTC(2030, 0, 1)), headers, ...options }: ServeOptions = {},
  more: (server: FastifyInstance) => void = () => {},
) {
  const errors: Logged[] = [];
  const log = { error: (fields: Logged) => errors.push(fields) } as unknown as Log;
  const server = await createHttpServer(
    { clock, log },
    { title: 'Test', description: 'Routes of a test', version: '1.2.3', ...(headers && { headers }) },
    options,
  );
  addRoutes(server);
  more(server);
  await server.ready();
  return { server, errors, send: (request: InjectOptions) => send(server, request) };
}

function addRoutes(server: FastifyInstance): void {
  server.post('/things', { schema: { body: things } }, async (request) => ({ got: request.body }));
  server.get('/things', { schema: { querystring: Type.Object(pageQuery) } }, async (request) => ({
    got: request.query,
  }));
  server.get('/things/:id', async (request) => ({ got: request.params }));
  server.delete('/things/:id', async (_request, reply) => reply.code(204).send());
  server.post('/things/:id/send', async (request) => ({ got: request.body ?? null }));
  server.get('/refused', async () => {
    throw new AppError('domain_in_use', 'Two emails are scheduled', {
      details: { scheduledEmails: 2 },
      retryAfterSeconds: 5,
      param: 'name',
      cause: new Error('hidden cause'),
    });
  });
  server.get('/broken', async () => {
    throw new TypeError('secret detail of a bug');
  });
  server.get('/full', async () => {
    throw new AppError('unavailable', 'No room');
  });
  server.get('/odd', async () => {
    throw { statusCode: 400, message: 'not even an error' };
  });
}

async function send(server: FastifyInstance, request: InjectOptions) {
  const response = await server.inject(request);
  return {
    status: response.statusCode,
    headers: response.headers,
    // biome-ignore lint/suspicious/noExplicitAny: what was answered is what the test is about to find out.
    body: (response.body === '' ? undefined : response.json()) as any,
  };
}
