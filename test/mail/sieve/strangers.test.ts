/** Scripts of other servers rely on this behaviour, as the test suites of those servers show. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionsOf, errorsOf, holds, MESSAGE_A, run } from './fixture.ts';

const MULTIPART = `From: a@b.example
Content-Type: multipart/mixed; boundary=outer

This is the prologue.
--outer
Content-Type: text/plain

Text of the part.
--outer
Content-Type: message/rfc822

From: inner@b.example
Subject: Inside

Inner text.
--outer--
This is the epilogue.
`;

const inBody = (text: string, message = MULTIPART) => holds(text, message, { require: ['body'] });

test('the content of a multipart is its prologue and its epilogue, each alone and without the delimiters', () => {
  assert.ok(inBody('body :content "multipart" :is "This is the prologue."'));
  assert.ok(inBody('body :content "multipart/mixed" :contains "the epilogue."'));
  assert.ok(!inBody('body :content "multipart" :contains "--outer"'));
  assert.ok(!inBody('body :content "multipart" :contains "Text of the part"'));
  assert.ok(!inBody('body :content "multipart" :matches "*prologue*epilogue*"'));
});

test('a multipart without a prologue or an epilogue has empty ones, also where its last part is empty', () => {
  const bare = 'Content-Type: multipart/mixed; boundary=b\n\n--b\n\nText\n--b--\n';
  assert.ok(inBody('body :content "multipart" :is ""', bare));
  assert.ok(!inBody('body :content "multipart" :contains "b"', bare));
  const empty = 'Content-Type: multipart/mixed; boundary=b\n\nP\n--b\n\n--b--\nE\n';
  assert.ok(inBody('body :content "multipart" :contains "E"', empty));
  assert.ok(!inBody('body :content "multipart" :contains "--"', empty));
  const open = 'Content-Type: multipart/mixed; boundary=b\n\nP\n--b\n\nText that goes on';
  assert.ok(inBody('body :content "multipart" :is "P"', open));
  assert.ok(!inBody('body :content "multipart" :contains "goes on"', open));
});

test('the content of a message in a message is its header without the empty line', () => {
  assert.ok(
    inBody('body :content "message/rfc822" :is "From: inner@b.example\r\nSubject: Inside\r\n"'),
    'the header as it stands',
  );
  assert.ok(!inBody('body :content "message/rfc822" :contains "Inner text"'));
});

test('a message that ends in its header has no body that any test could find, and an empty body is a text', () => {
  const headerAlone = 'From: a@b.example\nSubject: x\n';
  for (const kind of [':raw', ':text', ':content "text"'])
    assert.ok(!inBody(`body ${kind} :contains ""`, headerAlone), kind);
  assert.ok(inBody('body :raw :is ""', `${headerAlone}\n`));
});

test('recipients of a notification may be separated by an encoded comma', () => {
  const methods = (uri: string) => {
    const outcome = run(`require "enotify"; notify "${uri}";`);
    assert.equal(outcome.kind, 'done', JSON.stringify(outcome));
    const [action] = outcome.kind === 'done' ? outcome.actions : [];
    return action?.kind === 'notify' ? [action.to, action.cc] : undefined;
  };
  assert.deepEqual(methods('mailto:a@b.example%2Cc@d.example'), [['a@b.example', 'c@d.example'], []]);
  assert.deepEqual(methods('mailto:a@b.example,c@d.example'), [['a@b.example', 'c@d.example'], []]);
  assert.deepEqual(methods('mailto:a@b.example?cc=c@d.example%2ce@f.example'), [
    ['a@b.example'],
    ['c@d.example', 'e@f.example'],
  ]);
  assert.deepEqual(methods('mailto:%22a%2Cb%22@c.example'), [['"a,b"@c.example'], []]);
});

test('a method with a field that no header could have is not valid', () => {
  const isValid = (uri: string) => holds(`valid_notify_method "${uri}"`, MESSAGE_A, { require: ['enotify'] });
  assert.ok(isValid('mailto:a@b.example?subject=x&body=two%0D%0Alines&x-y=z'));
  for (const query of [
    'header:=x',
    'he%20ader=x',
    '=x',
    'subject',
    'subject=a%0D%0ABcc:c@d.example',
    'x%3A=1',
  ])
    assert.ok(!isValid(`mailto:a@b.example?${query}`), query);
});

test('addresses may have white space around their parts, as in header fields', () => {
  const to = (address: string) => actionsOf(`redirect "${address}";`);
  for (const address of [
    'a @b.test',
    'a@ b.test',
    ' a@b.test ',
    'a @ b.test',
    'Ann <a @b.test>',
    'a@b.test (Ann)',
  ])
    assert.deepEqual(to(address), ['redirect a@b.test'], address);
  for (const address of [
    'a b@c.test',
    'a@b.test c@d.test',
    'a@b.test, c@d.test',
    '@b.test',
    'a@',
    'Ann',
    'x: a@b.test;',
  ])
    assert.match(errorsOf(`redirect "${address}";`)[0] ?? '', /must be one email address/, address);
});

test('`ihave` makes extensions available, but not those that change what strings mean', () => {
  const script = (capability: string) =>
    `require ["ihave", "fileinto"]; if ihave "${capability}" { fileinto "yes \${x} \${hex:41}"; }`;
  assert.deepEqual(actionsOf(script('variables')), [`fileinto yes \${x} \${hex:41}`]);
  assert.deepEqual(actionsOf(script('encoded-character')), [`fileinto yes \${x} \${hex:41}`]);
  assert.deepEqual(actionsOf('require "ihave"; if ihave "variables" { set "a" "b"; }'), [
    'failed: `set` needs `require "variables"`',
  ]);
  assert.deepEqual(actionsOf('require ["ihave", "variables"]; if ihave "variables" { set "a" "b"; keep; }'), [
    'keep',
  ]);
  assert.deepEqual(actionsOf('require "ihave"; if ihave "fileinto" { fileinto "a"; }'), ['fileinto a']);
});

test('an empty script, and one of comments alone, keep the message', () => {
  for (const script of ['', '\r\n', '# nothing', '/* nothing */'])
    assert.deepEqual(actionsOf(script), ['implicit keep'], JSON.stringify(script));
});
