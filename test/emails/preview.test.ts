/** The preview of a template shows what an email made from it contains. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestApp } from '../support/test-app.ts';
import { senderOf } from './fixtures.ts';

const world = await openTestApp();
after(() => world.close());

const TEMPLATE = {
  subject: 'Hello {{firstName|there}}\u2028{{line}}',
  html: '<p>{{#if vip}}Dear {{firstName}}{{else}}Hi{{/if}} {{{raw}}} {{missing}}</p><a href="https://a.example/?q={{firstName}}">x</a>',
};
const VARIABLES = { firstName: 'Ann & <Bob>', vip: true, raw: '<b>x</b>', line: 'a\r\nb' };
const preview = (body: unknown, key = world.testKey) =>
  world.request('POST', '/v1/templates/preview', { body, key });

for (const [name, text] of [
  ['a text of its own', 'Text for {{firstName}} {{absent}}'],
  ['a generated text', null],
] as const) {
  test(`the preview of a template with ${name} is what its email contains`, async () => {
    const template = await world.request('POST', '/v1/templates', { body: { name: 'T', ...TEMPLATE, text } });
    assert.equal(template.status, 201);
    const email = await senderOf(() => world).accepted({
      ...{ subject: TEMPLATE.subject, html: undefined, text: undefined },
      ...{ templateId: template.body.id, variables: VARIABLES },
    });
    const { status, body } = await preview({ ...TEMPLATE, text, variables: VARIABLES });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      ...{ subject: email.subject, html: email.html, text: email.text },
      missingVariables: email.missingVariables,
      variables: template.body.variables,
    });
    assert.match(body.html, /Dear Ann &amp; &lt;Bob&gt; <b>x<\/b>/);
    assert.ok(body.missingVariables.includes('missing'));
  });
}

test('without values every variable without a fallback is missing, and HTML without words has no text', async () => {
  const { body } = await preview({ subject: '{{a|x}} {{b}}', html: '<img src="{{c}}">' });
  assert.deepEqual(body, {
    ...{ subject: 'x ', html: '<img src="">', text: null },
    missingVariables: ['b', 'c'],
    variables: [{ name: 'a', fallback: 'x' }, { name: 'b' }, { name: 'c' }],
  });
});

test('a content is refused as it is when a template is saved', async () => {
  const valid = { subject: 's', html: '<p>' };
  for (const [change, param] of [
    [{ html: '{{#each x}}' }, 'html'],
    [{ text: '{{> part}}' }, 'text'],
    [{ html: 'x'.repeat(1024 * 1024 + 1) }, 'html'],
    [{ subject: 'a\nb' }, 'subject'],
  ] as const) {
    const shown = await preview({ ...valid, ...change });
    const saved = await world.request('POST', '/v1/templates', { body: { name: 'T', ...valid, ...change } });
    assert.deepEqual([shown.status, shown.body.error.param], [400, param]);
    assert.equal(shown.body.error.message, saved.body.error.message);
  }
  const long = await preview({ ...valid, variables: { a: 'x'.repeat(10_241) } });
  assert.deepEqual([long.status, long.body.error.param], [400, 'variables.a']);
  const huge = { ...valid, html: '{{a}}'.repeat(1_000), variables: { a: 'x'.repeat(10_000) } };
  assert.deepEqual((await preview(huge)).body.error.param, 'variables');
});

test('a key that only reads may preview, and nothing is stored', async () => {
  const key = await world.newKey({ permission: 'read_only' });
  assert.equal((await preview({ subject: 's', html: '<p>x' }, key)).status, 200);
  const emails = await world.app.db.read.selectFrom('emails').select('id').execute();
  assert.equal(emails.length, 2, 'those of the tests before');
});
