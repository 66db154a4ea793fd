import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { importCsv, newAudience } from '../../imports/jobs.ts';
import { openTestApp, type TestApp } from '../../support/test-app.ts';
import { PRODUCT_FILES } from './product-files.ts';

let open: TestApp;
before(async () => {
  open = await openTestApp();
});
after(() => open.close());

for (const [product, { file, expected }] of Object.entries(PRODUCT_FILES)) {
  test(`an export is imported as it is: ${product}`, async () => {
    const contacts = `/v1/audiences/${await newAudience(open)}/contacts`;
    const job = await importCsv(open, `${contacts}/imports`, file);
    assert.deepEqual([job.status, job.failed, job.created], ['completed', 0, job.rows], JSON.stringify(job));
    const { body } = await open.request('GET', `${contacts}/ada@example.com`);
    const found = Object.fromEntries(Object.keys(expected).map((field) => [field, body[field]]));
    assert.deepEqual(found, expected);
  });
}
