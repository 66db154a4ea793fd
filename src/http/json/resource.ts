/**
 * The routes that every resource has, in one form (specification 4): create answers 201 with the whole record, list
 * answers a page, retrieve and update answer the record, delete answers 204. A feature implements the operations; this
 * file defines requests and responses.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, type TObject, type TProperties, Type } from 'typebox';
import type { ErrorCode } from '../../system/errors.ts';
import { refuseImmutable } from './immutable-fields.ts';
import { listEnvelope, type PageQuery, pageQuery, pageRequest, pageSchema } from './page.ts';

type Resource<Row> = {
  /** Name for people, such as `topic` or `inbound route`. */
  name: string;
  /** Plural of the name. By default an s is added. */
  plural?: string;
  /** One of the groups `TAGS` of src/api.ts. */
  tag: string;
  /** Path with the parameters of the parent resource, such as `/audiences/:audienceId/contacts`. */
  path: string;
  prefix: string;
  schema: TObject;
  show: (row: Row) => unknown;
};

/** A request whose path, body and query were checked. */
export type Ask<Body = unknown, Query = unknown> = FastifyRequest<{
  Params: { id: string; audienceId: string; webhookId: string; mailboxId: string; templateId: string };
  Body: Body;
  Querystring: Query;
}>;

type About = {
  summary?: string;
  description?: string;
  /** Refusals that not every route of this kind has. */
  refuses?: readonly ErrorCode[];
  /** Maximum size of the response, reserved before the change (http/transport/response-budget.ts). */
  responseBytes?: number;
  /** True when objects of the body may have any key (http/json/json-body.ts). */
  anyKey?: boolean;
};
type CreateAbout<Body, Created> = About & {
  body: Body;
  /** Response that contains more than the record, such as a secret. */
  answer?: { schema: TObject; show: (created: Created) => unknown };
};
type ListAbout<Query, Item> = About & {
  /** Filters in addition to the parameters of every page. */
  query?: Query;
  /** Items that contain less than the record. */
  item?: { schema: TObject; show: (item: Item) => unknown };
};

type Verb = 'create' | 'list' | 'get' | 'update' | 'delete';

type Items<Item> = { items: readonly Item[]; hasMore: boolean };

/** Returns functions that register the routes of a resource. */
export function resourceRoutes<Row extends { id: string }>(server: FastifyInstance, resource: Resource<Row>) {
  const { name, plural = `${name}s`, path, prefix, schema, show } = resource;
  const one = `${path}/:id`;
  const common = (verb: Verb, phrase: string, about: About) =>
    commonOf({ name, plural, tag: resource.tag }, { verb, phrase, about });
  return {
    create<Body extends TObject, Created extends Row = Row>(
      about: CreateAbout<Body, Created>,
      run: (request: Ask<Static<Body>>) => Promise<Created>,
    ): void {
      const { config, schema: shared } = common('create', 'Create', about);
      const answer = about.answer ?? { schema, show };
      const schemas = { ...shared, ...paramsOf(path), body: about.body, response: { 201: answer.schema } };
      server.post(path, { config, schema: schemas }, async (request, reply) =>
        reply.code(201).send(answer.show(await run(request as Ask<Static<Body>>))),
      );
    },

    list<Query extends TProperties = Record<never, never>, Item extends { id: string } = Row>(
      about: ListAbout<Query, Item>,
      run: (
        request: Ask<unknown, PageQuery & Static<TObject<Query>>>,
        page: ReturnType<typeof pageRequest>,
      ) => Promise<Items<Item>>,
    ): void {
      const { config, schema: shared } = common('list', 'List', {
        summary: `List ${plural}`,
        ...about,
      });
      const item = about.item ?? { schema, show: show as (item: unknown) => unknown };
      const querystring = Type.Object({ ...pageQuery, ...about.query });
      const response = { 200: pageSchema(item.schema) };
      const schemas = { ...shared, operationId: `list${camelCase(plural)}`, ...paramsOf(path) };
      server.get(path, { config, schema: { ...schemas, querystring, response } }, async (request) => {
        const asked = request as Ask<unknown, PageQuery & Static<TObject<Query>>>;
        const query = asked.query as PageQuery;
        return listEnvelope(query, await run(asked, pageRequest(query, prefix)), item.show);
      });
    },

    get<Query extends TProperties = Record<never, never>>(
      about: About & { query?: Query },
      run: (request: Ask<unknown, Static<TObject<Query>>>) => Promise<Row>,
    ): void {
      const { config, schema: shared } = common('get', 'Retrieve', about);
      const querystring = about.query && { querystring: Type.Object(about.query) };
      const schemas = { ...shared, ...paramsOf(one), ...querystring, response: { 200: schema } };
      server.get(one, { config, schema: schemas }, async (request) =>
        show(await run(request as Ask<unknown, Static<TObject<Query>>>)),
      );
    },

    update<Body extends TObject>(
      about: About & { body: Body },
      run: (request: Ask<Static<Body>>) => Promise<Row>,
    ): void {
      const { config, schema: shared } = common('update', 'Update', about);
      const schemas = { ...shared, ...paramsOf(one), body: about.body, response: { 200: schema } };
      const preValidation = refuseImmutable([schema], about.body);
      server.patch(one, { config, preValidation, schema: schemas }, async (request) =>
        show(await run(request as Ask<Static<Body>>)),
      );
    },

    delete(about: About, run: (request: Ask) => Promise<unknown>): void {
      const { config, schema: shared } = common('delete', 'Delete', about);
      const schemas = {
        ...shared,
        ...paramsOf(one),
        response: { 204: Type.Null({ description: 'Deleted' }) },
      };
      server.delete(one, { config, schema: schemas }, async (request, reply) => {
        await run(request as Ask);
        return reply.code(204).send();
      });
    },
  };
}

type Common = { verb: Verb; phrase: string; about: About };

/** Returns what the options of all routes have in common. */
function commonOf(
  { name, plural, tag }: Record<'name' | 'plural' | 'tag', string>,
  { verb, phrase, about }: Common,
) {
  const { summary, description = describeVerb(verb, name, plural), refuses = [], anyKey = false } = about;
  const { responseBytes } = about;
  return {
    config: { refuses, anyKey, ...(responseBytes !== undefined && { responseBytes }) },
    schema: {
      operationId: `${verb}${camelCase(name)}`,
      summary: summary ?? `${phrase} ${articleFor(name)} ${name}`,
      description,
      tags: [tag],
    },
  };
}

function describeVerb(verb: Verb, name: string, plural: string): string {
  switch (verb) {
    case 'create':
      return `Returns the whole ${name}, with its id.`;
    case 'list':
      return `Returns a page of ${plural}, the newest first.`;
    case 'get':
      return `Returns the ${name} with this id.`;
    case 'update':
      return 'Omitted fields keep their values.';
    case 'delete':
      return `Deletes the ${name} for good.`;
  }
}

/**
 * Returns the schema of a path's parameters, if it has any. Each parameter is the id of the resource that the path
 * names before it.
 */
export function paramsOf(path: string): { params?: TObject } {
  const named = [...path.matchAll(/([\w-]+)\/:(\w+)/g)];
  if (named.length === 0) return {};
  const described = named.map(([, plural = '', name = '']) => [
    name,
    Type.String({ description: `The id of the ${singular(plural)}.` }),
  ]);
  return { params: Type.Object(Object.fromEntries(described)) };
}

/** Returns the name of one item: `deliveries` gives `delivery`, `api-keys` gives `API key`. */
function singular(plural: string): string {
  const one = plural.replace(/ies$/, 'y').replace(/xes$/, 'x').replace(/s$/, '');
  return one.replaceAll('-', ' ').replace(/^api /, 'API ');
}

/** Returns the name for an operation id: `inbound route` gives `InboundRoute`. */
function camelCase(name: string): string {
  return name
    .split(' ')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function articleFor(name: string): string {
  return /^[aeiou]/i.test(name) ? 'an' : 'a';
}
