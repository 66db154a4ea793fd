import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../../../src/config/config.ts';
import { packagedReplies, RepliesFile } from '../../../../src/queue/outcome/replies/replies.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const packaged = readFileSync('config/replies.yaml', 'utf8');
const file = join(temporaryDirectory('replies'), 'replies.yaml');

/** Opens the table of the file. `lines` are those that it logs. */
function open() {
  const lines: string[] = [];
  const log = {
    info: (_: object, message: string) => void lines.push(message),
    error: (fields: object, message: string) => void lines.push(`${message}: ${JSON.stringify(fields)}`),
  };
  const config = loadConfig({ env: { POSTRIDER_DELIVERY_REPLIES_FILE: file } });
  return { replies: new RepliesFile({ config, log }), lines };
}

const rowOf = (replies: RepliesFile) =>
  replies.table.explain({ phase: 'rcpt', code: 550, enhanced: '5.1.1', text: '550 5.1.1 No', host: null })
    .row;

/** Lets two checks pass, of which the second finds that the file no longer changes. */
function check(replies: RepliesFile): void {
  replies.check();
  replies.check();
}

test('a changed file is read again once it no longer changes', () => {
  writeFileSync(file, packaged);
  const { replies, lines } = open();
  assert.equal(rowOf(replies), 'mailbox-bad-address');
  writeFileSync(file, `${packaged.replace('id: mailbox-bad-address', 'id: mine')}\n`);
  replies.check();
  assert.equal(rowOf(replies), 'mailbox-bad-address');
  replies.check();
  assert.equal(rowOf(replies), 'mine');
  check(replies);
  assert.deepEqual(lines, ['reply table read']);
});

test('a file with a mistake leaves the table before it in use, and is reported once', () => {
  writeFileSync(file, packaged.replace('id: mailbox-bad-address', 'id: mine'));
  const { replies, lines } = open();
  assert.equal(rowOf(replies), 'mine');
  writeFileSync(file, 'facts: [');
  check(replies);
  check(replies);
  rmSync(file);
  check(replies);
  assert.equal(rowOf(replies), 'mine');
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^reply table cannot be used: the one before it stays: .*replies\.yaml: /);
  assert.match(lines[1] ?? '', /does not exist/);
});

test('the packaged table is used while the file was never usable', () => {
  writeFileSync(file, 'hello');
  const { replies, lines } = open();
  assert.equal(replies.table, packagedReplies());
  assert.equal(lines.length, 1);
  writeFileSync(file, packaged.replace('id: mailbox-bad-address', 'id: mine'));
  check(replies);
  assert.equal(rowOf(replies), 'mine');
});
