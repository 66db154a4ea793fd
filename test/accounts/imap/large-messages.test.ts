/** FETCH of messages that are in files, some of which are damaged. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { addMessages } from '../../../src/accounts/add.ts';
import { prepareContent } from '../../../src/accounts/content.ts';
import { contentFolder } from '../../../src/accounts/folder.ts';
import { openImapAccount } from '../../../src/accounts/imap/imap-account.ts';
import { pathOf } from '../../../src/blobs/files.ts';
import type { FetchItem } from '../../../src/mail/imap/fetch-item.ts';
import { isRefusal, type SelectedMailbox } from '../../../src/mail/imap/session.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { messageOf } from '../../support/test-account.ts';

const { account, deliver } = await createAccountMail();
const PREFIX = 'Return-Path: <a@test.example>\r\n';
let folders = 0;

/** Selects a new folder with one large message, and returns it with the file and the octets of the message. */
async function open(octets: Buffer = messageOf('large', 2_000_000)) {
  const folder = `f${++folders}`;
  const session = openImapAccount(account, { disabledCapabilities: [], quotaBytes: null });
  await session.create({ mailbox: folder, specialUse: undefined });
  await deliver(folder, octets, { prefix: PREFIX });
  const answer = await session.select(folder, { readOnly: false, condstore: false });
  if (isRefusal(answer)) return assert.fail(answer.text);
  const { blobSha256 } = await account.db.read
    .selectFrom('contents')
    .select('blobSha256')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  const file = pathOf(contentFolder(account.folder), blobSha256 ?? assert.fail());
  return { selected: answer.selected, octets: Buffer.concat([Buffer.from(PREFIX), octets]), file };
}

const section = (label: string, offset?: number, count = 1e9): FetchItem => ({
  kind: 'SECTION',
  label,
  section: { part: [], text: label === 'BODY[TEXT]' ? 'TEXT' : undefined, fields: [] },
  peek: true,
  partial: offset === undefined ? undefined : { offset, count },
});

const fetch = (selected: SelectedMailbox, items: readonly FetchItem[]) =>
  selected.fetch({ set: [[1, 1]], uid: false, items, changedSince: undefined, vanished: false } as never);

async function read(chunks: ReturnType<SelectedMailbox['fetch']>) {
  const read: Buffer[] = [];
  for (;;) {
    const next = await chunks.next();
    if (next.done) return { octets: Buffer.concat(read), result: next.value };
    read.push(next.value);
  }
}

test('sections of a message in a file are answered whole', async () => {
  const { selected, octets } = await open();
  const text = octets.subarray(octets.indexOf('\r\n\r\n') + 4);
  const items = [
    section('BODY[]'),
    section('BODY[TEXT]'),
    section('BODY[]', 5, 400_000),
    { kind: 'UID' } as const,
  ];
  const answer = await read(fetch(selected, items));
  const literal = (label: string, of: Buffer) =>
    Buffer.concat([Buffer.from(`${label} {${of.length}}\r\n`), of]);
  const expected = [
    Buffer.from('* 1 FETCH ('),
    literal('BODY[]', octets),
    Buffer.from(' '),
    literal('BODY[TEXT]', text),
    Buffer.from(' '),
    literal('BODY[]<5>', octets.subarray(5, 400_005)),
    Buffer.from(' UID 1)\r\n'),
  ];
  assert.ok(answer.octets.equals(Buffer.concat(expected)));
  assert.equal(answer.result, undefined);
});

test('a large message is read as its client takes it, however many items show it', async () => {
  const { selected, file } = await open();
  const items = Array.from({ length: 500 }, (_, index) => section('BODY[]', index));
  const chunks = fetch(selected, items);
  assert.equal((await chunks.next()).done, false);
  rmSync(file);
  const { octets, result } = await read(chunks);
  assert.ok(octets.length < 1_000_000, `${octets.length} octets were held`);
  // The literal cannot be completed.
  assert.equal(result && isRefusal(result) && result.refused, 'BYE');
});

/** Returns a message whose only part is encoded, and the decoded part. */
function encoded(encoding: 'base64' | 'quoted-printable'): { message: Buffer; part: Buffer } {
  const line = encoding === 'base64' ? Buffer.alloc(57, 'x\0y') : Buffer.from(`${'x'.repeat(60)}=\r\n`);
  const lines = Array.from({ length: 20_000 }, () =>
    encoding === 'base64' ? Buffer.from(`${line.toString('base64')}\r\n`) : line,
  );
  const head = `Content-Type: application/x-own\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`;
  const octets = encoding === 'base64' ? line : line.subarray(0, 60);
  return {
    message: Buffer.concat([Buffer.from(head), ...lines]),
    part: Buffer.concat(Array.from({ length: 20_000 }, () => octets)),
  };
}

const binary = (offset?: number, count = 10): FetchItem => ({
  kind: 'BINARY',
  part: [1],

  peek: true,
  partial: offset === undefined ? undefined : { offset, count },
});

test('a large part is decoded as its client takes it', async () => {
  for (const encoding of ['base64', 'quoted-printable'] as const) {
    const { message, part } = encoded(encoding);
    const { selected, file } = await open(message);
    const sign = encoding === 'base64' ? '~' : '';
    const items = [binary(), { kind: 'BINARY.SIZE', part: [1] } as const, binary(300_001)];
    const { octets, result } = await read(fetch(selected, items));
    const begin = `* 1 FETCH (BINARY[1] ${sign}{${part.length}}\r\n`;
    assert.equal(octets.toString('latin1', 0, begin.length), begin);
    assert.ok(octets.subarray(begin.length, begin.length + part.length).equals(part));
    const rest = octets.toString('latin1', begin.length + part.length);
    const some = part.toString('latin1', 300_001, 300_011);
    assert.equal(rest, ` BINARY.SIZE[1] ${part.length} BINARY[1]<300001> ${sign}{10}\r\n${some})\r\n`);
    assert.equal(result, undefined);
    const chunks = fetch(selected, [binary()]);
    assert.equal((await chunks.next()).done, false);
    rmSync(file);
    const cut = await read(chunks);
    assert.ok(cut.octets.length < part.length / 2, `${cut.octets.length} octets were held`);
    assert.equal(cut.result && isRefusal(cut.result) && cut.result.refused, 'BYE');
  }
});

test('a damaged file is never answered as a whole message', async () => {
  const { selected, file, octets } = await open();
  const stored = readFileSync(file);
  stored[stored.length - 3] = 0x21;
  writeFileSync(file, stored);
  const answer = await read(fetch(selected, [section('BODY[]')]));
  assert.ok(answer.octets.length < octets.length);
  assert.equal(answer.result && isRefusal(answer.result) && answer.result.refused, 'BYE');
});

test('what describes messages is read for some of them at once', async () => {
  const folder = `f${++folders}`;
  const session = openImapAccount(account, { disabledCapabilities: [], quotaBytes: null });
  await session.create({ mailbox: folder, specialUse: undefined });
  const content = await prepareContent(account, [messageOf(folder)]);
  const described = { ...content, row: { ...content.row, bodyStructure: `"${'x'.repeat(2_000)}"` } };
  const message = { content: described, flags: 0, keywords: [], internalDate: { atMs: 0, zoneMinutes: 0 } };
  await addMessages(account, { folder, messages: Array.from({ length: 200 }, () => message) });
  const answer = await session.select(folder, { readOnly: true, condstore: false });
  if (isRefusal(answer)) return assert.fail(answer.text);
  const query = { set: [[1, 200]], uid: false, items: [{ kind: 'BODYSTRUCTURE' }], changedSince: undefined };
  const chunks = answer.selected.fetch(query as never);
  assert.equal((await chunks.next()).done, false);
  await account.db.maintain((connection) => connection.exec('DELETE FROM messages'));
  const { octets } = await read(chunks);
  assert.ok(octets.length < 100 * 2_000, `${octets.length} octets were held`);
});

test('LIST takes no longer for names with many levels', async () => {
  const session = openImapAccount(account, { disabledCapabilities: [], quotaBytes: null });
  const deep = 'd/'.repeat(480);
  const names = Array.from({ length: 4_000 }, (_, index) => `${deep}${index}`);
  await account.db.maintain((connection) => {
    const insert = connection.prepare('INSERT INTO subscriptions (name) VALUES (?)');
    connection.transaction(() => {
      for (const name of names) insert.run(name);
    })();
  });
  const query = {
    response: 'LSUB',
    patterns: ['d/%'],
    select: { subscribed: false, remote: false, recursiveMatch: false, specialUse: false },
    return: { subscribed: false, children: false, specialUse: false, status: [] },
  };
  const start = process.threadCpuUsage();
  const { octets } = await read(session.list(query as never) as never);
  const { user, system } = process.threadCpuUsage(start);
  assert.match(octets.toString(), /^\* LSUB \(\\Noselect\) "\/" d\/d\r\n$/);
  assert.ok(user + system < 1_000_000, `${user + system} µs`);
});

test('a STORE of all messages is committed in parts, between which other accounts are served', async (t) => {
  const folder = `f${++folders}`;
  const session = openImapAccount(account, { disabledCapabilities: [], quotaBytes: null });
  await session.create({ mailbox: folder, specialUse: undefined });
  const content = await prepareContent(account, [messageOf(folder)]);
  const message = { content, flags: 0, keywords: [], internalDate: { atMs: 0, zoneMinutes: 0 } };
  await addMessages(account, { folder, messages: Array.from({ length: 4_500 }, () => message) });
  const answer = await session.select(folder, { readOnly: false, condstore: false });
  if (isRefusal(answer)) return assert.fail(answer.text);
  const commit = t.mock.method(account.db, 'commit');
  const store = (set: unknown) =>
    answer.selected.store({
      ...{ set, uid: false, action: 'add', flags: ['\\Seen'], silent: false, unchangedSince: undefined },
    } as never);
  // Every third message of the first ones, and all of the rest.
  const sparse = Array.from({ length: 1_200 }, (_, index) => [3 * index + 1, 3 * index + 1]);
  const { octets } = await read(store([...sparse, [3_601, 4_500]]));
  assert.equal(octets.toString().match(/FETCH \(FLAGS \(\\Seen/g)?.length, 2_100);
  assert.equal(commit.mock.callCount(), 2);
  const { unseenCount } = await account.db.read
    .selectFrom('folders')
    .select('unseenCount')
    .where('name', '=', folder)
    .executeTakeFirstOrThrow();
  assert.equal(unseenCount, 2_400);
});
