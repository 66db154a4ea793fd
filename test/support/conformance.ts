/**
 * Checks that a response of the API matches its OpenAPI document: the path and method, the status, the media type, the
 * headers, and each field of the body. Fields that the document does not name are errors. Each validator is compiled at
 * its first use.
 */
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import type { OpenApiDocument } from '../../src/http/json/openapi.ts';

export type Exchange = {
  method: string;
  /** The path with its query. */
  url: string;
  status: number;
  headers: Readonly<Record<string, number | string | readonly string[] | undefined>>;
  text: string;
};

type Media = { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> };
export type Answer = {
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: Record<string, Media>;
};

const DOCUMENT = 'https://postrider.example/openapi.json';
/** Paths that the document does not describe. They are for people and for operators. */
const UNDOCUMENTED =
  /^\/(?:healthz|metrics|mcp|docs(?:\/.*)?|inbound\/downloads\/.*|compat\/.*|v1\/openapi\.json)?$/;
/** Statuses that any request can have, because they are sent before its route is known. */
const ANYWHERE = [408, 413, 415, 417, 431];

export type Conformance = {
  /**
   * Checks a response.
   * @throws AssertionError for a response that the document does not describe
   */
  check(exchange: Exchange): void;
  answer(of: object): Answer;
  /** Returns the validator of a schema. With `named`, fields that the schema does not name are errors. */
  validator(schema: object, fields: 'any' | 'named'): ValidateFunction;
};

const known = new WeakMap<OpenApiDocument, Conformance>();

/** Returns the checks for an API with this document. */
export function conformanceOf(document: OpenApiDocument): Conformance {
  const conformance = known.get(document) ?? createConformance(document);
  known.set(document, conformance);
  return conformance;
}

/** The checks of the API. All servers share them, because their routes do not depend on the settings. */
let ofTheApi: Conformance | undefined;

/**
 * Checks every answer to `inject` from now on against the OpenAPI document: the one of the whole API, which all its
 * servers share, or `own` for a server of other routes.
 */
export function conforming(server: FastifyInstance, own?: Conformance): FastifyInstance {
  const inject = server.inject.bind(server) as (request: InjectOptions) => Promise<LightMyRequestResponse>;
  const checked = async (request: InjectOptions & { url: string }) => {
    const response = await inject(request);
    if (!own) ofTheApi ??= conformanceOf(server.openApi());
    const { statusCode: status, headers, body: text } = response;
    (own ?? ofTheApi)?.check({ method: request.method ?? 'GET', url: request.url, status, headers, text });
    return response;
  };
  server.inject = checked as typeof server.inject;
  return server;
}

/** Returns the checks for a running daemon, from the document that it serves. */
export async function conformanceAt(address: string): Promise<Conformance> {
  const response = await fetch(`${address}/v1/openapi.json`);
  return conformanceOf((await response.json()) as OpenApiDocument);
}

function createConformance(document: OpenApiDocument): Conformance {
  // Validators run a few times each, and their optimization takes longer.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } });
  ajv.addSchema({ $id: DOCUMENT, components: document.components });
  const validators = new Map<object, ValidateFunction>();
  const paths = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`),
    parameters: path.split('{').length - 1,
  }));
  paths.sort((one, other) => one.parameters - other.parameters);

  function validator(schema: object, fields: 'any' | 'named'): ValidateFunction {
    const found = validators.get(schema);
    if (found) return found;
    const strict = fields === 'named' ? { unevaluatedProperties: false } : {};
    const made = ajv.compile({ allOf: [absolute(schema)], ...strict });
    validators.set(schema, made);
    return made;
  }

  function find(url: string) {
    const [path = ''] = url.split('?');
    return paths.find(({ pattern }) => pattern.test(path))?.path;
  }

  const answer = (of: object): Answer => resolve(document, of) as Answer;

  return {
    answer,
    validator,
    check({ method, url, status, headers, text }) {
      const about = `${method} ${url.slice(0, 200)} -> ${status} ${text.slice(0, 500)}`;
      if (UNDOCUMENTED.test(url.replace(/\?.*/, ''))) return;
      assert.match(String(headers['x-request-id']), /^req_[0-9a-z]{26}$/, `no X-Request-Id: ${about}`);
      const path = find(url);
      const item = path === undefined ? undefined : document.paths[path];
      const operation = item?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
      const said = operation?.responses[String(status)];
      if (!said)
        return assert.ok(
          isOutside(status, item !== undefined, operation !== undefined),
          `not documented: ${about}`,
        );
      const { headers: promised, content } = answer(said);
      for (const [name, header] of Object.entries(promised)) {
        const { required } = resolve(document, header) as { required?: boolean };
        if (required) assert.notEqual(headers[name.toLowerCase()], undefined, `${name} is missing: ${about}`);
      }
      for (const name of Object.keys(headers)) {
        if (!/^(?:ratelimit|x-quota|idempotency)-/.test(name)) continue;
        const isSaid = Object.keys(promised).some((one) => one.toLowerCase() === name);
        assert.ok(isSaid, `${name} is not documented: ${about}`);
      }
      if (content === undefined) return assert.equal(text, '', `a body where there is none: ${about}`);
      const type = String(headers['content-type']).replace(/;.*/, '');
      const media = content[type];
      assert.ok(media, `the type ${type} is not documented: ${about}`);
      if (method === 'HEAD' || type !== 'application/json') return;
      const validate = validator(media.schema, 'named');
      assert.ok(validate(JSON.parse(text)), `${ajv.errorsText(validate.errors)}: ${about}`);
    },
  };
}

/**
 * Returns true for a refusal that no operation describes: an unknown path or method, or a status that any request can
 * have.
 */
function isOutside(status: number, isPath: boolean, isOperation: boolean): boolean {
  if (ANYWHERE.includes(status)) return true;
  if (isOperation) return false;
  if (status === 429) return true;
  return isPath ? status === 405 : status === 404 || status === 400;
}

/** Returns the schema with references that can be resolved from outside the document. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT}#/`));
}

function resolve(document: OpenApiDocument, of: object): object {
  if (!('$ref' in of)) return of;
  const steps = String(of.$ref).split('/').slice(1);
  return steps.reduce((place: object, step) => (place as Record<string, object>)[step] ?? {}, document);
}
