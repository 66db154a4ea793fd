/** The types of the client libraries follow the OpenAPI document. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { type Document, readDocument, readOperations } from '../sdk/tools/openapi.ts';
import { type ApiTypes, type Field, readTypes } from '../sdk/tools/schemas.ts';
import { emitNodeTypes, NODE_TYPES } from '../sdk/tools/types-node.ts';

let document: Document;
let api: ApiTypes;
before(async () => {
  document = await readDocument();
  api = readTypes(document, readOperations());
});

function field(type: string, name: string): Field {
  const found = api.types.find((one) => one.name === type)?.fields.find((one) => one.name === name);
  assert.ok(found, `${type}.${name}`);
  return found;
}

test('each name of a type is used once, and each named type exists', () => {
  const names = api.types.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
  const used = [...JSON.stringify(api).matchAll(/"kind":"named","name":"(\w+)"/g)].map(([, name]) => name);
  assert.deepEqual(
    used.filter((name) => !names.includes(String(name))),
    [],
  );
});

test('an operation has a type for its body and for its query exactly when the list of names says so', () => {
  for (const operation of api.operations) {
    assert.equal(operation.bodyType !== undefined, operation.body === 'json', operation.id);
    assert.equal(operation.queryType !== undefined, operation.query === true, operation.id);
  }
});

test('the list of names has all operations of the document, with their methods and paths', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
  );
  const listed = api.operations.map(({ id, method, path }) => `${id} ${method.toLowerCase()} ${path}`);
  assert.deepEqual(listed.toSorted(), described.toSorted());
});

test('fields say whether they are required, whether they may be null, and what they mean', () => {
  assert.equal(field('SendEmailBody', 'from').required, true);
  assert.equal(field('SendEmailBody', 'cc').required, false);
  assert.equal(field('SendEmailBody', 'to').type.kind, 'union');
  assert.match(field('SendEmailBody', 'to').description ?? '', /50 addresses/);
  assert.equal(field('Branding', 'logo').nullable, true);
  assert.deepEqual(field('Branding', 'logo').type, { kind: 'named', name: 'BrandingLogo' });
});

test('an object within others has one type, and a filter contains itself', () => {
  const email = { kind: 'named', name: 'SendEmailBody' };
  assert.deepEqual(field('SendBatchBody', 'emails').type, { kind: 'list', items: email });
  const rule = { kind: 'named', name: 'SegmentFilterRule' };
  assert.deepEqual(field('SegmentFilterRule', 'rules').type, { kind: 'list', items: rule });
});

test('the types of the library for Node.js are those of the document', () => {
  const isCurrent = readFileSync(NODE_TYPES, 'utf8') === emitNodeTypes(api);
  assert.ok(isCurrent, 'Run: node --import ./bin/typescript.ts sdk/tools/types-node.ts');
});

test('the comment of each method for Node.js begins with the summary of its operation', () => {
  const sources = globSync('../sdk/node/src/resources/*.ts', { cwd: import.meta.dirname })
    .map((file) => readFileSync(`${import.meta.dirname}/${file}`, 'utf8'))
    .join('\n');
  const wrong = api.operations.filter(({ call, summary }) => {
    const method = call.slice(call.lastIndexOf('.') + 1);
    const comment = `/\\*\\*\\s+(\\* )?${summary.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\.[^/]*\\*/\\n  ${method}\\(`;
    return !new RegExp(comment).test(sources);
  });
  assert.deepEqual(
    wrong.map(({ call }) => call),
    [],
  );
});
