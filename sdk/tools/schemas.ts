/**
 * Reads the schemas of the OpenAPI document into named types with fields, from which the emitter of each language writes its types.
 *
 * - A body is named `<OperationId>Body`, the query of an operation `<OperationId>Query`, an answer after its component, and an
 *   answer that is no component `<OperationId>Answer`.
 * - An object within another type has the name of that type and of the field, in the singular when it stands in a list
 *   (`SendEmailBodyAttachment`), or that of a type with the same schema, when there is one.
 */
import type { DescribedOperation, Document, NamedOperation, Schema } from './openapi.ts';

export type TypeTree =
  /** `values` are those that are known today: a newer daemon may have more of them, except where `isFixed`. */
  | { kind: 'string'; values?: readonly string[]; isFixed?: true }
  | { kind: 'integer' | 'number' | 'boolean' | 'null' | 'any' }
  | { kind: 'list'; items: TypeTree }
  | { kind: 'map'; values: TypeTree }
  | { kind: 'named'; name: string }
  | { kind: 'union'; of: readonly TypeTree[] };

export type Field = {
  name: string;
  required: boolean;
  nullable: boolean;
  /** Type of the value when it is not null. */
  type: TypeTree;
  description: string | undefined;
};

export type NamedType = {
  name: string;
  use: 'answer' | 'body' | 'query' | 'event';
  description: string | undefined;
  fields: readonly Field[];
  /** Name of another type with the same fields. */
  sameAs?: string;
};

export type OperationTypes = NamedOperation & {
  summary: string;
  description: string | undefined;
  /** Names of the parameters of the path, in their order. */
  pathParameters: readonly string[];
  bodyType: string | undefined;
  queryType: string | undefined;
  /** Type of a JSON answer, and of one item of a page. */
  answerType: TypeTree | undefined;
};

export type ApiTypes = {
  types: readonly NamedType[];
  operations: readonly OperationTypes[];
  /** Types of events by the value of `type`. */
  events: Readonly<Record<string, string>>;
};

type Top = { name: string; use: NamedType['use']; schema: Schema };
type Ancestor = { field: string; name: string; fields: ReadonlySet<string> };
type Place = { name: string; use: NamedType['use']; field: string; ancestors: readonly Ancestor[] };

export function readTypes(document: Document, operations: readonly NamedOperation[]): ApiTypes {
  const described = new Map(
    Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((operation) => [operation.operationId, operation] as const),
    ),
  );
  const pairs = operations.map((named) => {
    const operation = described.get(named.id);
    if (operation === undefined) throw new Error(`OpenAPI has no operation ${named.id}`);
    return { named, operation };
  });
  const events = eventsOf(document);
  const reader = new Reader(topsOf(document, pairs, new Set(Object.values(events))));
  return { types: reader.read(), operations: pairs.map((pair) => reader.operation(pair)), events };
}

type Pair = { named: NamedOperation; operation: DescribedOperation };

/** Returns the types that have names in the document, the shorter names first, after which equal objects within others are called. */
function topsOf(document: Document, pairs: readonly Pair[], events: ReadonlySet<string>): Top[] {
  const components = Object.entries(document.components.schemas).map(([name, schema]): Top => {
    return { name, use: events.has(name) ? 'event' : 'answer', schema };
  });
  const ofOperations = pairs.flatMap(({ named, operation }): Top[] => {
    const body = bodyOf(operation);
    const query = queryOf(operation);
    const answer = answerOf(operation);
    const name = pascal(named.id);
    return [
      ...(body === undefined ? [] : [{ name: `${name}Body`, use: 'body' as const, schema: body }]),
      ...(query === undefined ? [] : [{ name: `${name}Query`, use: 'query' as const, schema: query }]),
      ...(answer?.properties === undefined || named.answer === 'page'
        ? []
        : [{ name: `${name}Answer`, use: 'answer' as const, schema: answer }]),
    ];
  });
  return [components, ofOperations].flatMap((tops) => tops.toSorted((a, b) => order(a) - order(b)));
}

/** Events come after answers, so that the data of an event has the name of the resource. */
function order({ use, name }: Top): number {
  return (use === 'event' ? 1000 : 0) + name.length;
}

function eventsOf(document: Document): Record<string, string> {
  return Object.fromEntries(
    Object.entries(document.webhooks).map(([type, { post }]) => {
      const ref = post.requestBody.content['application/json']?.schema.$ref;
      if (ref === undefined) throw new Error(`The event ${type} has no component`);
      return [type, nameOfRef(ref)];
    }),
  );
}

function bodyOf({ requestBody }: DescribedOperation): Schema | undefined {
  return requestBody?.content['application/json']?.schema;
}

/** Returns the parameters of the query as an object. */
function queryOf({ parameters = [] }: DescribedOperation): Schema | undefined {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  if (query.length === 0) return undefined;
  return {
    type: 'object',
    required: query.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(
      query.map(({ name, description, schema }) => [
        name,
        description === undefined ? schema : { ...schema, description },
      ]),
    ),
  };
}

function answerOf({ responses }: DescribedOperation): Schema | undefined {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  return answer?.content?.['application/json']?.schema;
}

class Reader {
  readonly #tops: readonly Top[];
  readonly #types = new Map<string, NamedType>();
  readonly #bySchema = new Map<string, string>();

  constructor(tops: readonly Top[]) {
    this.#tops = tops;
    for (const { name, schema } of tops) {
      const key = keyOf(schema);
      if (!this.#bySchema.has(key)) this.#bySchema.set(key, name);
    }
  }

  read(): NamedType[] {
    for (const { name, use, schema } of this.#tops) {
      this.#addType(schema, { name, use, field: '', ancestors: [] });
    }
    return [...this.#types.values()];
  }

  operation({ named, operation }: Pair): OperationTypes {
    const name = pascal(named.id);
    return {
      ...named,
      summary: operation.summary,
      description: operation.description,
      pathParameters: [...named.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => String(parameter)),
      bodyType: bodyOf(operation) === undefined ? undefined : `${name}Body`,
      queryType: queryOf(operation) === undefined ? undefined : `${name}Query`,
      answerType: this.#answerType(named, operation),
    };
  }

  #answerType(named: NamedOperation, operation: DescribedOperation): TypeTree | undefined {
    if (named.answer !== 'json' && named.answer !== 'page') return undefined;
    const answer = answerOf(operation);
    const schema = named.answer === 'page' ? answer?.properties?.['data']?.items : answer;
    if (schema === undefined) throw new Error(`The answer of ${named.id} has no schema`);
    if (schema.$ref !== undefined) return { kind: 'named', name: nameOfRef(schema.$ref) };
    return { kind: 'named', name: `${pascal(named.id)}Answer` };
  }

  #addType(schema: Schema, place: Place): void {
    const { name, use } = place;
    const first = this.#bySchema.get(keyOf(schema));
    const properties = Object.entries(schema.properties ?? {});
    const self = { field: place.field, name, fields: new Set(properties.map(([field]) => field)) };
    const fields = properties.map(([field, property]): Field => {
      const inner = { name, use, field, ancestors: [...place.ancestors, self] };
      const { type, nullable } = withoutNull(this.#tree(property, inner));
      const required = schema.required?.includes(field) ?? false;
      return { name: field, required, nullable, type, description: property.description };
    });
    // An object within another type is described by the field that has it.
    const description = place.field === '' ? schema.description : undefined;
    const same = first === undefined || first === name ? {} : { sameAs: first };
    this.#types.set(name, { name, use, description, fields, ...same });
  }

  #tree(schema: Schema, place: Place): TypeTree {
    if (schema.$ref !== undefined) return { kind: 'named', name: nameOfRef(schema.$ref) };
    if (schema.anyOf !== undefined) return union(schema.anyOf.map((one) => this.#tree(one, place)));
    if (typeof schema.const === 'string') return { kind: 'string', values: [schema.const], isFixed: true };
    if (typeof schema.type === 'object')
      return union(schema.type.map((type) => this.#tree({ ...schema, type }, place)));
    switch (schema.type) {
      case 'string':
        return stringOf(schema, place);
      case 'integer':
      case 'number':
      case 'boolean':
      case 'null':
        return { kind: schema.type };
      case 'array':
        return {
          kind: 'list',
          items: this.#tree(schema.items ?? {}, { ...place, field: singular(place.field) }),
        };
      case 'object':
        return this.#object(schema, place);
      default:
        return { kind: 'any' };
    }
  }

  #object(schema: Schema, place: Place): TypeTree {
    if (schema.properties === undefined) {
      const values = schema.additionalProperties;
      return {
        kind: 'map',
        values: typeof values === 'object' ? this.#tree(values, place) : { kind: 'any' },
      };
    }
    const known = this.#bySchema.get(keyOf(schema)) ?? recursive(schema, place);
    if (known !== undefined) return { kind: 'named', name: known };
    const name = this.#freeName(`${place.name}${pascal(place.field)}`);
    this.#bySchema.set(keyOf(schema), name);
    this.#addType(schema, { ...place, name });
    return { kind: 'named', name };
  }

  #freeName(wanted: string): string {
    const taken = (name: string) => this.#types.has(name) || this.#tops.some((top) => top.name === name);
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? wanted : `${wanted}${number}`;
      if (!taken(name)) return name;
    }
  }
}

function stringOf(schema: Schema, { use }: Place): TypeTree {
  if (schema.enum === undefined) return { kind: 'string' };
  const values = schema.enum.map(String);
  // Programs tell events apart by the one value of their type.
  return use === 'event' && values.length === 1
    ? { kind: 'string', values, isFixed: true }
    : { kind: 'string', values };
}

/**
 * Returns the name of the type that contains itself, such as a rule of a filter, whose nesting the schema writes out to the greatest depth:
 * an object in a field of the same name as one around it, with no other fields.
 */
function recursive(schema: Schema, { field, ancestors }: Place): string | undefined {
  const names = Object.keys(schema.properties ?? {});
  return ancestors.find((around) => around.field === field && names.every((name) => around.fields.has(name)))
    ?.name;
}

function union(trees: readonly TypeTree[]): TypeTree {
  const of = trees.flatMap((tree) => (tree.kind === 'union' ? tree.of : [tree]));
  const [first] = of;
  return of.length === 1 && first !== undefined ? first : { kind: 'union', of };
}

function withoutNull(tree: TypeTree): { type: TypeTree; nullable: boolean } {
  if (tree.kind !== 'union') return { type: tree, nullable: false };
  const of = tree.of.filter(({ kind }) => kind !== 'null');
  return { type: union(of), nullable: of.length < tree.of.length };
}

/** Returns the same text for schemas whose types are equal: titles and examples do not matter. */
function keyOf(schema: Schema): string {
  const { title: _, description: __, ...rest } = schema;
  return JSON.stringify(rest, (key, value: unknown) =>
    key === 'examples' || key === 'example' ? undefined : value,
  );
}

function nameOfRef(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function singular(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`;
  if (/(ss|x|ch|sh)es$/.test(name)) return name.slice(0, -2);
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : name;
}
