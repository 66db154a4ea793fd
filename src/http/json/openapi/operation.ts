/** Describes one route as an operation of the document: its parameters, body, responses and refusals. */
import type { RouteOptions } from 'fastify';
import type { AnyCode } from '../../transport/refusal.ts';
import type { AnswersOfRoute } from './answers.ts';
import type { Schemas } from './schemas.ts';

export type Operation = {
  operationId?: string;
  summary?: string;
  description?: string;
  tags: readonly string[];
  parameters?: readonly object[];
  requestBody?: object;
  responses: Record<string, object>;
  'x-codeSamples'?: unknown;
};

type Context = { schemas: Schemas; answers: AnswersOfRoute };
type Schema = Readonly<Record<string, unknown>>;

/** Refusals that every route behind a key may have. */
const BEHIND_A_KEY = [
  'validation_error',
  'missing_api_key',
  'invalid_api_key',
  'restricted_api_key',
  'rate_limited',
  'internal_error',
  'unavailable',
  'interrupted',
] as const satisfies readonly AnyCode[];
/** Refusals of routes whose method allows a body. It is read and checked even when the route ignores it. */
const WITH_A_BODY = [
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies readonly AnyCode[];
const BODY_METHODS = ['POST', 'PUT', 'PATCH'];

/** Returns the operation of a route for one of its methods. */
export function describeOperation(route: RouteOptions, method: string, context: Context): Operation {
  const { schema = {}, config } = route;
  const {
    operationId,
    summary,
    description,
    tags = [],
    body,
    params,
    querystring,
    headers,
    response,
  } = schema;
  const codes: AnyCode[] = [
    ...BEHIND_A_KEY,
    ...(route.url.includes(':') ? (['not_found'] as const) : []),
    ...(body !== undefined || BODY_METHODS.includes(method) ? WITH_A_BODY : []),
    ...(config?.refuses ?? []),
  ];
  const parameters = [
    ...describeParameters('path', params, context.schemas),
    ...describeParameters('query', querystring, context.schemas),
    ...describeParameters('header', headers, context.schemas),
  ];
  const replayed = hasProperty(headers, 'idempotency-key') ? ['Idempotency-Replayed'] : [];
  return {
    ...(operationId !== undefined && { operationId }),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    tags,
    ...(parameters.length > 0 && { parameters }),
    ...(isSchema(body) && {
      requestBody: {
        ...descriptionOf(body),
        required: config?.bodyOptional !== true,
        content: contentOf(body, context.schemas),
      },
    }),
    responses: {
      ...describeSuccesses(response, replayed, context),
      ...context.answers.refusals(codes),
    },
  };
}

function describeSuccesses(
  response: unknown,
  more: readonly string[],
  { schemas, answers }: Context,
): Record<string, object> {
  if (!isSchema(response)) return {};
  const successes = Object.entries(response).filter(([status]) => /^2\d\d$/.test(status));
  return Object.fromEntries(
    successes.map(([status, schema]) => {
      // The description belongs to the response, and not to its schema, which may occur elsewhere under the same
      // title.
      const { description = 'Done', ...answer } = isSchema(schema) ? schema : {};
      const headers = answers.headersOf(more);
      const content = answer['type'] === 'null' ? {} : { content: contentOf(answer, schemas) };
      return [status, { description, headers, ...content }];
    }),
  );
}

/**
 * Returns the content of a schema for JSON, or of one for each media type in Fastify's form `{ content: { [type]: {
 * schema } } }`.
 */
function contentOf(schema: Schema, schemas: Schemas): Record<string, object> {
  const { content } = schema;
  const byType = isSchema(content) ? content : { 'application/json': { schema } };
  return Object.fromEntries(
    Object.entries(byType).map(([type, media]) => {
      const of = isSchema(media) && isSchema(media['schema']) ? media['schema'] : {};
      return [type, mediaOf(of, schemas)];
    }),
  );
}

/** Returns the description of a whole body. Readers of the document expect it here rather than in its schema. */
function descriptionOf(body: Schema): { description?: unknown } {
  const { content } = body;
  const [media] = isSchema(content) ? Object.values(content) : [{ schema: body }];
  const { description } = isSchema(media) && isSchema(media['schema']) ? media['schema'] : {};
  return description === undefined ? {} : { description };
}

/**
 * Returns the content of one media type. The example lies beside the schema, where every reader of OpenAPI expects
 * it.
 */
function mediaOf(schema: Schema, schemas: Schemas): object {
  const { examples, ...rest } = schema;
  const [example] = Array.isArray(examples) ? examples : [];
  const isComponent = schema['title'] !== undefined;
  return {
    schema: schemas.reference(isComponent ? schema : rest),
    ...(example !== undefined && { example }),
  };
}

function describeParameters(place: 'path' | 'query' | 'header', from: unknown, schemas: Schemas): object[] {
  if (!isSchema(from) || !isSchema(from['properties'])) return [];
  const { properties, required } = from;
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = isSchema(schema) ? schema : {};
    return {
      name: place === 'header' ? headerName(name) : name,
      in: place,
      ...(description !== undefined && { description }),
      ...((place === 'path' || isRequired(name)) && { required: true }),
      schema: schemas.reference(rest),
    };
  });
}

/** Converts the name of a header: `idempotency-key` becomes `Idempotency-Key`. */
function headerName(name: string): string {
  return name.replace(/(?:^|-)\w/g, (letter) => letter.toUpperCase());
}

function hasProperty(schema: unknown, name: string): boolean {
  return isSchema(schema) && isSchema(schema['properties']) && Object.hasOwn(schema['properties'], name);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}
