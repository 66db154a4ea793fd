/**
 * The OpenAPI 3.1 document of a server, made of its routes: the same schemas that check requests and write answers, and
 * each refusal a route can answer with. Nothing is said twice, so the document cannot drift from the code.
 * Made once, when first asked for.
 */
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { ErrorCode } from '../system/errors.ts';
import { createAnswers, type SomeHeaders } from './openapi/answers.ts';
import { describeOperation, type Operation } from './openapi/operation.ts';
import { createSchemas } from './openapi/schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What this route refuses that not every route of its kind does; the document lists it with its status. */
    refuses?: readonly ErrorCode[];
  }
  interface FastifySchema {
    /** Not in the document, and no key is asked for. */
    hide?: boolean;
    operationId?: string;
    summary?: string;
    description?: string;
    tags?: readonly string[];
  }
  interface FastifyInstance {
    /** The document of all routes. @throws Error when they contradict each other: the same title for two schemas */
    openApi(): OpenApiDocument;
  }
}

export type ApiDescription = {
  title: string;
  description: string;
  version: string;
  /** `identifier`: of the SPDX list. */
  license?: { name: string; identifier: string };
  contact?: { name: string; email: string };
  /** In the order of the document. */
  tags?: readonly { name: string; description: string }[];
  headers?: SomeHeaders;
  /** What the API posts by itself. */
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

/** A route's `config`, where only refusals are said. */
export function refusing(...refuses: readonly ErrorCode[]) {
  return { refuses };
}

/** For every route registered on `server` after this. */
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
  { tags = [], webhooks = [], headers, ...info }: ApiDescription,
): OpenApiDocument {
  const schemas = createSchemas();
  const answers = createAnswers(schemas, headers);
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}');
    for (const method of [route.method].flat()) {
      const operation = describeOperation(route, method, { schemas, answers: answers.of(route) });
      paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
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
      responses: { '2XX': { description: 'The receiver has it. Any other answer is asked again later.' } },
    },
  };
}
