/** What the document makes of a route: a few routes of a test, looked at closely. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { csvBody } from '../../../src/http/json/csv-body.ts';
import { serve } from '../serve.ts';

const isCounted = ({ url }: { url: string }) => url === '/counted';
const thing = Type.Object(
  { id: Type.String(), color: Type.Enum(['red']) },
  { title: 'Small thing', examples: [{ id: 'a', color: 'red' }] },
);
const tree = Type.Cyclic(
  { Tree: Type.Object({ rules: Type.Array(Type.Union([thing, Type.Ref('Tree')])) }) },
  'Tree',
);

const { server } = await serve({}, (one) => {
  one.get('/small/:smallId', { schema: { response: { 200: thing } } }, async () => ({}));
  one.post(
    '/small',
    {
      config: { refuses: ['already_exists', 'quota_exceeded'], bodyOptional: true },
      schema: {
        operationId: 'createSmall',
        summary: 'Create a small thing',
        description: 'Or two.',
        tags: ['Small'],
        headers: Type.Object({ 'idempotency-key': Type.Optional(Type.String({ description: 'Yours.' })) }),
        querystring: Type.Object({
          first: Type.String({ description: 'Needed.' }),
          next: Type.Optional(Type.Integer({ minimum: 1 })),
        }),
        body: Type.Object({ things: Type.Array(thing), tree }, { examples: [{ things: [] }] }),
        response: { 201: thing, 204: Type.Null({ description: 'Nothing to do' }), '4xx': Type.Object({}) },
      },
    },
    async () => ({}),
  );
  one.get(
    '/file',
    {
      schema: {
        response: { 200: { content: { 'text/csv': { schema: Type.String({ examples: ['a,b'] }) } } } },
      },
    },
    async () => '',
  );
  one.post(
    '/file',
    {
      config: { takesCsv: true },
      schema: {
        body: csvBody('Rows of things.', 'a,b'),
        response: { 202: { ...thing, description: 'Accepted' } },
      },
    },
    async () => ({}),
  );
  one.get('/hidden', { schema: { hide: true } }, async () => ({}));
});
const document = server.openApi();
const read = (value: unknown) => JSON.parse(JSON.stringify(value));
const create = read(document.paths['/small']?.['post']);

test('a schema with a title stands among the components, wherever it is used', () => {
  assert.deepEqual(read(document.components.schemas['SmallThing']), {
    type: 'object',
    title: 'Small thing',
    required: ['id', 'color'],
    properties: { id: { type: 'string' }, color: { type: 'string', enum: ['red'] } },
    examples: [{ id: 'a', color: 'red' }],
  });
  const reference = { $ref: '#/components/schemas/SmallThing' };
  const json = { 'application/json': { schema: reference, example: { id: 'a', color: 'red' } } };
  assert.deepEqual(create.responses['201'].content, json);
  const retrieve = read(document.paths['/small/{smallId}']?.['get']);
  assert.deepEqual(retrieve.responses['200'].content, json);
  const { schema } = create.requestBody.content['application/json'];
  assert.deepEqual(schema.properties.things, { type: 'array', items: reference });
});

test('a schema that refers to itself does so by its component', () => {
  const { schema } = create.requestBody.content['application/json'];
  const reference = { $ref: '#/components/schemas/Tree' };
  assert.deepEqual(schema.properties.tree, reference);
  const { properties } = read(document.components.schemas['Tree']);
  assert.deepEqual(properties.rules.items.anyOf, [{ $ref: '#/components/schemas/SmallThing' }, reference]);
});

test('two schemas of one title are a mistake that is named', async () => {
  const { server: confused } = await serve({}, (one) => {
    for (const [index, type] of [Type.String(), Type.Integer()].entries()) {
      const schema = { response: { 200: Type.Object({ a: type }, { title: 'Same' }) } };
      one.get(`/${index}`, { schema }, async () => ({}));
    }
  });
  assert.throws(() => confused.openApi(), /two different schemas have the title Same/);
});

test('parameters are said with where they stand and whether they must', () => {
  assert.deepEqual(create.parameters, [
    { name: 'first', in: 'query', description: 'Needed.', required: true, schema: { type: 'string' } },
    { name: 'next', in: 'query', schema: { type: 'integer', minimum: 1 } },
    { name: 'Idempotency-Key', in: 'header', description: 'Yours.', schema: { type: 'string' } },
  ]);
});

test('an example stands beside its schema, and a body that may be left out is not required', () => {
  assert.equal(create.requestBody.required, false);
  const { schema, example } = create.requestBody.content['application/json'];
  assert.deepEqual(example, { things: [] });
  assert.equal(schema.examples, undefined);
  const { requestBody } = read(document.paths['/things']?.['post']);
  assert.equal(requestBody.required, true);
});

test('answers are those of success, and the refusals of the route by their status', () => {
  assert.deepEqual(Object.keys(create.responses), [
    '201',
    '204',
    '400',
    '401',
    '403',
    '408',
    '409',
    '413',
    '415',
    '429',
    '500',
    '503',
  ]);
  assert.deepEqual(create.responses['409'], { $ref: '#/components/responses/AlreadyExists' });
  assert.deepEqual(create.responses['429'], { $ref: '#/components/responses/QuotaExceededOrRateLimited' });
  assert.equal(create.responses['204'].content, undefined);
  assert.equal(create.responses['204'].description, 'Nothing to do');
  const file = read(document.paths['/file']?.['get']);
  assert.deepEqual(file.responses['200'].content, {
    'text/csv': { schema: { type: 'string' }, example: 'a,b' },
  });
});

test('a file has its description beside it, and a response its description beside its content', () => {
  const { requestBody, responses } = read(document.paths['/file']?.['post']);
  assert.equal(requestBody.description, 'Rows of things.');
  assert.equal(create.requestBody.description, undefined);
  assert.equal(responses['202'].description, 'Accepted');
  assert.deepEqual(responses['202'].content, create.responses['201'].content);
});

test('headers that only some routes answer with are said of those alone', async () => {
  const headers = { name: 'Left', says: { 'X-Left': 'How many.' }, isOn: isCounted };
  const { server: counting } = await serve({ headers }, (one) => {
    for (const url of ['/counted', '/free'])
      one.get(url, { schema: { response: { 200: thing } } }, async () => ({}));
  });
  const { paths, components } = read(counting.openApi());
  assert.equal(components.headers['X-Left'].description, 'How many.');
  const counted = paths['/counted'].get.responses;
  const free = paths['/free'].get.responses;
  const said = (name: string) => 'X-Left' in components.responses[name].headers;
  assert.ok('X-Left' in counted['200'].headers);
  assert.ok(!('X-Left' in free['200'].headers));
  assert.deepEqual(counted['403'], { $ref: '#/components/responses/RestrictedApiKeyWithLeft' });
  assert.deepEqual([said('RestrictedApiKeyWithLeft'), said('RestrictedApiKey')], [true, false]);
  // Nobody is known to count for.
  assert.deepEqual(counted['401'], free['401']);
  assert.ok(!said(free['401'].$ref.split('/').at(-1)));
});

test('hidden routes and HEAD are not in it, and what is said of a route is', () => {
  assert.equal(document.paths['/hidden'], undefined);
  assert.deepEqual(Object.keys(document.paths['/things'] ?? {}), ['post', 'get']);
  const { operationId, summary, description, tags } = create;
  assert.deepEqual(
    [operationId, summary, description, tags],
    ['createSmall', 'Create a small thing', 'Or two.', ['Small']],
  );
});

test('the document is made once', () => {
  assert.equal(server.openApi(), document);
});
