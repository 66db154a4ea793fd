import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderTemplate, type VariableValue } from '../../src/templates/render.ts';
import { findUnknownTags, findVariables } from '../../src/templates/tags.ts';

const VALUES: Record<string, VariableValue> = {
  yes: 'Y<',
  no: '',
  zero: 0,
  one: 1,
  off: false,
  nothing: null,
  big: 1e21,
  small: 1e-7,
  price: 19.9,
};

function render(source: string, form: 'html' | 'text' = 'html') {
  return renderTemplate(source, VALUES, { form, isMarketing: false });
}

for (const [source, expected, missing = []] of [
  ['a{{#if yes}}b{{/if}}c', 'abc'],
  ['a{{#if no}}b{{/if}}c', 'ac'],
  ['{{#if yes}}{{yes}}{{else}}{{gone}}{{/if}}', 'Y&lt;'],
  ['{{#if gone}}{{yes}}{{else}}{{lost}}{{/if}}', '', ['lost']],
  [
    '{{#if zero}}1{{/if}}{{#if off}}2{{/if}}{{#if nothing}}3{{/if}}{{#if one}}4{{/if}}{{#if constructor}}5{{/if}}',
    '4',
  ],
  ['{{ #if yes }}{{#if no}}1{{else}}2{{/if}}{{ else }}{{#if yes}}3{{/if}}{{ /if }}4', '24'],
  ['{{#if no}}{{#if yes}}1{{else}}2{{/if}}{{else}}{{#if yes}}3{{else}}4{{/if}}{{/if}}5', '35'],
  ['{{#if no}}1{{/if}}{{#if no}}2{{/if}}{{yes}}', 'Y&lt;'],
  ['<a {{#if yes}}title="{{yes}}"{{/if}} href="/">', '<a title="Y&lt;" href="/">'],
  ['{{else}}', '', ['else']],
  ['{{#if yes}}1', '{{#if yes}}1'],
  ['1{{/if}}', '1{{/if}}'],
  ['{{#if yes}}1{{else}}2{{else}}3{{/if}}', '{{#if yes}}123{{/if}}', ['else']],
  ['{{big}} {{small}} {{price}} {{zero}}', '1000000000000000000000 0.0000001 19.9 0'],
] as [source: string, expected: string, missing?: string[]][])
  test(`${source} is rendered`, () => {
    assert.deepEqual(render(source), { text: expected, missing });
  });

test('conditions work in a text and a subject, and values in them are not rendered again', () => {
  const { text } = renderTemplate(
    '{{#if a}}{{a}}{{/if}}',
    { a: '{{#if a}}x{{/if}}' },
    { form: 'text', isMarketing: true },
  );
  assert.equal(text, '{{#if a}}x{{/if}}');
});

test('conditions are nested eight deep at most', () => {
  const nested = (depth: number) => `${'{{#if yes}}'.repeat(depth)}x${'{{/if}}'.repeat(depth)}`;
  assert.equal(render(nested(8)).text, 'x');
  assert.equal(render(nested(9)).text, nested(9));
  assert.ok(findUnknownTags(nested(9)).length > 0);
});

test('the variables of a text are those of its conditions, too', () => {
  assert.deepEqual(findVariables([[undefined, '{{#if vip}}{{name|you}}{{else}}{{url code}}{{/if}}']]), [
    { name: 'vip' },
    { name: 'name', fallback: 'you' },
    { name: 'code' },
  ]);
});

test('unknown tags are found as they are written, each once, and known ones are not', () => {
  const known = '{{a}} {{{a}}} {{a|b c}} {{url a}} {{raw a|b}} {{#if a}}{{else}}{{/if}} {{ a }} {{{{a}}}}';
  assert.deepEqual(findUnknownTags(known), []);
  assert.deepEqual(
    findUnknownTags(
      '{{#each x}}{{> y}}{{/each}}{{a b}}{{#each x}}{{#if z}}{{^q}}{{&r}}{{x.y()}}{{!-- c --}}',
    ),
    [
      ...[
        '{{#each x}}',
        '{{> y}}',
        '{{/each}}',
        '{{a b}}',
        '{{#if z}}',
        '{{^q}}',
        '{{&r}}',
        '{{x.y()}}',
        '{{!-- c --}}',
      ],
    ],
  );
});
