/** Scripts of the whole language, as its table of extensions has it, some of them with slips. */
import fc from 'fast-check';
import { Registry } from '../../../src/mail/sieve/compile/registry.ts';
import type { Definition, ParameterType, Tag } from '../../../src/mail/sieve/definition.ts';
import { EXTENSIONS, SIEVE_EXTENSIONS } from '../../../src/mail/sieve/extensions/table.ts';

const registry = new Registry(EXTENSIONS);

const pick = <Value>(...values: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

const texts = pick(
  ...['', 'a', 'from', 'Subject', 'to', 'content-type', 'x', 'Date', 'received', 'message-id', 'v', 'w'],
  ...[
    'a@b.example',
    '*',
    '?',
    '*a*',
    '**********a',
    '?*?',
    '\\*',
    'hello',
    'ü',
    '😀',
    'text/html',
    '',
    '1',
    '10',
  ],
  ...[`\${1}`, `\${v}`, `\${v}\${v}`, `\${global.v}`, `\${hex:41}`, `\${unicode:fc}`, `\${x.y}`, `\${0}`],
  ...[
    'year',
    'iso8601',
    'mailto:a@b.example',
    `mailto:a@b.example?subject=\${v}`,
    '\\Seen $a',
    '+0100',
    'online',
  ],
);

/** Values that some arguments need, by the name of the argument. */
const SPECIAL: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ':comparator': pick('i;octet', 'i;ascii-casemap', 'i;ascii-numeric', 'i;unicode-casemap'),
  ':count': pick('gt', 'eq', 'ne'),
  ':value': pick('lt', 'ge', 'ne'),
  ':zone': pick('+0000', '-0830'),
  ':importance': pick('1', '2', '3'),
  ':specialuse': pick('\\Junk', '\\Archive'),
  ':from': pick('a@b.example', 'Me <me@example.com>'),
  'envelope parts': pick('from', 'to'),
  'date part': pick('year', 'hour', 'julian', 'std11', `\${v}`),
  method: pick('mailto:a@b.example', `mailto:a@b.example?body=x%20\${v}`),
  capabilities: pick(...SIEVE_EXTENSIONS, 'none'),
  script: pick('self', 'other', 'none'),
  name: pick('v', 'w', 'a_b', 'global.v', 'from'),
  variable: pick('v', 'w'),
  variables: pick('v', 'w'),
  names: pick('v', 'g'),
  address: pick('a@b.example', 'c@d.example', `\${v}@b.example`),
  'field name': pick('X-New', 'Subject', 'Received'),
};

function argument(name: string, type: ParameterType): fc.Arbitrary<string> {
  if (type === 'number') return pick('0', '1', '2', '100', '3K', '1G');
  const value = fc.oneof({ weight: 4, arbitrary: SPECIAL[name] ?? texts }, { weight: 1, arbitrary: texts });
  const single = value.map(quote);
  if (type !== 'texts' && type !== 'constants') return single;
  const list = fc.array(single, { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(', ')}]`);
  return fc.oneof(single, list);
}

function tagText({ name, value }: Tag): fc.Arbitrary<string> {
  return value ? argument(name, value).map((text) => `${name} ${text}`) : fc.constant(name);
}

/** Returns a call with some of its tags and all of its parameters. */
function call({ name, parameters = [] }: Definition<unknown>): fc.Arbitrary<string> {
  const tags = [...registry.tagsOf(name).values()].map(({ item }) => item);
  const chosen = fc
    .subarray(tags, { maxLength: Math.min(2, tags.length) })
    .chain((some) => fc.tuple(...some.map(tagText)));
  const given = fc.tuple(
    ...parameters.map(({ name: parameter, type, isOptional }) =>
      isOptional ? fc.oneof(fc.constant(''), argument(parameter, type)) : argument(parameter, type),
    ),
  );
  return fc.tuple(chosen, given).map(([some, all]) => [name, ...some, ...all].join(' '));
}

const leafTests = [...registry.tests.values()].map(({ item }) => item).filter(({ tests }) => !tests);
const leafCommands = [...registry.commands.values()]
  .map(({ item }) => item)
  .filter(({ name, hasBlock }) => !hasBlock && name !== 'require');

const { block } = fc.letrec<{ test: string; command: string; block: string }>((tie) => ({
  test: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(...leafTests.map(call)),
    tie('test').map((text) => `not ${text}`),
    fc
      .tuple(pick('allof', 'anyof'), fc.array(tie('test'), { minLength: 1, maxLength: 3 }))
      .map(([name, all]) => `${name} (${all.join(', ')})`),
  ),
  command: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(...leafCommands.map(call)).map((text) => `${text};`),
    fc.tuple(tie('test'), tie('block')).map(([test, body]) => `if ${test} ${body}`),
    fc
      .tuple(tie('test'), tie('block'), tie('test'), tie('block'), tie('block'))
      .map(([first, a, second, b, c]) => `if ${first} ${a} elsif ${second} ${b} else ${c}`),
    tie('block').map((body) => `foreverypart ${body}`),
  ),
  block: fc.array(tie('command'), { maxLength: 2 }).map((all) => `{ ${all.join('\n')} }`),
}));

const required = fc.oneof(
  { weight: 3, arbitrary: fc.constant([...SIEVE_EXTENSIONS]) },
  { weight: 1, arbitrary: fc.subarray([...SIEVE_EXTENSIONS]) },
);

/** Scripts in which each call has arguments of the right types. Many are valid. */
export const scripts: fc.Arbitrary<string> = fc
  .tuple(
    required,
    fc.array(
      block.map((text) => text.slice(1, -1)),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([names, blocks]) => `require [${['copy', ...names].map(quote).join(', ')}];\n${blocks.join('\n')}`);

const SLIPS = [
  '"',
  '{',
  '}',
  '(',
  ')',
  ';',
  ',',
  '[',
  ']',
  ':x',
  '/*',
  '#',
  'text:\n',
  '\\',
  '\0',
  '7',
  'if ',
  `\${`,
  '\r',
];

/** Scripts from which something is missing, or in which something is too much. */
export const brokenScripts: fc.Arbitrary<string> = fc
  .tuple(scripts, fc.nat(), fc.nat({ max: 20 }), pick('', ...SLIPS))
  .map(([text, at, length, slip]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + slip + text.slice(place + length);
  });
