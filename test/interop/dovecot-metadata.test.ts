/**
 * Compares the answers to generated GETMETADATA and SETMETADATA commands with those of Dovecot, as sets of entries and values. Commands
 * for which Dovecot differs from RFC 5464 are left out: it takes names with too few levels (section 3.2), keeps shared entries of the
 * server to its operator, takes no options behind the mailbox (section 4.2.1), ends at a malformed name in SETMETADATA, and takes the
 * literals of a refused SETMETADATA for commands.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startServer } from '../mail/imap/fixture.ts';
import { createAccountMail } from '../support/account-mail.ts';
import { unpackDovecot } from './dovecot.ts';

const COMMANDS = 400;

const mailboxes = fc.constantFrom('INBOX', 'INBOX', '""', 'Box', 'nowhere');
const goodNames = fc.constantFrom(
  ...['/private/a', '/PRIVATE/A', '/private/a/b', '/private/a/b/c', '/private/ab', '/private/vendor/x/y'],
  ...['/shared/a', '/Shared/a/b', '/shared/comment'],
);
const names = fc.oneof(
  { weight: 4, arbitrary: goodNames },
  fc.constantFrom('/private//a', '/private/a/', 'private/a', '"/private/a*"'),
);
const entries = fc.oneof(
  names,
  fc.array(names, { minLength: 1, maxLength: 4 }).map((list) => `(${list.join(' ')})`),
);
const options = fc.constantFrom(
  ...[
    '',
    '',
    '(DEPTH 0) ',
    '(depth 1) ',
    '(DEPTH infinity) ',
    '(MAXSIZE 3) ',
    '(MAXSIZE 0 DEPTH 1) ',
    '(DEPTH 2) ',
  ],
);
const values = fc.constantFrom('NIL', '"x"', '"four"', '""', '{5+}\r\na\r\nbc', '"say \\"hi\\""');
const commands = fc.oneof(
  fc
    .tuple(options, mailboxes, entries)
    .map(([option, mailbox, list]) => `GETMETADATA ${option}${mailbox} ${list}`),
  fc
    .tuple(mailboxes, fc.array(fc.tuple(goodNames, values), { minLength: 1, maxLength: 3 }))
    .filter(([mailbox, pairs]) => mailbox !== '""' || !/shared/i.test(pairs.join()))
    .filter(([mailbox, pairs]) => mailbox !== 'nowhere' || !pairs.join().includes('{'))
    .map(([mailbox, pairs]) => `SETMETADATA ${mailbox} (${pairs.map((pair) => pair.join(' ')).join(' ')})`),
);

test('answers about annotations are those of Dovecot', async (t) => {
  const sent = ['CREATE Box', ...fc.sample(commands, { numRuns: COMMANDS, seed: 1 })];
  const dovecot = await unpackDovecot();
  const theirs = await dovecot.converse(
    sent.map((command, index) => `t${index + 1} ${command}\r\n`).join(''),
  );
  const client = await (await startServer(t, { mail: await createAccountMail() })).open();
  let from = theirs.indexOf('\r\n') + 2;
  for (const [index, command] of sent.entries()) {
    const [completion = ''] = theirs.slice(from).match(new RegExp(`^t${index + 1} .*\r\n`, 'm')) ?? [];
    const to = theirs.indexOf(completion, from);
    const answer = theirs.slice(from, to);
    from = to + completion.length;
    const lines = await client.ask(command);
    const ours = lines
      .slice(0, -1)
      .map((line) => `${line}\r\n`)
      .join('');
    assert.equal(statusOf(lines.at(-1) ?? ''), statusOf(completion.replace(/^t\d+ /, '')), command);
    assert.deepEqual(readEntries(ours), readEntries(answer), command);
  }
});

function statusOf(completion: string): string {
  return completion.match(/^(?:OK|NO|BAD)|METADATA [A-Z]+ \d+/g)?.join(' ') ?? '';
}

/** Returns the entries with their values, sorted. Dovecot returns an entry twice that was asked for twice. */
function readEntries(responses: string): string[] {
  const plain = responses.replace(/\{(\d+)\}\r\n/g, '{$1}').replace(/\{(\d+)\}/g, (_, size) => `<${size}>`);
  const found: string[] = [];
  for (let at = 0; at < plain.length; ) {
    const entry = /\/[^ ]+ /y;
    entry.lastIndex = at;
    const [name] = entry.exec(plain) ?? [];
    if (name === undefined) {
      at++;
      continue;
    }
    at += name.length;
    const rest = plain.slice(at);
    const [literal, size] = /^<(\d+)>/.exec(rest) ?? [];
    const [quoted] = /^"(?:[^"\\]|\\.)*"|^NIL/.exec(rest) ?? [];
    const value =
      literal === undefined ? (quoted ?? '') : rest.slice(literal.length, literal.length + Number(size));
    at += literal === undefined ? value.length : literal.length + value.length;
    const text = value === 'NIL' ? value : JSON.stringify(quoted === undefined ? value : JSON.parse(value));
    found.push(`${name.toLowerCase()}${text}`);
  }
  return [...new Set(found)].sort();
}
