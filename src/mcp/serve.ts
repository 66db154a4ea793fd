/**
 * `POST /mcp`: tools for agents by MCP (Streamable HTTP, specification of 2026-07-28, and the stateless part of those before). Its key is an API
 * key, with which the tools call the operations of the API in this process: every check, limit and log of the API holds.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { callsOf } from '../http/json/calls.ts';
import { AppError } from '../system/errors.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { createToolCalls } from './call-tool.ts';
import { createDoor } from './door.ts';
import { openProtocol, type Protocol, type Sender } from './protocol.ts';

const MCP_PATH = '/mcp';
/** Maximum size of a message: 200,000 characters each of HTML and text, which JSON may write with escapes. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Origin of requests to the protocol. It reads the headers alone. */
const ANY_ORIGIN = 'http://in-process.invalid';

type McpApp = Pick<App, 'clock' | 'config' | 'log'> & {
  /** Makes the routes of a scope require a key. All scopes of the server share the limits of a key. */
  requireApiKey(scope: FastifyInstance): void;
};

/** Registers the route. */
export function serveMcp(server: FastifyInstance, app: McpApp): void {
  if (!app.config.mcp.enabled) return;
  const requireOwn = createDoor(app.config);
  const calls = createToolCalls(app);
  let opened: Promise<Protocol> | undefined;
  const open = (): Promise<Protocol> => {
    opened ??= openProtocol(calls, app.log);
    return opened;
  };
  server.addHook('onClose', async () => (await opened)?.close());
  void server.register(
    (scope, _options, done) => {
      scope.addHook('onRequest', async (request) => requireOwn(request));
      app.requireApiKey(scope);
      scope.post(
        '/',
        { bodyLimit: MAX_MESSAGE_BYTES, config: { needs: 'any' }, schema: { hide: true } },
        async (request, reply) => {
          requireMessage(request.body);
          const protocol = await open();
          const response = await protocol.answer(
            asWebRequest(request),
            request.body,
            senderOf(server, request),
          );
          return sendResponse(reply, response);
        },
      );
      done();
    },
    { prefix: MCP_PATH },
  );
}

/**
 * Checks that the body is one message. The specification has not allowed lists of them since 2025-06-18.
 * @throws AppError validation_error
 */
function requireMessage(body: unknown): void {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return;
  throw new AppError('validation_error', 'The body must be one message of JSON-RPC 2.0, an object');
}

function senderOf(server: FastifyInstance, request: FastifyRequest): Sender {
  const caller = {
    prefix: '/v1',
    clientAddress: request.clientAddress,
    headers: { authorization: request.headers.authorization ?? '' },
  };
  const apiOnce = (idempotencyKey: string) => callsOf(() => server, { ...caller, idempotencyKey });
  const { tenantId, mailboxId } = callerOf(request);
  return {
    owner: mailboxId ?? tenantId,
    context: {
      mailboxId,
      api: callsOf(() => server, caller),
      apiOnce,
      newIdempotencyKey: () => `mcp-${randomUUID()}`,
    },
  };
}

/** Returns a request as the protocol takes it. A call whose client has left goes on, because what it has begun cannot be taken back. */
function asWebRequest({ headers }: FastifyRequest): Request {
  const given = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (READ_HEADERS.test(name) && typeof value === 'string') given.set(name, value);
  }
  return new Request(new URL(MCP_PATH, ANY_ORIGIN), { method: 'POST', headers: given });
}

/** Matches the headers that the protocol reads. The key is not one of them. */
const READ_HEADERS = /^(?:accept|content-type|mcp-[a-z-]+)$/;

/** Sends the answer of the protocol. It is whole before it is sent, since a tool ends within a bounded time. */
async function sendResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  const body = Buffer.from(await response.arrayBuffer());
  reply.code(response.status);
  const type = response.headers.get('content-type');
  if (type !== null) reply.header('content-type', type);
  return reply.header('cache-control', 'no-store').send(body.length === 0 ? undefined : body);
}
