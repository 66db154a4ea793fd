/**
 * The OpenAPI 3.1 document of a server. It is made from the routes: from the schemas that check requests and
 * serialise responses, and from the refusals of each route, so that it always matches the code. It is made once, when
 * it is first requested.
 */
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { ErrorCode } from '../../system/errors.ts';
import { createAnswers, type SomeHeaders } from './openapi/answers.ts';
import { describeOperation, type Operation } from './openapi/operation.ts';
import { createSchemas } from './openapi/schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Refusals of this route that not every route of its kind has. The document lists them with their status. */
    refuses?: readonly ErrorCode[];
  }
  interface FastifySchema {
    /** True when the document leaves the route out. */
    hide?: boolean;
    operationId?: string;
    summary?: string;
    description?: string;
    tags?: readonly string[];
  }
  interface FastifyInstance {
    /**
     * Returns the document of all routes.
     * @throws Error when two different schemas have the same title
     */
    openApi(): OpenApiDocument;
  }
}

export type ApiDescription = {
  title: string;
  description: string;
  version: string;
  /** License of the API. `identifier` is an SPDX identifier. */
  license?: { name: string; identifier: string };
  contact?: { name: string; email: string };
  /** Groups of routes, in the order of the document. */
  tags?: readonly { name: string; description: string }[];
  headers?: SomeHeaders;
  /** Returns the calls of each operation in several languages, by its id, in the form of the extension `x-codeSamples`. */
  codeSamples?: () => Readonly<Record<string, unknown>>;
  /** Webhook posts that the API sends. */
  webhooks?: readonly WebhookDescription[];
};

export type WebhookDescription = {
  name: string;
  operationId: string;
  summary: string;
  description: string;
  tag: string;
  schema: object;
  example: unknown;
};

export type OpenApiDocument = {
  openapi: '3.1.0';
  info: object;
  servers: readonly { url: string }[];
  tags: readonly { name: string; description: string }[];
  security: readonly Record<string, readonly string[]>[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, object>;
  components: Record<'schemas' | 'responses' | 'headers' | 'securitySchemes', Record<string, object>>;
};

/** Collects every route that is registered on `server` afterwards. */
export function describeRoutes(server: FastifyInstance, about: ApiDescription): void {
  const routes: RouteOptions[] = [];
  let document: OpenApiDocument | undefined;
  server.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD' && route.schema?.hide !== true) routes.push(route);
  });
  server.decorate('openApi', () => {
    document ??= describe(routes, about);
    return document;
  });
}

function describe(
  routes: readonly RouteOptions[],
  { tags = [], webhooks = [], headers, codeSamples = () => ({}), ...info }: ApiDescription,
): OpenApiDocument {
  const schemas = createSchemas();
  const answers = createAnswers(schemas, headers);
  const paths: OpenApiDocument['paths'] = {};
  const samples = codeSamples();
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    for (const method of [route.method].flat()) {
      const operation = describeOperation(route, method, { schemas, answers: answers.of(route) });
      const calls = samples[operation.operationId ?? ''];
      paths[path] = {
        ...paths[path],
        [method.toLowerCase()]: { ...operation, ...(calls !== undefined && { 'x-codeSamples': calls }) },
      };
    }
  }
  const posts = webhooks.map((webhook) => [webhook.name, describePost(webhook, schemas.reference)] as const);
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags,
    security: [{ apiKey: [] }],
    paths,
    ...(posts.length > 0 && { webhooks: Object.fromEntries(posts) }),
    components: {
      schemas: schemas.components,
      responses: answers.responses,
      headers: answers.headers,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, sent as `Authorization: Bearer <key>`.',
        },
      },
    },
  };
}

function describePost(
  { operationId, summary, description, tag, schema, example }: WebhookDescription,
  reference: (schema: object) => object,
): object {
  return {
    post: {
      operationId,
      summary,
      description,
      tags: [tag],
      security: [],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: reference(schema), example } },
      },
      responses: {
        '2XX': {
          description: 'The receiver has accepted the event. After any other response it is posted again.',
        },
      },
    },
  };
}
