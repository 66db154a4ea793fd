/**
 * An HTTP app for programs: JSON requests and responses, strict schemas, one error envelope, and OpenAPI from the same
 * schemas. It knows nothing about the product.
 */
import fastJson from 'fast-json-stringify';
import type { FastifyReply, FastifySchema, preValidationHookHandler, RouteOptions } from 'fastify';
import { AppError, invalid } from '../../system/errors.ts';
import type { System } from '../../system/system.ts';
import { createTransport, type HttpOptions, type HttpServer } from '../transport/server.ts';
import { compileOnce } from './compile-once.ts';
import { readCsvBodies } from './csv-body.ts';
import { refuseFields } from './field-refusals.ts';
import { readJsonBodies } from './json-body.ts';
import { propertiesOf, rejectNearMisses } from './near-misses.ts';
import { type ApiDescription, describeRoutes } from './openapi.ts';
import { type ProblemShape, sendProblem } from './problem.ts';
import { checkSchemas } from './validators.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True when a request without a body counts as one with an empty object. */
    bodyOptional?: boolean;
  }
}

/** Maximum size of a body: a template with 1 MB each of HTML and text, and their escapes. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum size of a body with attachments. */
export const MAX_ATTACHMENTS_BODY_BYTES = 40 * 1024 * 1024;

/** Creates a server, which does not listen yet. Routes are registered on it afterwards. */
export async function createHttpServer(
  system: Pick<System, 'clock' | 'log'>,
  about: ApiDescription,
  { problemShapes = [], ...options }: HttpOptions & { problemShapes?: readonly ProblemShape[] } = {},
): Promise<HttpServer> {
  const app = {
    name: 'http',
    maxBodyBytes: MAX_BODY_BYTES,
    sendError: (error: unknown, reply: FastifyReply) =>
      sendProblem({ log: system.log, shapes: problemShapes }, error, reply),
  };
  const server = createTransport(system, app, options);
  limitBodies(server);
  readJsonBodies(server);
  readCsvBodies(server);
  checkSchemas(server);
  writeAnswers(server);
  refuseFields(server);
  checkBeforeSchema(server);
  describeRoutes(server, about);
  return server;
}

/** Allows larger bodies on routes that accept attachments, unless they set a limit of their own. */
function limitBodies(server: HttpServer): void {
  server.addHook('onRoute', (route) => {
    if (route.config?.detachesContent) route.bodyLimit ??= MAX_ATTACHMENTS_BODY_BYTES;
  });
}

/** Serialisers of all servers of this process. */
const serializer = compileOnce((schema) => fastJson(schema));

/** Compiles the serialisers of responses at their first use, with the same library that Fastify uses. */
function writeAnswers(server: HttpServer): void {
  server.setSerializerCompiler<object>(({ schema }) => {
    const findWrite = serializer(schema);
    return (value) => findWrite()(value);
  });
}

/**
 * Adds the checks whose messages are clearer than those of a schema. They run before the hooks of the route itself. A route that is
 * registered with the options of another one has these checks already.
 */
function checkBeforeSchema(server: HttpServer): void {
  const checked = new WeakSet<object>();
  server.addHook('onRoute', (route) => {
    const { schema = {}, config } = route;
    if (typeof route.preValidation === 'object' && checked.has(route.preValidation)) return;
    const hooks = [rejectNearMisses(schema)];
    if (schema.body) hooks.unshift(requireBody(schema.body, config));
    if (schema.querystring) hooks.push(rejectRepetition(schema));
    route.preValidation = [...hooks, ...[route.preValidation ?? []].flat()];
    checked.add(route.preValidation);
  });
}

function requireBody(body: object, config: RouteOptions['config'] = {}): preValidationHookHandler {
  const type = config.takesCsv ? 'CSV' : 'JSON';
  return (request, _reply, done) => {
    if (request.body !== undefined) return done();
    if (!config.bodyOptional)
      return done(new AppError('validation_error', `A ${type} body is required${withField(body)}`));
    request.body = {};
    done();
  };
}

/** Names the field when the body has only one required field, so that the caller need not look it up. */
function withField(schema: object): string {
  const [field, ...others] = 'required' in schema && Array.isArray(schema.required) ? schema.required : [];
  return field !== undefined && others.length === 0 ? `, with \`${field}\`` : '';
}

/** Refuses a parameter that occurs twice, such as `?limit=1&limit=2`, because its meaning is ambiguous. */
function rejectRepetition({ querystring }: FastifySchema): preValidationHookHandler {
  const known = propertiesOf(querystring) ?? [];
  return ({ query }, _reply, done) => {
    const given = query as Readonly<Record<string, unknown>>;
    const repeated = known.find((name) => Array.isArray(given[name]));
    done(repeated === undefined ? undefined : invalid(repeated, `\`${repeated}\` may be given only once`));
  };
}
