/** Every place of an operation where the id of something stands: in its path, its query, the bodies it takes. */
import type { ApiOperation, BodyOf, Schema } from '../support/resources/operations.ts';
import { type Asked, fill, type Party, pathOf } from '../support/resources/populated.ts';
import type { Prefix } from '../support/resources/resource.ts';
import { PREFIXES, ROWS } from '../support/resources/resources.ts';

export type Place = {
  kind: 'path' | 'query' | 'body';
  /** Of the parameter, or the way through the body without positions: `emails.topicId`. */
  name: string;
  prefix: Prefix;
  /** The request with this in the place, and the party's own ids everywhere else. */
  asked(id: string): Asked;
};

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** What the operation is asked with, in each form that it has. */
export function requestsOf(
  operation: ApiOperation,
  party: Party,
  others: Readonly<Record<string, string>> = {},
): Asked[] {
  const { method } = operation;
  const url = pathOf(operation, party, others);
  const { body } = operation;
  if (!body) return [{ method, url }];
  const bodies = bodiesOf(operation.name, body, party);
  return bodies.map((one) => ({ method, url, type: body.type, payload: textOf(one) }));
}

export function placesOf(operation: ApiOperation, party: Party): Place[] {
  return [
    ...placesInPath(operation, party),
    ...placesInQuery(operation, party),
    ...placesInBody(operation, party),
  ];
}

function placesInPath(operation: ApiOperation, party: Party): Place[] {
  return operation.ids.map(({ name, prefix }) => ({
    ...{ kind: 'path' as const, name, prefix },
    asked(id) {
      const [asked] = requestsOf(operation, party, { [name]: encodeURIComponent(id) });
      if (!asked) throw new Error(`${operation.name} cannot be asked`);
      return asked;
    },
  }));
}

function placesInQuery(operation: ApiOperation, party: Party): Place[] {
  return operation.query.flatMap(({ name }) => {
    const prefix = prefixOfField(name);
    if (prefix === undefined) return [];
    const asked = (id: string) => ({
      ...{ method: operation.method, url: `${pathOf(operation, party)}?${name}=${encodeURIComponent(id)}` },
    });
    return [{ kind: 'query' as const, name, prefix, asked }];
  });
}

function placesInBody(operation: ApiOperation, party: Party): Place[] {
  const { body, method } = operation;
  if (!body) return [];
  const url = pathOf(operation, party);
  return bodiesOf(operation.name, body, party).flatMap((whole) =>
    leavesOf(whole).flatMap(({ steps, text }): Place[] => {
      const [id, prefix] = AN_ID.exec(text) ?? [];
      if (id === undefined || !isPrefix(prefix)) return [];
      const put = (other: string) => textOf(replaced(whole, steps, text.replace(id, other)));
      const name = nameOf(steps);
      return [{ kind: 'body', name, prefix, asked: (other) => ({ method, url, payload: put(other) }) }];
    }),
  );
}

/** The ways to the fields of a body that hold an id, as its schema says, whether or not an example has them. */
export function idFieldsOf(schema: Schema, way: readonly string[] = []): string[] {
  const inFields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = [...way, name];
    const isId = (name === 'id' || prefixOfField(name) !== undefined) && !field.properties && !field.items;
    return isId ? [here.join('.')] : idFieldsOf(field, here);
  });
  const below = [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])];
  return [...new Set([...inFields, ...below.flatMap((one) => idFieldsOf(one, way))])];
}

const AN_ID = /\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/;
/** `contentId` names a part of a message (RFC 2392), and `messageId` has the Message-ID of its header: neither is an id of a resource. */
const NO_RESOURCES = ['contentId', 'messageId'];
const PREFIX_OF_FIELD = new Map<string, Prefix>([
  ['audienceId', 'aud'],
  ['segmentId', 'seg'],
  ['topicId', 'top'],
  ['templateId', 'tpl'],
  ['domainId', 'dom'],
  ['emailId', 'em'],
  ['broadcastId', 'brd'],
  ['contactId', 'ct'],
  ['routeId', 'rt'],
  ['keyId', 'key'],
  ['apiKeyId', 'key'],
]);

/** @throws Error for a field that must hold an id of which nobody has told here */
function prefixOfField(name: string): Prefix | undefined {
  if (!name.endsWith('Id') || NO_RESOURCES.includes(name)) return undefined;
  const prefix = PREFIX_OF_FIELD.get(name);
  if (prefix !== undefined) return prefix;
  throw new Error(`what is \`${name}\` the id of?`);
}

function isPrefix(text: string | undefined): text is Prefix {
  return PREFIXES.some((prefix) => prefix === text);
}

function bodiesOf(name: string, { example, type }: BodyOf, party: Party): Json[] {
  if (type !== 'application/json') return [fill(example, party) as Json];
  const more = ROWS.flatMap(({ withIds }) => withIds?.[name] ?? []);
  return [example, ...more.map((one) => ({ ...(example as object), ...one }))].map(
    (body) => fill(body, party) as Json,
  );
}

function textOf(body: Json): string {
  return typeof body === 'string' ? body : JSON.stringify(body);
}

type Step = string | number;
type Leaf = { steps: readonly Step[]; text: string };

function leavesOf(value: Json, steps: readonly Step[] = []): Leaf[] {
  if (typeof value === 'string') return [{ steps, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  const entries: [Step, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.flatMap(([step, item]) => leavesOf(item, [...steps, step]));
}

function replaced(value: Json, [step, ...rest]: readonly Step[], leaf: string): Json {
  if (step === undefined) return leaf;
  if (Array.isArray(value)) return value.map((item, at) => (at === step ? replaced(item, rest, leaf) : item));
  const fields = value as { [key: string]: Json };
  return { ...fields, [step]: replaced(fields[step] ?? null, rest, leaf) };
}

function nameOf(steps: readonly Step[]): string {
  return steps.filter((step) => typeof step === 'string').join('.');
}
