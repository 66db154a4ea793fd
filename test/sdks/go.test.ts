/** The library for Go against the OpenAPI document: its types are current, and its methods say what the document says. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readDocument, readOperations } from '../../sdk/tools/openapi.ts';
import { currentTypes, goName } from '../../sdk/tools/types-go.ts';

const FOLDER = new URL('../../sdk/go/', import.meta.url);
const hasGo = spawnSync('gofmt', [], { input: '' }).status === 0;

test('the types for Go are those of the document', { skip: !hasGo && 'gofmt is not installed' }, async () => {
  const current = readFileSync(new URL('types.go', FOLDER), 'utf8');
  assert.ok(
    current === (await currentTypes()),
    'run `node --import ./bin/typescript.ts sdk/tools/types-go.ts`',
  );
});

test('the comment of each method for Go begins with the summary of its operation', async () => {
  const source = readFileSync(new URL('resources.go', FOLDER), 'utf8');
  const methods = source.matchAll(/^\/\/ (.+)\nfunc \(s \*(\w+)Service\) (\w+)\(/gm);
  const said = new Map([...methods].map(([, comment, service, method]) => [`${service}.${method}`, comment]));
  const { paths } = await readDocument();
  const summaries = new Map(
    Object.values(paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId, summary }) => [operationId, summary] as const),
    ),
  );
  for (const { id, call } of readOperations()) {
    const names = call.split('.').map(goName);
    const method = names.pop();
    assert.equal(said.get(`${names.join('')}.${method}`), `${summaries.get(id)}.`, call);
  }
});
