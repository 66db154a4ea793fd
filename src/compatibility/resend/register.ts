/**
 * Serves calls of Resend's API with the routes of our operations. The body is parsed once: hooks of the scope translate the request before
 * the checks of the operation, and the answer before it is written.
 */
import type { FastifyInstance, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify';
import type { App } from '../../app.ts';
import { type Calls, callsOf } from '../../http/json/calls.ts';
import type { Operations } from '../../http/json/collect-operations.ts';
import { replaceBody } from '../../http/json/given-body.ts';
import { problemTypeOf } from '../../http/json/problem.ts';
import { apiOrigin } from '../../links/origin.ts';
import { createDownloadLinks } from '../../routes/post/links.ts';
import type { Id } from '../../system/ids.ts';
import type { Access, Asked, Call, ComposedCall, Given, Links, TranslatedCall } from './call.ts';

const givenField = Symbol('given');

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Call of Resend's API that this route translates. */
    resendCall?: TranslatedCall;
  }
  interface FastifyRequest {
    [givenField]?: Given;
  }
}

/** Its server has the operations under /v1. */
export type CallApp = Pick<App, 'clock' | 'db' | 'config' | 'sealer'> & { server: FastifyInstance };

/** The app with what all calls share. */
type Linked = CallApp & { links: Links };

/**
 * Registers the calls on a scope that requires and limits API keys.
 * @throws Error when an operation does not exist
 */
export function registerCalls(
  scope: FastifyInstance,
  callApp: CallApp,
  { calls, operations }: { calls: readonly Call[]; operations: Operations },
): void {
  const app = { ...callApp, links: linksOf(callApp) };
  translateAll(scope, app);
  for (const call of calls) {
    const operation = operations.get(call.operation);
    if (!operation) throw new Error(`there is no operation ${call.operation}`);
    scope.route('run' in call ? composedRoute(app, call, operation) : translatedRoute(call, operation));
  }
}

/** Adds the hooks that translate requests and answers to every route of the scope. */
function translateAll(scope: FastifyInstance, app: Linked): void {
  scope.decorateRequest(givenField, undefined);
  scope.addHook('preValidation', (request, _reply, done) => {
    const call = request.routeOptions.config.resendCall;
    if (!call) return done();
    const given = readGiven(request, app.clock.now());
    request[givenField] = given;
    const asked = call.ask?.(given, accessOf(app, request)) ?? {};
    if (!(asked instanceof Promise)) return done(void translate(request, asked));
    asked.then((later) => done(void translate(request, later)), done);
  });
  scope.addHook('preSerialization', (request, reply, payload: unknown, done) => {
    done(null, problemTypeOf(reply) ? payload : answerOf(app, request, payload));
  });
  scope.addHook('onSend', (request, reply, payload, done) => {
    // The clients parse the body of every answer.
    if (reply.statusCode !== 204) return done(null, payload);
    reply.code(200).type('application/json; charset=utf-8');
    done(null, JSON.stringify(answerOf(app, request, undefined)));
  });
}

function readGiven({ params, query, body, headers }: FastifyRequest, now: number): Given {
  return { params: params as Given['params'], query: query as Given['query'], body, headers, now };
}

function translate(request: FastifyRequest, { params, query = {}, body }: Asked): void {
  if (params) request.params = params;
  request.query = query;
  replaceBody(request, body);
}

function answerOf(app: Linked, request: FastifyRequest, payload: unknown): unknown {
  const call = request.routeOptions.config.resendCall;
  const given = request[givenField];
  return call && given ? call.answer(payload as never, given, accessOf(app, request)) : payload;
}

function linksOf(app: CallApp): Links {
  const received = createDownloadLinks(app);
  return {
    origin: apiOrigin(app.config),
    received: (messageId, file) => received.linkTo(messageId as Id<'in'>, file),
  };
}

function accessOf(app: Linked, request: FastifyRequest): Access {
  return { request, db: app.db, links: app.links, calls: () => callsFor(app, request) };
}

/** Returns the operations under /v1 as the key and the address of a request reach them. */
function callsFor({ server }: CallApp, { headers, clientAddress }: FastifyRequest): Calls {
  const { authorization } = headers;
  return callsOf(() => server, {
    prefix: '/v1',
    clientAddress,
    ...(authorization !== undefined && { headers: { authorization } }),
  });
}

/** Returns the route of a call that has the hooks, the limits and the handler of an operation. */
function translatedRoute(call: TranslatedCall, operation: RouteOptions): RouteOptions {
  const { method: _m, url: _u, ...options } = operation;
  const { response: _r, ...schema } = operation.schema ?? {};
  return {
    ...options,
    ...placeOf(call),
    schema: { ...schema, hide: true },
    config: { ...configOf(operation), resendCall: call },
  };
}

/** Returns the route of a call that runs itself. The limits of its operation hold before it does. */
function composedRoute(app: Linked, call: ComposedCall, operation: RouteOptions): RouteOptions {
  const { operationId } = operation.schema ?? {};
  return {
    ...placeOf(call),
    schema: { hide: true, ...(operationId !== undefined && { operationId }) },
    config: configOf(operation),
    handler: (request) =>
      call.run(readGiven(request, app.clock.now()), callsFor(app, request), accessOf(app, request)),
  };
}

function placeOf({ at }: Call): { method: HTTPMethods; url: string } {
  const [method = '', url = ''] = at.split(' ');
  return { method: method as HTTPMethods, url };
}

/** Returns the settings of an operation. The permission that follows from its method is written out: the call may have another method. */
function configOf({ method, config }: RouteOptions): NonNullable<RouteOptions['config']> {
  return { needs: method === 'GET' ? 'read' : 'write', ...config };
}
