/** The library for PHP against the OpenAPI document: the shapes of its parameters are current, and its comments say what the document says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDocument, readOperations } from '../../sdk/tools/openapi.ts';
import { pascal } from '../../sdk/tools/schemas.ts';
import { currentResources, readResource } from '../../sdk/tools/types-php.ts';

test('the shapes for PHP are those of the document', async () => {
  for (const [file, current] of await currentResources())
    assert.ok(
      readResource(file) === current,
      `run \`node --import ./bin/typescript.ts sdk/tools/types-php.ts\` for ${file}`,
    );
});

test('the comment of each method for PHP begins with the summary of its operation', async () => {
  const { paths } = await readDocument();
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const summaries = new Map(operations.map(({ operationId, summary }) => [operationId, summary]));
  for (const { id, call } of readOperations()) {
    const names = call.split('.');
    const method = names.pop();
    const source = readResource(`${names.map(pascal).join('')}.php`);
    // The last comment before the method, whose first line says what it does.
    const before = source.slice(0, source.indexOf(` function ${method}(`));
    const comment = /^\/\*\*\s+(?:\* )?([^\n]+?\.)/.exec(before.slice(before.lastIndexOf('/**')))?.[1];
    assert.equal(comment, `${summaries.get(id)}.`, call);
  }
});
