/** A proof must not be satisfied by anything but a test that is run: what is one, and what only looks like one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { testNamesIn } from './test-names.ts';

const IMPORT = "import { after, test } from 'node:test';\n";
const BODY = '() => check())';
const namesIn = (...lines: string[]) => [...testNamesIn(IMPORT + lines.join('\n'))];
const row = (text: string) => `test(\`a \${name} b\`, ${BODY};\n${text}`;

const TESTS: [what: string, source: string, names: string[]][] = [
  ['single quotes', `test('one', ${BODY};`, ['one']],
  ['double quotes', `test("it's", ${BODY};`, ["it's"]],
  ['a template without parts', `test(\`one\`, ${BODY};`, ['one']],
  ['escapes', String.raw`test('it\'s \u00e9\n', ${BODY};`, ["it's é\n"]],
  ['a body with options', `test('one', { timeout: 5 }, ${BODY};`, ['one']],
  ['a name on the next line', `test(\n  'one',\n  async (t) => {\n    check(t);\n  },\n);`, ['one']],
  ['several', `test('one', ${BODY};\ntest('two', ${BODY};`, ['one', 'two']],
  ['one that is awaited', `await test('one', ${BODY};`, ['one']],
  ['one after quotes in a regular expression', `const A = /['"\`]/g;\ntest('one', ${BODY};`, ['one']],
  ['one after a regular expression in a class', `f(/[/'"]+/);\ntest('one', ${BODY};`, ['one']],
  ['one after a division', `const a = b / 2 + '/';\ntest('one', ${BODY};`, ['one']],
  ['one after a brace in a template', `const A = \`\${f('}\`')}\`;\ntest('one', ${BODY};`, ['one']],
  ['one after templates in templates', `const A = \`\${f(\`'\`)}\`;\ntest('one', ${BODY};`, ['one']],
  ['one after an apostrophe in a comment', `// it's\n/* it's */\ntest('one', ${BODY};`, ['one']],
];
for (const [what, source, names] of TESTS) {
  test(`read: ${what}`, () => assert.deepEqual(namesIn(source), names));
}

const NONE: [what: string, source: string][] = [
  ['a line comment', `// test('one', ${BODY};`],
  ['a block comment', `/* test('one', ${BODY}; */`],
  ['a comment behind an address', `const A = 'https://a'; // test('one', ${BODY};`],
  ['a string', `const A = "test('one', ${BODY};";`],
  ['a template', `const A = \`\ntest('one', ${BODY};\n\`;`],
  ['a part of a template', `const A = \`\${test('one', ${BODY}}\`;`],
  ['a regular expression', "const A = /test('one', f)/;"],
  ['a name alone', `const NAME = 'one';`],
  ['a name in a constant', `const NAME = 'one';\ntest(NAME, ${BODY};`],
  ['a test that is skipped', `test.skip('one', ${BODY};`],
  ['a test that is to do', `test.todo('one', ${BODY};`],
  ['a test that is skipped by an option', `test('one', { skip: true }, ${BODY};`],
  ['a test that may be skipped', `test('one', { skip: !HAS_IPV6 && 'no IPv6 here' }, ${BODY};`],
  ['a test that is to do by an option', `test('one', { todo: 'later' }, ${BODY};`],
  ['a test that skips itself', `test('one', (t) => { if (slow) return t.skip(); check(); });`],
  ['a test without a body', `test('one');`],
  ['a test with an empty body', `test('one', async () => {});`],
  ['a test with a comment for a body', `test('one', () => {\n  // check();\n});`],
  ['a test under a condition', `if (slow) test('one', ${BODY};`],
  ['a test in a block under a condition', `if (slow) {\n  test('one', ${BODY};\n}`],
  ['a test otherwise', `if (slow) check();\nelse test('one', ${BODY};`],
  [
    'a test under a condition in a loop',
    `for (const a of ['b']) {\n  if (a) {\n    test('one', ${BODY};\n  }\n}`,
  ],
  [
    'a test in a loop under a condition',
    `if (slow)\n  for (const a of ['b']) {\n    test('one', ${BODY};\n  }`,
  ],
  ['a test in a loop in a function', `function never() {\n  for (const a of ['b']) test('one', ${BODY};\n}`],
  ['a test in a function', `function never() {\n  test('one', ${BODY};\n}`],
  ['a test in an arrow function', `const never = () => test('one', ${BODY};`],
  ['a test in a suite', `describe.skip('x', () => {\n  test('one', ${BODY};\n});`],
  ['a test behind an operator', `slow && test('one', ${BODY};`],
  ['a test in a loop that counts', `for (let a = 0; a < b; a++) {\n  test('one', ${BODY};\n}`],
  [
    'a test that a loop may pass over',
    `for (const a of ['b']) {\n  if (slow) continue;\n  test('one', ${BODY};\n}`,
  ],
  ['a test in a loop over nothing', `for (const a of []) {\n  test('one', ${BODY};\n}`],
  ['a test in a loop over what is computed', `for (const a of slow ? ['b'] : []) test('one', ${BODY};`],
  ['a test in a loop over what is spread', `for (const a of [...ROWS]) test('one', ${BODY};`],
  ['a method of that name', `pattern.test('one', ${BODY};`],
  ['a function with a longer name', `latest('one', ${BODY};`],
  ['a part that is not of the table', `const name = 'x';\ntest(\`a \${name} b\`, ${BODY};`],
];
for (const [what, source] of NONE) {
  test(`no test: ${what}`, () => assert.deepEqual(namesIn(source), []));
}

test('no test: of a runner of its own', () => {
  assert.equal(testNamesIn(`const test = () => {};\ntest('one', ${BODY};`).size, 0);
  assert.equal(testNamesIn(`// ${IMPORT}test('one', ${BODY};`).size, 0);
});

const TABLES: [what: string, head: string, table: string, names: string[]][] = [
  ['a list', `for (const name of ['x', "y"]) {`, '', ['a x b', 'a y b']],
  ['numbers and truth', `for (const name of [1_000, -2, true]) {`, '', ['a 1000 b', 'a -2 b', 'a true b']],
  ['rows', `for (const [name] of [['x', 'no'], ['y', 'no']] as const) {`, '', ['a x b', 'a y b']],
  ['the second of a row', `for (const [, name] of [['no', 'x']]) {`, '', ['a x b']],
  [
    'objects',
    `for (const { name } of [{ other: 'no', name: 'x' }, { 'name': 'y' }]) {`,
    '',
    ['a x b', 'a y b'],
  ],
  ['a constant', 'for (const [name] of ROWS) {', `const ROWS = [['x', 'no']];`, ['a x b']],
  [
    'a constant with a type',
    'for (const [name] of ROWS) {',
    `const ROWS: [name: string, run: () => void][] = [['x', () => f('no')], ['y', f]];`,
    ['a x b', 'a y b'],
  ],
  ['a constant as it is', 'for (const name of ROWS) {', `const ROWS = ['x'] as const;`, ['a x b']],
  ['a constant that must fit', 'for (const name of ROWS) {', `const ROWS = ['x'] satisfies A[];`, ['a x b']],
  [
    'keys',
    'for (const name of Object.keys(ROWS)) {',
    `const ROWS = { x: 'no', 'y z': 1 };`,
    ['a x b', 'a y z b'],
  ],
  [
    'entries',
    'for (const [name, v] of Object.entries(ROWS)) {',
    `const ROWS = { x: { y: 'no' } };`,
    ['a x b'],
  ],
  ['values of entries', 'for (const [k, name] of Object.entries({ no: 5 })) {', '', ['a 5 b']],
  ['comments in it', `for (const name of [\n  // 'no'\n  'x', /* 'no' */\n]) {`, '', ['a x b']],
  ['what is spread is unknown', `for (const name of [...['no'], 'x']) {`, '', ['a x b']],
  [
    'what is behind a spread is unknown',
    `for (const [, name] of [[...A, 'no'], ['n', 'x']]) {`,
    '',
    ['a x b'],
  ],
  [
    'what is computed is unknown',
    `for (const name of ['x', f('no'), 'n' + 'o', \`\${no}\`]) {`,
    '',
    ['a x b'],
  ],
  ['a row that is no list is unknown', `for (const [, name] of ['xy', 'no', 'z']) {`, '', []],
  ['a row that is no object is unknown', `for (const { name } of ['no', f({ name: 'no' })]) {`, '', []],
  ['a list that is mapped is unknown', `for (const name of ['no'].map(f)) {`, '', []],
  [
    'a constant that is filtered is unknown',
    'for (const name of ROWS) {',
    `const ROWS = ['no'].filter(f);`,
    [],
  ],
  [
    'two constants of that name',
    'for (const name of ROWS) {',
    `const ROWS = ['no'];\nconst ROWS = ['no'];`,
    [],
  ],
  [
    'a constant that is imported',
    'for (const name of ROWS) {',
    `import { ROWS } from './rows.ts';\nf('no');`,
    [],
  ],
  ['a constant in a comment', 'for (const name of ROWS) {', `// const ROWS = ['no'];`, []],
];
for (const [what, head, table, names] of TABLES) {
  test(`a table: ${what}`, () => {
    assert.deepEqual(namesIn(table, head, row('}')), names);
    assert.deepEqual(namesIn(head, row('}'), table), names, 'wherever it stands');
  });
}

test('a table: of a loop without braces', () => {
  assert.deepEqual(namesIn(`for (const name of ['x'])\n  ${row('')}`), ['a x b']);
});

test('a table: of loops in one another, and of a name with several parts', () => {
  const loops = "for (const a of ['x', 'y']) {\n  for (const [b, c] of [[1, 'p'], [2, 'q']]) {\n";
  const names = ['x 1p', 'x 2q', 'y 1p', 'y 2q'];
  assert.deepEqual(namesIn(`${loops}test(\`\${a} \${b}\${c}\`, ${BODY};\n}\n}`), names);
});

test('a string that stands elsewhere in the file, or in another column, fills no name', () => {
  const table = `const ROWS = [['x', 'param', { 'key': 'deep' }]];\nconst OTHER = 'elsewhere';`;
  const [name, ...others] = namesIn(table, 'for (const [name] of ROWS) {', row('}'));
  assert.deepEqual([name, others], ['a x b', []]);
});

test('whatever a test is named, it is read as that', () => {
  const property = fc.property(fc.string({ unit: 'binary' }), fc.string(), (name, other) => {
    const text = `const A = ${JSON.stringify(other)};\ntest(${JSON.stringify(name)}, ${BODY};`;
    assert.deepEqual(namesIn(text), [name]);
    assert.deepEqual(namesIn(`/* ${text.replaceAll('*/', '')} */`), []);
  });
  fc.assert(property, { seed: 20_261_124, numRuns: 500 });
});
