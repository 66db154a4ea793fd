/**
 * Reads the operations of the API from its OpenAPI document, so that tests cover new operations without being changed.
 * An operation with ids of an unknown kind is refused.
 */
import { DOMAIN_REACH } from '../../../src/features.ts';
import type { Operation } from '../../../src/http/json/openapi/operation.ts';
import type { OpenApiDocument } from '../../../src/http/json/openapi.ts';
import type { TestMethod } from '../test-app.ts';
import type { Prefix } from './resource.ts';
import { prefixOf } from './resources.ts';

/** Nouns that a number follows, which is not an id. */
const NUMBERED: readonly string[] = ['attachments'];

export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  anyOf?: readonly Schema[];
};

export type BodyOf = { type: string; isRequired: boolean; schema: Schema; example: unknown };

export type ApiOperation = {
  /** The `operationId`. */
  name: string;
  method: TestMethod;
  /** Path with parameters such as `{id}`. */
  path: string;
  ids: readonly { name: string; prefix: Prefix }[];
  query: readonly { name: string; schema: Schema }[];
  body?: BodyOf;
  /** Statuses of success: those below 300. */
  successes: readonly number[];
  /** Prefix of the cursors of a list; undefined for other operations. */
  listed?: Prefix;
};

type Parameter = { name: string; in: string; schema: Schema };
type RequestBody = { required: boolean; content: Record<string, { schema: Schema; example?: unknown }> };

/**
 * Returns the operations of the document that keys of a tenant use, in its order. Those about the messages of one mailbox refuse all of these
 * keys; test/mailbox-messages/ asks them.
 */
export function operationsOf(document: OpenApiDocument): ApiOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId = '' }]) => DOMAIN_REACH.get(operationId) !== 'mailbox')
      .map(([method, operation]) => readOperation(document, { path, method, operation })),
  );
}

function readOperation(
  document: OpenApiDocument,
  { path, method, operation }: { path: string; method: string; operation: Operation },
): ApiOperation {
  const parameters = (operation.parameters ?? []) as readonly Parameter[];
  const query = parameters.filter((one) => one.in === 'query');
  const isList = query.some(({ name }) => name === 'startingAfter');
  const body = readBody(document, operation.requestBody as RequestBody | undefined);
  return {
    ...{ name: operation.operationId ?? '', method: method.toUpperCase() as TestMethod, path, query },
    ids: [...path.matchAll(/([\w-]+)\/\{(\w+)\}/g)]
      .filter(([, noun = '']) => !NUMBERED.includes(noun))
      .map(([, noun = '', name = '']) => ({ name, prefix: prefixOf(noun, path) })),
    successes: Object.keys(operation.responses)
      .map(Number)
      .filter((status) => status < 300),
    ...(body && { body }),
    ...(isList && { listed: prefixOf(path.split('/').at(-1) ?? '', path) }),
  };
}

function readBody(document: OpenApiDocument, body: RequestBody | undefined): BodyOf | undefined {
  const [[type, media] = []] = Object.entries(body?.content ?? {});
  if (!body || type === undefined || !media) return undefined;
  const schema = dereferenced(document, media.schema);
  return { type, isRequired: body.required, schema, example: media.example };
}

/** Returns the schema with its references replaced. The document has no recursive schemas here. */
function dereferenced(document: OpenApiDocument, schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, value) => {
    const reference: unknown = value?.$ref;
    if (typeof reference !== 'string') return value;
    const name = reference.replace('#/components/schemas/', '');
    return dereferenced(document, document.components.schemas[name] as Schema);
  });
}

/** Returns the operation that deletes a resource with such an id; undefined when there is none. */
export function findDelete(operations: readonly ApiOperation[], prefix: Prefix): ApiOperation | undefined {
  return operations.find(({ method, ids }) => method === 'DELETE' && ids.at(-1)?.prefix === prefix);
}
