/** Templates by the client of Resend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const clock = createFakeClock(1_800_000_000_000);
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const clientWith = await clientsOf(testApp);
const resend = clientWith();

const native = async (id: string) => (await testApp.request('GET', `/v1/templates/${id}`)).body;

const ORDER = {
  name: 'order-confirmation',
  html: '<p>Name: {{{PRODUCT}}}</p><p>Total: {{{PRICE}}}</p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">leave</a>',
  variables: [
    { key: 'PRODUCT', type: 'string' as const, fallbackValue: 'item' },
    { key: 'PRICE', type: 'number' as const, fallbackValue: 25 },
  ],
};

test('a template is made, published and shown', async () => {
  const made = await resend.templates.create(ORDER);
  assert.equal(made.error, null);
  const id = made.data?.id ?? '';
  assert.deepEqual(made.data, { object: 'template', id });
  assert.deepEqual(await dataOf(resend.templates.publish(id)), { object: 'template', id });
  const { created_at, updated_at, published_at, current_version_id, variables, ...shown } = await dataOf(
    resend.templates.get(id),
  );
  assert.ok(created_at && updated_at && published_at);
  assert.match(current_version_id, /^tpv_/);
  assert.deepEqual(shown, {
    object: 'template',
    id,
    name: 'order-confirmation',
    alias: 'order-confirmation',
    status: 'published',
    has_unpublished_versions: false,
    from: null,
    reply_to: null,
    subject: null,
    html: ORDER.html.replace('PRODUCT', 'PRODUCT|item').replace('PRICE', 'PRICE|25'),
    text: null,
  });
  assert.deepEqual(
    variables?.map(({ key, type, fallback_value }) => [key, type, fallback_value]),
    [
      ['PRODUCT', 'string', 'item'],
      ['PRICE', 'string', '25'],
    ],
  );
  assert.equal((await native(id)).subject, '{{subject}}');
  const chained = await dataOf(resend.templates.create({ ...ORDER, name: 'chained' }).publish());
  assert.equal(chained.object, 'template');
});

test('a template is found by its alias, which is its name here', async () => {
  await clock.advance(1);
  const { data } = await resend.templates.create({
    ...ORDER,
    alias: 'welcome',
    name: 'Welcome mail',
    subject: 'Hi {{{WHO}}}',
  });
  const byAlias = await dataOf(resend.templates.get('welcome'));
  assert.deepEqual([byAlias.id, byAlias.name, byAlias.subject], [data?.id, 'welcome', 'Hi {{{WHO}}}']);
  const again = resend.templates.create({ ...ORDER, alias: 'welcome' });
  assert.match(await refusalOf(again as never), /^409 validation_error: A template has this alias already/);
  await dataOf(
    resend.templates.update('welcome', {
      alias: 'welcome',
      text: 'Hello {{{WHO}}}',
      variables: [{ key: 'WHO', type: 'string', fallbackValue: 'you' }],
    }),
  );
  const changed = await dataOf(resend.templates.get('welcome'));
  assert.deepEqual([changed.subject, changed.text], ['Hi {{{WHO|you}}}', 'Hello {{{WHO|you}}}']);
  // A fallback that is declared anew replaces the one in the text.
  await dataOf(
    resend.templates.update('welcome', {
      variables: [{ key: 'WHO', type: 'string', fallbackValue: 'friend' }],
    }),
  );
  assert.equal((await dataOf(resend.templates.get('welcome'))).subject, 'Hi {{{WHO|friend}}}');
  await dataOf(resend.templates.update('welcome', { subject: 'New' }));
  assert.equal((await native(data?.id ?? '')).subject, 'New');

  await clock.advance(1);
  const copy = (await resend.templates.duplicate('welcome')).data?.id ?? '';
  assert.deepEqual([(await native(copy)).name, (await native(copy)).subject], ['welcome (copy)', 'New']);
  const page = await dataOf(resend.templates.list({ limit: 2 }));
  assert.deepEqual(
    [page.has_more, page.data.map(({ alias }) => alias)],
    [true, ['welcome (copy)', 'welcome']],
  );
  await testApp.request('PATCH', `/v1/templates/${copy}`, { body: { name: 'welcome' } });
  assert.match(
    await refusalOf(resend.templates.get('welcome')),
    /^409 validation_error: Several templates have this name/,
  );
  assert.deepEqual(await dataOf(resend.templates.remove(copy)), {
    object: 'template',
    id: copy,
    deleted: true,
  });
  assert.equal((await dataOf(resend.templates.remove('welcome'))).id, data?.id);
  assert.match(await refusalOf(resend.templates.get('welcome')), /^404 not_found: Template not found/);
});

test('what a template cannot keep here is refused', async () => {
  const refusal = async (more: object) =>
    refusalOf(resend.templates.create({ ...ORDER, ...more } as never) as never);
  assert.match(
    await refusal({ from: 'a@b.example' }),
    /^422 invalid_from_address: `from` of a template is not supported/,
  );
  assert.match(
    await refusal({ replyTo: ['a@b.example'] }),
    /^422 validation_error: `reply_to` of a template/,
  );
  const list = [{ key: 'PRODUCT', type: 'list', fallbackValue: [] }];
  assert.match(
    await refusal({ variables: list }),
    /^422 validation_error: The fallback of the variable PRODUCT must be a/,
  );
  // A thousand copies of a megabyte would be longer than any text can be.
  const large = [{ key: 'A', type: 'string', fallbackValue: 'x'.repeat(1_000_000) }];
  assert.match(
    await refusal({ html: '{{{A}}}'.repeat(1_000), variables: large }),
    /^422 validation_error: `html` must be at most 1 MiB with its fallbacks$/,
  );
  const braces = [{ key: 'PRODUCT', type: 'string', fallbackValue: '}' }];
  assert.match(await refusal({ variables: braces }), /^422 validation_error: .* must not contain braces/);
  assert.match(await refusal({ variables: [7] }), /^422 validation_error: Each variable must be an object/);
  assert.match(await refusal({ name: undefined }), /^422 missing_required_field: `name` is required/);
  assert.match(
    await refusal({ html: '<p>{{#each x}}</p>' }),
    /^422 validation_error: `html` has tags that are not known/,
  );
  const reader = clientWith(await testApp.newKey({ permission: 'read_only' }));
  for (const call of [
    reader.templates.publish('chained'),
    reader.templates.duplicate('chained'),
    reader.templates.remove('chained'),
  ])
    assert.match(await refusalOf(call as never), /^401 restricted_api_key/);
});
