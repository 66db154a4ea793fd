/** The endpoints of section 4 are served, and their bodies and queries take what its tables list, required where they say. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestApp } from '../support/test-app.ts';
import { ENUMERATIONS, OPERATIONS } from './operations.ts';

type Schema = { $ref?: string; properties?: Record<string, Schema>; required?: string[]; enum?: string[] };
type Parameter = { name: string; in: string; required?: boolean; schema: Schema };

const world = await openTestApp();
after(() => world.close());
const { paths, components } = (await world.openServer()).openApi();

function find(name: string) {
  const [method = '', path = ''] = name.split(' ');
  return paths[path]?.[method.toLowerCase()];
}

function get(name: string) {
  const operation = find(name);
  assert.ok(operation, `${name} is not served`);
  return operation;
}

function resolve(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (components['schemas']?.[name] as Schema);
}

function bodyOf(name: string): Schema {
  const { requestBody } = get(name) as { requestBody?: { content: Record<string, { schema: Schema }> } };
  return resolve(requestBody?.content['application/json']?.schema ?? {});
}

function queryOf(name: string): Parameter[] {
  return ((get(name).parameters ?? []) as Parameter[]).filter((parameter) => parameter.in === 'query');
}

test('every endpoint of section 4 is served, and succeeds with the status it has there', () => {
  for (const [name, { answers }] of Object.entries(OPERATIONS)) {
    const statuses = Object.keys(get(name).responses).filter((status) => status.startsWith('2'));
    assert.deepEqual(statuses, answers, name);
  }
});

test('every body of section 4 takes the fields it has there, and requires those alone', () => {
  for (const [name, { body = {} }] of Object.entries(OPERATIONS)) {
    const { properties = {}, required = [] } = bodyOf(name);
    const missing = Object.keys(body).filter((field) => properties[field] === undefined);
    assert.deepEqual(missing, [], name);
    const wanted = Object.keys(body).filter((field) => body[field]);
    assert.deepEqual(required.toSorted(), wanted.toSorted(), name);
  }
});

test('every query of section 4 takes the parameters it has there, none of them required', () => {
  for (const [name, { query = [] }] of Object.entries(OPERATIONS)) {
    const parameters = queryOf(name);
    const names = parameters.map((parameter) => parameter.name);
    assert.deepEqual(
      query.filter((parameter) => !names.includes(parameter)),
      [],
      name,
    );
    assert.ok(
      parameters.every(({ required = false }) => !required),
      name,
    );
  }
});

test('fields whose values the specification names accept exactly those values', () => {
  for (const [name, field, values] of ENUMERATIONS) {
    const parameter = queryOf(name).find((one) => one.name === field);
    const schema = parameter?.schema ?? bodyOf(name).properties?.[field];
    assert.deepEqual(schema?.enum?.toSorted(), values.toSorted(), `${name} ${field}`);
  }
});
