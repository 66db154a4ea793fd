import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AppError } from '../../src/system/errors.ts';
import { MAX_RENDERED_CHARACTERS, renderTemplate, type VariableValue } from '../../src/templates/render.ts';
import { findUnknownTags, findVariables, MAX_PLACEHOLDERS, type Source } from '../../src/templates/tags.ts';
import { anyCharacter } from '../support/any-character.ts';

const SEED = 20_261_121;
const VARIABLES = {
  x: 'a<b',
  'first.name-2': 'Ada',
  größe: 'XL',
  zero: 0,
  no: false,
  nothing: null,
  empty: '',
  quoted: `&<>"'`,
  nested: '{{x}} {{{x}}}',
  open: '{{',
  __x__: 'under',
};

for (const [source, html, missing = []] of [
  ['', ''],
  ['no placeholder & nothing escaped <b>', 'no placeholder & nothing escaped <b>'],
  ['{{x}}', 'a&lt;b'],
  ['{{ x }}|{{\tx\n}}', 'a&lt;b|a&lt;b'],
  ['{{{x}}}', 'a<b'],
  ['{{{ x }}}', 'a<b'],
  ['{{quoted}}', '&amp;&lt;&gt;&quot;&#39;'],
  ['{{first.name-2}} {{größe}} {{__x__}}', 'Ada XL under'],
  ['{{zero}} {{no}}', '0 false'],
  ['{{y}}', '', ['y']],
  ['{{y}}{{y}}{{{z}}}', '', ['y', 'z']],
  ['{{y|there}}', 'there'],
  ['{{ y | there & then }}', 'there &amp; then'],
  ['{{{y|<b>there</b>}}}', '<b>there</b>'],
  ['{{y|}}', ''],
  ['{{y|a|b}}', 'a|b'],
  ['{{x|there}}', 'a&lt;b'],
  ['{{nothing|there}}', 'there'],
  ['{{nothing}}', '', ['nothing']],
  ['{{empty|there}}', ''],
  ['{{nested}}', '{{x}} {{{x}}}'],
  ['{{open}}x}}', '{{x}}'],
  ['{{y|{{x}}}}', '{{y|a&lt;b}}'],
  ['{{__proto__}}{{constructor}}{{toString}}', '', ['__proto__', 'constructor', 'toString']],
  ['{{__proto__|none}}', 'none'],
  ['{{{{x}}}}', '{a<b}'],
  ['{{{x}}', '{a&lt;b'],
  ['{{x}}}', 'a&lt;b}'],
  ['{{x', '{{x'],
  ['{{x}', '{{x}'],
  ['{ {x}}', '{ {x}}'],
  ['{{}} {{ }} {{|x}}', '{{}} {{ }} {{|x}}'],
  ['{{#each x}}{{/each}}{{> x}}{{a b}}{{x()}}{{x+1}}', '{{#each x}}{{/each}}{{> x}}{{a b}}{{x()}}{{x+1}}'],
  [`{{${'n'.repeat(64)}|64}}{{${'n'.repeat(65)}|65}}`, `64{{${'n'.repeat(65)}|65}}`],
] as [source: string, html: string, missing?: string[]][]) {
  test(`${JSON.stringify(source.slice(0, 60))} in HTML`, () => {
    assert.deepEqual(renderTemplate(source, VARIABLES, { form: 'html', isMarketing: false }), {
      text: html,
      missing,
    });
  });
}

test('a subject and a text are never escaped', () => {
  const source = '{{quoted}} {{{quoted}}} {{y|"there" & then}}';
  assert.equal(
    renderTemplate(source, VARIABLES, { form: 'text', isMarketing: false }).text,
    `&<>"' &<>"' "there" & then`,
  );
});

test('a variable named like what objects inherit has its value when it is given one', () => {
  const variables = JSON.parse('{"__proto__":"p","constructor":"c"}') as Record<string, VariableValue>;
  assert.equal(
    renderTemplate('{{__proto__}}{{constructor}}', variables, { form: 'text', isMarketing: false }).text,
    'pc',
  );
});

function sources(...texts: string[]): Source[] {
  return texts.map((text, index) => [`text${index}`, text]);
}

test('variables are found once each, in order, with the first fallback they have', () => {
  assert.deepEqual(findVariables(sources('{{a}} {{{b|B}}}', '{{c|}}{{a| one }}{{a|two}} {{#d}}', '')), [
    { name: 'a', fallback: 'one' },
    { name: 'b', fallback: 'B' },
    { name: 'c', fallback: '' },
  ]);
});

function refuses(work: () => unknown, param: string | undefined): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof AppError && error.code === 'validation_error', String(error));
    assert.equal(error.options.param, param);
    return true;
  });
}

test('a small template and a long value do not make gigabytes', () => {
  const value = 'v'.repeat(MAX_RENDERED_CHARACTERS / 4);
  const four = '{{x}}'.repeat(4);
  assert.equal(
    renderTemplate(four, { x: value }, { form: 'html', isMarketing: false }).text.length,
    MAX_RENDERED_CHARACTERS,
  );
  refuses(() => renderTemplate(`${four}.`, { x: value }, { form: 'html', isMarketing: false }), 'variables');
  refuses(
    () => renderTemplate('{{x}}'.repeat(5), { x: value }, { form: 'text', isMarketing: false }),
    'variables',
  );
  refuses(
    () =>
      renderTemplate('{{x}}'.repeat(4), { x: `${value.slice(1)}<` }, { form: 'html', isMarketing: false }),
    'variables',
  );
});

test('a text holds at most so many placeholders', () => {
  const source = '{{x}}'.repeat(MAX_PLACEHOLDERS);
  assert.equal(renderTemplate(source, {}, { form: 'text', isMarketing: false }).text, '');
  assert.equal(findVariables(sources(source)).length, 1);
  refuses(() => renderTemplate(`${source}{{x}}`, {}, { form: 'text', isMarketing: false }), undefined);
  refuses(() => findVariables(sources(source, `${source}{{{x}}}`)), 'text1');
});

const text = fc.string({ unit: anyCharacter, maxLength: 40 });
const hostile = fc
  .array(
    fc.constantFrom('{', '{{', '{{{', '}', '}}', '}}}', '|', ' ', 'x', 'y', '<', '&', "'", '😀', '\ud83d'),
    {
      maxLength: 30,
    },
  )
  .map((parts) => parts.join(''));
const source = fc.oneof(text, hostile);

test('a text without braces stays as it is', () => {
  fc.assert(
    fc.property(source, (given) => {
      const plain = given.replace(/[{}]/g, '');
      assert.deepEqual(renderTemplate(plain, { x: 'X' }, { form: 'html', isMarketing: false }), {
        text: plain,
        missing: [],
      });
    }),
    { seed: SEED },
  );
});

test('a value never adds markup to HTML, whatever stands around it', () => {
  fc.assert(
    fc.property(source, source, (given, value) => {
      const template = given.replace(/\{{3,}/g, '{{').replace(/[<>"']/g, '');
      const { text: rendered } = renderTemplate(
        template,
        { x: value, y: value },
        { form: 'html', isMarketing: false },
      );
      assert.doesNotMatch(rendered, /[<>"']/);
    }),
    { seed: SEED, numRuns: 150 },
  );
});

test('rendering gives the text between placeholders and the values, and renders no value again', () => {
  const piece = fc.oneof(
    fc.record({ literal: text.map((given) => given.replace(/[{}]/g, '')) }),
    fc.record({ value: source, isRaw: fc.boolean() }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const values = pieces.map((each) => ('value' in each ? each.value : null));
      const variables = Object.fromEntries(values.map((value, index) => [`v${index}`, value]));
      const template = pieces.map((each, index) =>
        'value' in each ? (each.isRaw ? `{{{v${index}}}}` : `{{v${index}}}`) : each.literal,
      );
      const expected = pieces.map((each) => ('value' in each ? each.value : each.literal)).join('');
      assert.equal(
        renderTemplate(template.join(''), variables, { form: 'text', isMarketing: false }).text,
        expected,
      );
    }),
    { seed: SEED, numRuns: 150 },
  );
});

test('two megabytes of almost-placeholders are text, and no stack or time runs out', () => {
  const size = MAX_RENDERED_CHARACTERS;
  for (const part of ['{', '{{', '{{ ', '{{a', '{{a|', '{{a|é', '}}', '{{a|😀', `{{${'a'.repeat(64)}`]) {
    const given = part.repeat(Math.floor(size / part.length));
    assert.equal(renderTemplate(given, { a: 'X' }, { form: 'html', isMarketing: false }).text, given, part);
  }
  for (const filling of [' ', 'a', 'é', '😀']) {
    const given = `{{a|${filling.repeat((size - 8) / filling.length)}`;
    assert.equal(renderTemplate(given, {}, { form: 'html', isMarketing: false }).text, given);
    assert.equal(renderTemplate(`${given}}}`, { a: 'X' }, { form: 'html', isMarketing: false }).text, 'X');
  }
});

test('unknown tags are found in a text full of white space within milliseconds', () => {
  const started = process.cpuUsage();
  const hostile = `{{${' '.repeat(4_000)}x${' '.repeat(4_000)}`;
  assert.deepEqual(findUnknownTags(`${hostile.repeat(100)} {{ #each x }}`), ['{{ #each x }}']);
  assert.ok(process.cpuUsage(started).user < 2_000_000);
});
