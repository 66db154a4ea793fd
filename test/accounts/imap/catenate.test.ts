/** CATENATE over an account: its limits, the form of the stored messages, and other sessions meanwhile. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { INLINE_BYTES } from '../../../src/accounts/content.ts';
import { contentFolder } from '../../../src/accounts/folder.ts';
import { openImapAccount } from '../../../src/accounts/imap/imap-account.ts';
import { removeUnused } from '../../../src/accounts/remove-unused.ts';
import { pathOf } from '../../../src/blobs/files.ts';
import type { MessagePart } from '../../../src/mail/imap/session.ts';
import { startServer } from '../../mail/imap/fixture.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { messageOf } from '../../support/test-account.ts';

const KIB = 1024;
const mail = await createAccountMail();
const full = await createAccountMail({ quotaBytes: 100 * KIB });
let folders = 0;

/** Opens a session that has selected a new folder with a message of this size as UID 1. */
async function open(t: TestContext, { of = mail, sizeBytes = 0, messageBytes = 40 * KIB * KIB } = {}) {
  const folder = `c${++folders}`;
  const server = await startServer(t, { mail: of, limits: { messageBytes } });
  const client = await server.open(`CREATE ${folder}`);
  const octets = messageOf(folder, sizeBytes);
  await of.deliver(folder, octets);
  await client.ask(`SELECT ${folder}`);
  const catenate = async (parts: string) =>
    (await client.ask(`APPEND ${folder} CATENATE (${parts})`)).at(-1) ?? '';
  /** Sends parts of which the last one is a text that the server has to ask for. */
  const announce = async (parts: string) =>
    (await client.ask(`APPEND ${folder} CATENATE (${parts}`)).at(-1) ?? '';
  const url = `URL "/${folder}/;UID=1"`;
  const size = async () => (await client.ask(`STATUS ${folder} (MESSAGES)`))[0];
  return { folder, client, octets, catenate, announce, url, size };
}

const text = (octets: string) => `TEXT {${octets.length}+}\r\n${octets}`;
const fileCount = () =>
  readdirSync(contentFolder(mail.account.folder), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  ).length;

test('a message of parts that are too large together is TOOBIG, also beyond a single one', async (t) => {
  const { catenate, announce, url, octets, size } = await open(t, {
    sizeBytes: 30 * KIB,
    messageBytes: 100 * KIB,
  });
  const fitting = Math.floor((100 * KIB) / octets.length);
  assert.match(await catenate(Array(fitting).fill(url).join(' ')), /^OK/);
  assert.match(
    await catenate(
      Array(fitting + 1)
        .fill(url)
        .join(' '),
    ),
    /^NO \[TOOBIG\]/,
  );
  assert.match(await announce(`${Array(fitting).fill(url).join(' ')} TEXT {${20 * KIB}}`), /^NO \[TOOBIG\]/);
  assert.match((await size()) ?? '', /MESSAGES 2/);
});

test('nothing of a refused message stays', async (t) => {
  const { catenate, url, octets } = await open(t, { sizeBytes: 400 * KIB, messageBytes: 900 * KIB });
  assert.ok(octets.length > INLINE_BYTES);
  assert.match(await catenate(`${url} ${url}`), /^OK/);
  const files = fileCount();
  assert.match(await catenate(`${url} ${url} ${url}`), /^NO \[TOOBIG\]/);
  assert.match(await catenate(`${url} URL "/nowhere/;UID=1"`), /^NO \[BADURL/);
  assert.equal(fileCount(), files);
});

test('a part that is too large is not read', async (t) => {
  const { catenate, url } = await open(t, { sizeBytes: 400 * KIB, messageBytes: 300 * KIB });
  const { blobSha256 } = await mail.account.db.read
    .selectFrom('contents')
    .select('blobSha256')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  rmSync(pathOf(contentFolder(mail.account.folder), blobSha256 ?? assert.fail()));
  assert.match(await catenate(url), /^NO \[TOOBIG\]/);
});

test('the octets of URLs count for the quota, and those of a replaced message do not', async (t) => {
  const { folder, client, catenate, announce, url } = await open(t, { of: full, sizeBytes: 40 * KIB });
  assert.match(await catenate(`${url} ${url}`), /^NO \[OVERQUOTA\]/);
  assert.match(await announce(`${url} TEXT {${30 * KIB}}`), /^NO \[OVERQUOTA\]/);
  const replaced = await client.ask(`REPLACE 1 ${folder} CATENATE (${url} ${url})`);
  assert.match(replaced.at(-1) ?? '', /^OK/);
  assert.match(
    (await client.ask(`APPEND ${folder} CATENATE (URL ";UID=2")`)).at(-1) ?? '',
    /^NO \[OVERQUOTA\]/,
  );
});

test('lines get their CRLF across parts, and NUL is only in binary parts, which are encoded', async (t) => {
  const { client, catenate, url, octets } = await open(t);
  assert.match(await catenate(`${text('a: b\nc: d\r')} ${text('\n\n')} ${url}`), /^OK/);
  const read = async (uid: number) =>
    (await client.ask(`UID FETCH ${uid} BODY.PEEK[]`)).slice(0, -1).join('');
  assert.ok((await read(2)).includes(`\r\na: b\r\nc: d\r\n\r\n${octets})`));
  assert.match(await catenate(text('a: b\r\n\r\na\0b')), /^NO \[CANNOT\]/);
  const binary = (part: string) => `TEXT ~{${part.length}+}\r\n${part}`;
  assert.match(
    await catenate(`${text('Content-Type: application/x\n\n')} ${binary('a\0b\n')} ${text('c\n')}`),
    /^OK/,
  );
  const encoded = await read(3);
  assert.match(encoded, /Content-Type: application\/x\r\nContent-Transfer-Encoding: base64\r\n\r\n/);
  assert.ok(encoded.includes(Buffer.from('a\0b\nc\n').toString('base64')), encoded);
  assert.match(await catenate(`${text('a: b\n\n')} ${binary('c\nd')}`), /^OK/);
  assert.ok((await read(4)).includes('a: b\r\n\r\nc\r\nd)'));
  // Large ones are in files.
  const large = 'x'.repeat(INLINE_BYTES);
  const files = fileCount();
  assert.match(await catenate(`${text(`a: b\r\n\r\n${large}`)} ${binary('\0')}`), /^OK/);
  assert.equal(fileCount(), files + 1);
});

/** Has a message put together in a folder, and returns the answer. */
async function append(
  session: ReturnType<typeof openImapAccount>,
  content: AsyncIterable<Buffer | MessagePart>,
) {
  const head = { flags: [], internalDate: undefined, utf8: false, isBinary: false, isSynchronizing: true };
  async function* messages() {
    yield { ...head, sizeBytes: 40 * KIB * KIB, isCatenated: true as const, content };
  }
  return await session.append('Sent', messages());
}

async function* partsOf(...urls: readonly string[]): AsyncGenerator<MessagePart> {
  for (const url of urls) yield { kind: 'url', url };
}

/** Opens a session without a client, and a new folder with a large message. */
async function openWithLarge() {
  const folder = `c${++folders}`;
  const session = openImapAccount(mail.account, { disabledCapabilities: [], quotaBytes: null });
  await session.create({ mailbox: folder, specialUse: undefined });
  await mail.deliver(folder, messageOf(folder, 900 * KIB));
  return { folder, session, url: `/${folder}/;UID=1` };
}

test('a part is read to its end when another session removes its message meanwhile', async (t) => {
  const { folder, session, url } = await openWithLarge();
  const { heldContents } = mail.account;
  const add = heldContents.add.bind(heldContents);
  let removal = Promise.resolve();
  const held = t.mock.method(heldContents, 'add', (id: number) => {
    add(id);
    removal = session.delete(folder).then(() => removeUnused(mail.account));
  });
  const answer = await append(session, partsOf(url));
  await removal;
  assert.equal(held.mock.callCount(), 1);
  assert.ok('uids' in answer, JSON.stringify(answer));
  held.mock.restore();
  assert.equal('refused' in (await append(session, partsOf(url))), true);
  session.close();
});

test('nothing of another account can be named', async (t) => {
  const other = await createAccountMail();
  await other.deliver('INBOX', messageOf('secret'));
  const { catenate } = await open(t);
  for (const url of [
    'INBOX/;UID=1',
    '/../mbx_2/INBOX/;UID=1',
    '/../../INBOX/;UID=1',
    'imap://other@mail.test/INBOX/;UID=1',
    '//other@mail.test/INBOX/;UID=1',
    '/%2E%2E/INBOX/;UID=1',
  ])
    assert.match(await catenate(`URL "${url}"`), /^NO \[BADURL/, url);
});

test('what follows a message that is refused once it was read is no command', async (t) => {
  const { folder, client, size } = await open(t);
  const header = `a: ${'x'.repeat(300 * KIB)}\r\n\r\n`;
  for (const command of [
    `APPEND ${folder} {${header.length}+}\r\n${header} {4+}\r\nNOOP`,
    `APPEND ${folder} CATENATE (${text(header)}) {4+}\r\nNOOP`,
  ])
    assert.match((await client.ask(command)).join('\n'), /^NO \[TOOBIG\][^\n]*$/);
  assert.deepEqual(await client.ask('NOOP'), ['OK NOOP completed']);
  assert.match((await size()) ?? '', /MESSAGES 1/);
});

test('a large message goes to its file while it is put together', async () => {
  const { session, url } = await openWithLarge();
  const before = fileCount();
  let written = 0;
  async function* content(): AsyncGenerator<MessagePart> {
    yield* partsOf(url, url);
    written = fileCount() - before;
    yield* partsOf('/bad');
  }
  assert.equal('refused' in (await append(session, content())), true);
  assert.equal(written, 1);
  assert.equal(fileCount(), before);
  session.close();
});
