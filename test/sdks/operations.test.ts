/** The names of the client libraries against the OpenAPI document: none is missing, and what is said of each operation is true. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { openTestApp, type TestApp } from '../support/test-app.ts';

type Media = Record<string, { schema?: { properties?: object } }>;
/** The parts of an operation of the document that this test reads. */
type Operation = {
  operationId?: string;
  parameters?: readonly { in: string; name: string }[];
  requestBody?: { content: Media; required?: boolean };
  responses: Record<string, { content?: Media }>;
};

type Named = {
  id: string;
  call: string;
  method: string;
  path: string;
  body?: 'json' | 'csv';
  bodyOptional?: true;
  query?: true;
  answer: 'json' | 'page' | 'stream' | 'none';
  repeat: 'always' | 'keyed' | 'unsent';
};

const CONTRACT = new URL('../../sdk/contract/', import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, CONTRACT), 'utf8'));
const named = read('operations.json') as Named[];

let testApp: TestApp;
before(async () => {
  testApp = await openTestApp();
});
after(() => testApp.close());

test('every operation of the document has a name, with what the document says of it', async () => {
  const { paths } = (await testApp.openServer()).openApi() as unknown as {
    paths: Record<string, Record<string, Operation>>;
  };
  const expected = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => describe(path, method, operation)),
  );
  const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1);
  assert.deepEqual(named.map(({ call: _, ...rest }) => rest).sort(byId), expected.sort(byId));
});

test('no two operations have the same name', () => {
  const calls = named.map(({ call }) => call.toLowerCase());
  assert.deepEqual(
    calls.filter((call, index) => calls.indexOf(call) !== index),
    [],
  );
  assert.deepEqual(
    named.filter(({ call }) => !/^([a-z][A-Za-z]*\.){1,2}[a-z][A-Za-z]*$/.test(call)),
    [],
  );
});

test('every operation is called by a case of the contract', () => {
  const cases = read('calls.json') as { steps: { call?: string }[] }[];
  const called = new Set(cases.flatMap(({ steps }) => steps.map(({ call }) => call)));
  assert.deepEqual(
    named.filter(({ call }) => !called.has(call)).map(({ call }) => call),
    [],
  );
});

function describe(path: string, method: string, operation: Operation): Omit<Named, 'call'> {
  const parameters = operation.parameters ?? [];
  const { content, required } = operation.requestBody ?? {};
  const [mediaType] = Object.keys(content ?? {});
  return {
    id: operation.operationId ?? '',
    method: method.toUpperCase(),
    path,
    ...(mediaType !== undefined && { body: mediaType === 'text/csv' ? 'csv' : 'json' }),
    ...(mediaType !== undefined && !required && { bodyOptional: true as const }),
    ...(parameters.some((one) => one.in === 'query') && { query: true as const }),
    answer: answerOf(operation),
    repeat: repeatOf(method, operation),
  };
}

function answerOf({ responses }: Operation): Named['answer'] {
  const contents = Object.entries(responses).flatMap(([status, { content }]) =>
    status < '4' && content !== undefined ? [content] : [],
  );
  const [content] = contents;
  if (content === undefined) return 'none';
  const json = content['application/json'];
  if (json === undefined) return 'stream';
  return 'nextCursor' in (json.schema?.properties ?? {}) ? 'page' : 'json';
}

function repeatOf(method: string, { parameters = [] }: Operation): Named['repeat'] {
  if (method !== 'post') return 'always';
  return parameters.some(({ name }) => name === 'Idempotency-Key') ? 'keyed' : 'unsent';
}
