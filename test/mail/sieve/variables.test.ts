import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkScript } from '../../../src/mail/sieve/check.ts';
import { actionsOf, errorsOf, MESSAGE_A } from './fixture.ts';

/** Returns what a string is in a script with variables, by filing into a mailbox of that name. */
function textOf(text: string, commands = '', message = MESSAGE_A): string {
  const require = '["variables", "fileinto", "encoded-character", "enotify", "envelope"]';
  const [action = ''] = actionsOf(`require ${require};\n${commands}\nfileinto "=${text}";`, message);
  return action.replace(/^fileinto =/, '');
}

test('references are replaced as in RFC 5229 section 3', () => {
  const commands = 'set "company" "ACME"; set "foo" "bar";';
  for (const [text, value] of [
    [`&%$\${}!`, `&%$\${}!`],
    [`\${doh!}`, `\${doh!}`],
    [`\${company}`, 'ACME'],
    [`\${COMPANY}`, 'ACME'],
    [`\${BAD\${Company}`, `\${BADACME`],
    [`\${President, \${Company} Inc.}`, `\${President, ACME Inc.}`],
    [`\${none}`, ''],
    [`\${fo\\o}`, 'bar'],
    [`\${fo\\\\o}`, `\${fo\\o}`],
    [`\\\${foo}`, 'bar'],
    [`\\\\\${foo}`, '\\bar'],
    [`\${hex:24 7b 66}oo}`, 'bar'],
  ] as const)
    assert.equal(textOf(text, commands), value, text);
});

test('modifiers change values as in RFC 5229 section 4.1', () => {
  for (const [modifiers, value, result] of [
    ['', 'juMBlEd lETteRS', 'juMBlEd lETteRS'],
    [':length', 'juMBlEd lETteRS', '15'],
    [':length', '😀é', '2'],
    [':lower', 'juMBlEd lETteRS É', 'jumbled letters É'],
    [':upperfirst', 'juMBlEd lETteRS', 'JuMBlEd lETteRS'],
    [':upperfirst :lower', 'juMBlEd lETteRS', 'Jumbled letters'],
    [':lowerfirst :upper', 'abc', 'aBC'],
    [':quotewildcard', 'Rock*', 'Rock\\*'],
    [':length :quotewildcard', '*?', '4'],
    [':encodeurl', 'Safe body&evil=evilbody é', 'Safe%20body%26evil%3Devilbody%20%C3%A9'],
  ] as const)
    assert.equal(textOf(`\${v}`, `set ${modifiers} "v" "${value}";`), result, modifiers);
});

test('match variables are what the wildcards stood for, each the shortest text', () => {
  for (const [pattern, value, text, result] of [
    ['[*] *', '[acme-users] [fwd] version 1.0 is out', `\${1}|\${2}`, 'acme-users|[fwd] version 1.0 is out'],
    ['*<*@*', 'A <b@c@d>', `\${0}/\${1}/\${2}/\${3}`, 'A <b@c@d>/A /b/c@d>'],
    ['**.com', 'ACME.com.com', `\${1}|\${2}`, '|ACME.com'],
    ['a?c*', 'ABCdef', `\${1}|\${01}|\${2}|\${3}`, 'B|B|def|'],
    ['*a*a', 'banana', `\${1}|\${2}`, 'b|nan'],
    ['\\\\**\\\\?', '*x?', `\${1}`, 'x'],
    ['*?*?*', 'ab', `\${1}|\${2}|\${3}|\${4}|\${5}`, '|a||b|'],
  ] as const) {
    const commands = `if not header :matches "x" "${pattern}" { stop; }`;
    assert.equal(textOf(text, commands, `X: ${value}\n\n`), result, pattern);
  }
  // A match that fails changes nothing, and tests after the decisive one are not run.
  const kept = 'if header :matches "from" "coyote@*" { if header :matches "from" "x*" { } }';
  assert.equal(textOf(`\${1}`, kept), 'desert.example.org');
  const skipped = 'if anyof (true, address :domain :matches "To" "*.com") { }';
  assert.equal(textOf(`\${1}`, skipped), '');
});

test('the test string compares texts of the script', () => {
  const commands = `set "state" "\${state} pending"; if not string :matches " \${state} " "* pending *" { stop; }`;
  assert.equal(textOf('x', commands.replaceAll('\\$', '$')), 'x');
  const script = (test: string) =>
    actionsOf(`require ["variables", "relational", "comparator-i;ascii-numeric"]; if ${test} { discard; }`)
      .length;
  assert.equal(script('string :count "eq" :comparator "i;ascii-numeric" ["", "a", "b"] "2"'), 0);
  assert.equal(script('string " a" "a"'), 1);
});

test('names of variables are checked', () => {
  for (const [text, message] of [
    ['set "a.b" "x";', '`a.b` is not the name of a variable'],
    ['set "1" "x";', '`1` is not the name of a variable'],
    [`set "\${a}" "x";`, `\`\${a}\` is not the name of a variable`],
    ['keep; set :lower :upper "a" "x";', '`:upper` cannot be used with `:lower`'],
    [`redirect "\${envelope.from}";`, '`envelope.from` is not the name of a variable'],
    [`set "a" "\${100}";`, 'match variables go up to 99'],
    [
      Array.from({ length: 257 }, (_, n) => `set "v${n}" "x";`).join(''),
      'a script has at most 256 variables',
    ],
  ] as const)
    assert.equal(errorsOf(`require "variables"; ${text}`)[0]?.replace(/^\S+ /, ''), message);
});

test('values and strings stay bounded', () => {
  const doubled = `set "a" "\${a}\${a}";`.repeat(40);
  assert.equal(textOf(`\${n}`, `set "a" "0123456789"; ${doubled} set :length "n" "\${a}";`), '8192');
  const long = `\${a}`.repeat(100);
  assert.match(textOf(long, `set "a" "0123456789"; ${doubled}`), /^failed: a string becomes too long/);
});

test('an address that variables make is checked in the run', () => {
  const script = `require "variables"; set "a" "nobody"; redirect "\${a}";`;
  assert.deepEqual(actionsOf(script), [
    'failed: the address of `redirect` must be one email address, but it is "nobody"',
  ]);
});

test('scripts include each other as in RFC 6609', () => {
  const scripts = (texts: Record<string, string>) => ({
    scripts: new Map(Object.entries(texts).map(([name, text]) => [name, checkScript(text)])),
  });
  const main = (text: string) => `require ["include", "fileinto", "variables"];\n${text}`;
  const others = scripts({
    'personal/a': 'require ["include", "fileinto"]; fileinto "a"; return; fileinto "never";',
    'global/a': 'require "fileinto"; fileinto "site";',
    'personal/stop': 'stop;',
    'personal/self': 'require "include"; include "self";',
    'personal/once': 'require "include"; include :once "once";',
    'personal/wrong': 'keep;\nfly;',
    'personal/set': `require ["include", "variables"]; global "shared"; set "own" "x"; set "shared" "[\${shared}\${own}]";`,
    'personal/fails': 'require "ihave";\n\nerror "broken";',
  });
  for (const [text, ...actions] of [
    ['include "a"; fileinto "b";', 'fileinto a', 'fileinto b'],
    ['include :global "a";', 'fileinto site'],
    ['include "stop"; fileinto "b";', 'implicit keep'],
    ['return; fileinto "b";', 'implicit keep'],
    ['include "none";', 'failed: the script "none" does not exist'],
    ['include :optional "none";', 'implicit keep'],
    ['include "self";', 'failed: the script "self" includes itself'],
    ['include "once"; include :once "once";', 'implicit keep'],
    ['include "wrong";', 'failed: the script "wrong" has an error on line 2: the command `fly` is unknown'],
    [
      `global "shared"; set "own" "o"; set "shared" "s"; include "set"; fileinto "\${shared}\${own}";`,
      'fileinto [sx]o',
    ],
    [`set "global.shared" "g"; include "set"; fileinto "\${global.shared}";`, 'fileinto [gx]'],
    [`include "set"; fileinto "-\${shared}";`, 'fileinto -'],
  ] as const)
    assert.deepEqual(actionsOf(main(text), MESSAGE_A, others), actions, text);
  assert.deepEqual(errorsOf(main('set "x" "1"; global "x";')), [
    '2:21 the variable `x` was set before it became global',
  ]);
  assert.deepEqual(errorsOf(main('include "";')), ['2:9 this is not the name of a script']);
  assert.deepEqual(errorsOf('require "include"; global "x";'), ['1:20 `global` needs `require "variables"`']);
});

test('what fails in an included script names it and its line, and deep includes end', () => {
  const deep = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`personal/${n}`, `require "include"; include "${n + 1}";`]),
  );
  const scripts = new Map(Object.entries(deep).map(([name, text]) => [name, checkScript(text)]));
  assert.deepEqual(actionsOf('require "include"; include "0";', MESSAGE_A, { scripts }), [
    'failed: scripts are included more than 10 deep',
  ]);
});
