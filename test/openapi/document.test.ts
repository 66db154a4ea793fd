/** The OpenAPI document of the whole API: sound, complete, and with examples that its own schemas accept. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { createControlServer } from '../../src/control-socket.ts';
import type { Operation } from '../../src/http/json/openapi/operation.ts';
import type { OpenApiDocument } from '../../src/http/json/openapi.ts';
import { type Answer, type Conformance, conformanceOf } from '../support/conformance.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

type Parameter = { name: string; in: string; description?: string; required?: boolean };
type Body = {
  description?: string;
  required: boolean;
  content: Record<string, { schema: object; example?: unknown }>;
};

let testApp: TestApp;
let document: OpenApiDocument;
let conformance: Conformance;
before(async () => {
  testApp = await openTestApp();
  document = (await testApp.openServer()).openApi();
  conformance = conformanceOf(document);
});
after(() => testApp.close());

type Named = { name: string; path: string; method: string; operation: Operation };

function operations(): Named[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ name: `${method.toUpperCase()} ${path}`, path, method, operation },
    })),
  );
}

/** The names of the operations of which `holds` is false. */
function without(holds: (one: Named) => boolean): string[] {
  return operations()
    .filter((one) => !holds(one))
    .map(({ name }) => name);
}

function answersOf({ operation }: Named): [status: string, answer: Answer][] {
  return Object.entries(operation.responses).map(([status, answer]) => [status, conformance.answer(answer)]);
}

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  assert.ok(valid, JSON.stringify(errors, null, 1));
  assert.equal(validator.version, '3.1');
});

test('every operation has its own id, a summary, a description and one of the tags', () => {
  const ids = operations().map(({ operation }) => operation.operationId);
  const tags = document.tags.map(({ name }) => name);
  assert.deepEqual(
    without(({ operation }) => /^[a-z]+[A-Za-z]*$/.test(operation.operationId ?? '')),
    [],
  );
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
  assert.deepEqual(
    without(({ operation }) => /^[A-Z]\S* .*[^.]$/.test(operation.summary ?? '')),
    [],
  );
  assert.deepEqual(
    without(({ operation }) => /^[A-Z`][\s\S]*[.:!]$/.test(operation.description ?? '')),
    [],
  );
  assert.deepEqual(
    without(({ operation }) => operation.tags.length === 1 && tags.includes(operation.tags[0] ?? '')),
    [],
  );
});

test('every tag is one of an operation, and described', () => {
  const used = new Set(operations().flatMap(({ operation }) => operation.tags));
  assert.deepEqual(
    document.tags.filter(({ name, description }) => !used.has(name) || description === ''),
    [],
  );
});

test('every parameter is described, and those of the path are all there', () => {
  const undescribed = operations().flatMap(({ name, operation }) =>
    ((operation.parameters ?? []) as Parameter[])
      .filter(({ description = '' }) => description === '')
      .map((parameter) => `${name} ${parameter.in} ${parameter.name}`),
  );
  assert.deepEqual(undescribed, []);
  for (const { name, path, operation } of operations()) {
    const inPath = ((operation.parameters ?? []) as Parameter[]).filter((one) => one.in === 'path');
    assert.deepEqual(
      inPath.map((one) => one.name),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one),
      name,
    );
    assert.ok(
      inPath.every(({ required }) => required),
      name,
    );
  }
});

test('every body has an example, and its schema accepts it', () => {
  const findings = operations().flatMap(({ name, operation }) => {
    const { content = {} } = (operation.requestBody ?? {}) as Partial<Body>;
    return Object.entries(content).flatMap(([type, { schema, example }]) => {
      if (example === undefined) return [`${name} ${type}: none`];
      const validate = conformance.validator(schema, 'any');
      return validate(example) ? [] : [`${name}: ${JSON.stringify(validate.errors)}`];
    });
  });
  assert.deepEqual(findings, []);
});

test('every JSON answer has an example, and its schema accepts it with no field that it does not name', () => {
  const findings = operations().flatMap((one) =>
    answersOf(one).flatMap(([status, { content = {} }]) => {
      const media = content['application/json'];
      if (!media) return [];
      const examples = media.examples
        ? Object.values(media.examples).map(({ value }) => value)
        : [media.example];
      return examples.flatMap((example) => {
        if (example === undefined) return [`${one.name} ${status}: none`];
        const validate = conformance.validator(media.schema, 'named');
        return validate(example) ? [] : [`${one.name} ${status}: ${JSON.stringify(validate.errors)}`];
      });
    }),
  );
  assert.deepEqual(findings, []);
});

test('every operation says what it answers, and each refusal that any of its kind can answer', () => {
  const bodies = ['post', 'put', 'patch'];
  for (const one of operations()) {
    const statuses = Object.keys(one.operation.responses);
    assert.ok(
      statuses.some((status) => status.startsWith('2')),
      one.name,
    );
    const expected = [
      ...['400', '401', '403', '429', '500', '503'],
      ...(one.path.includes('{') ? ['404'] : []),
      ...(bodies.includes(one.method) ? ['408', '413', '415'] : []),
    ];
    assert.deepEqual(
      expected.filter((status) => !statuses.includes(status)),
      [],
      one.name,
    );
    for (const status of statuses.filter((code) => !code.startsWith('2'))) assertRefusal(one, status);
  }
});

/** The envelope, by reference, with the codes it may carry and an example of each. */
function assertRefusal(one: Named, status: string): void {
  const { content } = conformance.answer(one.operation.responses[status] ?? {});
  const media = content?.['application/json'];
  const schema = media?.schema as { allOf: [object, { properties: never }] };
  assert.deepEqual(schema.allOf[0], { $ref: '#/components/schemas/Problem' }, `${one.name} ${status}`);
  const { error } = schema.allOf[1].properties as { error: { properties: { type: { enum: string[] } } } };
  const codes = error.properties.type.enum;
  assert.notEqual(codes.length, 0);
  assert.deepEqual(Object.keys(media?.examples ?? {}), codes);
}

test('every answer says its headers', () => {
  for (const one of operations()) {
    for (const [status, { headers }] of answersOf(one)) {
      const names = Object.keys(headers);
      assert.ok(names.includes('X-Request-Id'), `${one.name} ${status}`);
      assert.equal(names.includes('Retry-After'), ['429', '503'].includes(status), `${one.name} ${status}`);
      assert.equal(names.includes('RateLimit-Limit'), status !== '401', `${one.name} ${status}`);
      for (const name of names) assert.ok(document.components.headers[name], name);
    }
  }
});

test('only requests that send show the rest of the monthly quota', () => {
  const sending = operations().filter((one) => {
    const answers = answersOf(one).filter(([status]) => status !== '401');
    const counted = answers.filter(([, { headers }]) => 'X-Quota-Remaining' in headers);
    assert.ok([0, answers.length].includes(counted.length), one.name);
    return counted.length > 0;
  });
  const names = sending.map(({ operation }) => operation.operationId);
  assert.deepEqual(names, ['sendEmail', 'sendBatch', 'rescheduleEmail', 'cancelEmail']);
});

test('an enumeration says its type, a file what it must be, and an answer that comes early what comes after', () => {
  const untyped = operations().flatMap(({ name, operation }) =>
    ((operation.parameters ?? []) as (Parameter & { schema: { type?: string } })[])
      .filter(({ schema }) => schema.type === undefined)
      .map((parameter) => `${name} ${parameter.name}`),
  );
  assert.deepEqual(untyped, []);
  for (const one of operations()) {
    const { content, description } = (one.operation.requestBody ?? {}) as Partial<Body>;
    if (content?.['text/csv']) assert.match(description ?? '', /^At most 50 MiB/, one.name);
    for (const [status, answer] of answersOf(one))
      if (status === '202') assert.match(answer.description, /^Accepted: /, one.name);
  }
});

test('an answer is said to be a repetition exactly where a request may carry an Idempotency-Key', () => {
  const found = operations().filter((one) => {
    const parameters = (one.operation.parameters ?? []) as Parameter[];
    const mayRepeat = parameters.some(({ name }) => name === 'Idempotency-Key');
    const [[, success] = []] = answersOf(one);
    assert.equal('Idempotency-Replayed' in (success?.headers ?? {}), mayRepeat, one.name);
    return mayRepeat;
  });
  assert.ok(found.length > 0);
});

test('every reference leads somewhere, and every component is referred to', () => {
  const references = new Set(JSON.stringify(document).match(/#\/components\/\w+\/[\w.-]+/g));
  const components = Object.entries(document.components).flatMap(([kind, all]) =>
    Object.keys(all).map((name) => `#/components/${kind}/${name}`),
  );
  assert.deepEqual(
    [...references].filter((one) => !components.includes(one)),
    [],
  );
  const byName = components.filter((one) => !one.includes('/securitySchemes/'));
  assert.deepEqual(
    byName.filter((one) => !references.has(one)),
    [],
  );
});

test('every event is said, as endpoints receive it', () => {
  const { webhooks = {} } = document;
  const ids = new Set<string>();
  assert.ok(Object.keys(webhooks).includes('email.delivered'));
  for (const [type, item] of Object.entries(webhooks)) {
    const { operationId, requestBody } = (item as { post: { operationId: string; requestBody: Body } }).post;
    assert.match(operationId, /^receive[A-Z]\w+$/);
    ids.add(operationId);
    const { schema, example } = requestBody.content['application/json'] ?? { schema: {} };
    const validate = conformance.validator(schema, 'named');
    assert.ok(validate(example), `${type} ${JSON.stringify(validate.errors)}`);
    assert.equal((example as { type: string }).type, type);
    assert.ok(!validate({ ...(example as object), data: {} }), `the data of ${type} has no fields`);
  }
  assert.equal(ids.size, Object.keys(webhooks).length);
});

test('the document is public, names no host, and is answered from memory with a tag', async () => {
  const first = await testApp.inject({ url: '/v1/openapi.json', headers: { host: 'any.example:81' } });
  assert.deepEqual(first.json(), JSON.parse(JSON.stringify(document)));
  assert.deepEqual(document.servers, [{ url: '/' }]);
  assert.ok(!first.body.includes('any.example'));
  assert.match(String(first.headers['content-type']), /^application\/json/);
  const tag = String(first.headers.etag);
  const again = await testApp.inject({ url: '/v1/openapi.json', headers: { 'if-none-match': tag } });
  assert.deepEqual([again.statusCode, again.body], [304, '']);
  const other = await testApp.inject({ url: '/v1/openapi.json', headers: { 'if-none-match': '"x"' } });
  assert.deepEqual([other.statusCode, other.headers.etag], [200, tag]);
  const head = await testApp.inject({ method: 'HEAD', url: '/v1/openapi.json' });
  assert.equal(head.headers['content-length'], first.headers['content-length']);
});

test('the operator’s own server has a document too, and nothing contradicts itself in it', async () => {
  const control = await createControlServer(testApp.app);
  await control.ready();
  assert.ok(Object.keys(control.openApi().paths).length > 3);
  await control.close();
});

/** An address with a domain of several labels, as linters of OpenAPI documents ask for. */
const EMAIL = /^[^@\s]+@(?:[a-z0-9-]+\.)+[a-z0-9-]+$/;

test('the address of the operator is one, also on a machine whose host name has no dot', async () => {
  const contact = (one: OpenApiDocument) =>
    (one.info as { contact?: { email?: string } }).contact?.email ?? '';
  assert.equal(contact(document), 'postmaster@mx.postrider.example');
  await using development = await openTestApp({ env: { POSTRIDER_HOSTNAME: 'localhost' } });
  const email = contact((await development.openServer()).openApi());
  assert.match(email, EMAIL);
  assert.equal(email, 'postmaster@localhost.invalid');
});

test('nothing in the document says that broadcasts cannot be sent', () => {
  assert.doesNotMatch(JSON.stringify(document), /cannot be sent|only drafts/i);
});
