/** Imports and exports over the routes of the control socket, with a mailbox in memory. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { after, test } from 'node:test';
import { createHttpServer } from '../../../src/http/json/server.ts';
import type { HttpServer } from '../../../src/http/transport/server.ts';
import type { ArchivedMessage } from '../../../src/mailbox-imports/archive/message.ts';
import { readArchive } from '../../../src/mailbox-imports/archive/read.ts';
import {
  BATCH_BYTES,
  MAX_MESSAGES,
  registerTransferAdmin,
} from '../../../src/mailbox-imports/transfer/admin-api.ts';
import {
  type ExportSource,
  exportMessages,
  OtherExportError,
} from '../../../src/mailbox-imports/transfer/export.ts';
import { type ImportTarget, importMessages } from '../../../src/mailbox-imports/transfer/import.ts';
import { MAX_RECORD_BYTES, RECORDS_TYPE } from '../../../src/mailbox-imports/transfer/records.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestApp } from '../../support/test-app.ts';
import { collect, inPieces, type PlainMessage, plainMessage } from '../archive/messages.ts';
import { type MemoryContents, memoryContents } from './memory-contents.ts';

const world = await openTestApp();
const { address } = await addMailbox(world);
const PATH = `/mailboxes/${encodeURIComponent(address)}`;
const servers: HttpServer[] = [];
after(async () => {
  for (const server of servers) await server.close();
  await world.close();
});

type Wire = { server: HttpServer; target: ImportTarget; source: ExportSource };

/** Connects a mailbox as the commands do. */
async function connect(contents: MemoryContents | undefined): Promise<Wire> {
  const { app } = world;
  const about = { title: 'Control', description: '', version: '1' };
  const server = await createHttpServer(app, about, { bodies: app.guards.memory.control });
  servers.push(server);
  registerTransferAdmin(server, { ...app, mailboxContents: contents });
  const post = async (path: string, payload: Readable | object, type = 'application/json') => {
    const response = await server.inject({
      method: 'POST',
      url: `${PATH}${path}`,
      payload,
      headers: { 'content-type': type },
    });
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  return {
    server,
    target: {
      findMissing: async (deliveryIds) => (await post('/missing', { deliveryIds })).missing,
      add: (bytes) => post('/messages', Readable.from(bytes), RECORDS_TYPE),
    },
    source: {
      listFolders: async () => (await server.inject(`${PATH}/folders`)).json().folders,
      async *read({ folder, after: uid }) {
        const url = `${PATH}/messages?${new URLSearchParams({ folder, after: String(uid) })}`;
        const response = await server.inject(url);
        assert.equal(response.headers['content-type'], RECORDS_TYPE);
        yield response.rawPayload;
      },
    },
  };
}

async function* archive(messages: readonly PlainMessage[]): AsyncGenerator<ArchivedMessage> {
  for (const message of messages) yield { ...message, content: inPieces(message.content, 100_000) };
}

const silent = () => {};

const MIXED = [
  plainMessage({ key: '1', flags: ['\\Seen', 'todo'] }),
  plainMessage({ key: '2', folder: 'Lists/dev', content: 'Subject: \u00ff\r\n\r\n\n\r\n' }),
  plainMessage({ key: '3', folder: 'Lists/dev', receivedAt: Date.UTC(2001, 0, 1) }),
  plainMessage({ key: '4' }),
];

test('an import keeps folders, flags, dates and bytes, and a second one adds nothing', async () => {
  const contents = memoryContents();
  const { target } = await connect(contents);
  const done = await importMessages(target, archive(MIXED), silent);
  assert.deepEqual({ ...done, readBytes: 0 }, { read: 4, readBytes: 0, added: 4, tooLarge: 0 });
  const stored = [...contents.folders].flatMap(([folder, messages]) =>
    messages.map(({ flags, receivedAt, content }) => ({
      folder,
      flags,
      receivedAt,
      content: Buffer.from(content).toString('latin1'),
    })),
  );
  const expected = [MIXED[0], MIXED[3], MIXED[1], MIXED[2]].map((message) => {
    const { key: _, ...rest } = message ?? assert.fail();
    return rest;
  });
  assert.deepEqual(stored, expected);
  const groups = contents.groups.length;
  const again = await importMessages(target, archive(MIXED), silent);
  assert.equal(again.added, 0);
  assert.equal(contents.groups.length, groups, 'nothing was sent again');
});

test('messages with the same key and another content, or in another folder, are different messages', async () => {
  const { target } = await connect(memoryContents());
  const changes = [{}, { content: 'Subject: other\r\n\r\n' }, { folder: 'Other' }, { key: 'other' }];
  const messages = changes.map((changed) => plainMessage(changed));
  assert.equal((await importMessages(target, archive(messages), silent)).added, 4);
  const flagged = messages.map((message) => ({ ...message, flags: ['\\Flagged'] }));
  assert.equal((await importMessages(target, archive(flagged), silent)).added, 0);
});

test('an import that was interrupted goes on where it ended, and holds one batch at a time', async () => {
  const contents = memoryContents();
  const { target } = await connect(contents);
  const many = Array.from({ length: 2 * MAX_MESSAGES + 10 }, (_, index) => plainMessage({ key: `${index}` }));
  const reports: number[] = [];
  await assert.rejects(
    importMessages(target, archive(many), ({ added }) => {
      reports.push(added);
      throw new Error('interrupted');
    }),
    /interrupted/,
  );
  assert.deepEqual(reports, [MAX_MESSAGES]);
  const { added } = await importMessages(target, archive(many), silent);
  assert.equal(added, MAX_MESSAGES + 10);
  assert.equal(contents.folders.get('INBOX')?.length, many.length);
  assert.deepEqual(contents.groups, [MAX_MESSAGES, MAX_MESSAGES, 10]);
});

test('large messages are sent in batches of some megabytes, and larger ones than any server takes are left out', async () => {
  const contents = memoryContents();
  const { target } = await connect(contents);
  const large = (key: string, sizeBytes: number) => plainMessage({ key, content: 'x'.repeat(sizeBytes) });
  const messages = [
    large('1', 10),
    large('2', BATCH_BYTES),
    large('3', MAX_RECORD_BYTES + 1),
    large('4', 10),
  ];
  const done = await importMessages(target, archive(messages), silent);
  assert.deepEqual([done.read, done.added, done.tooLarge], [4, 3, 1]);
  assert.deepEqual(contents.groups, [2, 1]);
});

for (const format of ['maildir', 'mbox'] as const) {
  test(`what is exported as ${format} is imported again as it was`, async () => {
    const contents = memoryContents();
    const { target, source } = await connect(contents);
    await importMessages(target, archive(MIXED), silent);
    const directory = temporaryDirectory('export');
    const options = { directory, format, address, hostname: 'mail.example.com' };
    assert.equal((await exportMessages(source, options, silent)).messages, 4);
    assert.equal((await exportMessages(source, options, silent)).messages, 0);
    const found = await collect(readArchive(directory));
    const plain = (messages: readonly PlainMessage[]) =>
      messages
        .map(({ folder, flags, receivedAt, content }) => JSON.stringify([folder, flags, receivedAt, content]))
        .sort();
    const lf = MIXED.map((message) => ({ ...message, content: message.content.replace(/\r?\n/g, '\r\n') }));
    assert.deepEqual(plain(found), plain(lf));
    await assert.rejects(
      exportMessages(source, { ...options, address: 'bob@people.example' }, silent),
      OtherExportError,
    );
  });

  test(`an interrupted export as ${format} goes on where it ended, and a later one adds what has come`, async () => {
    const contents = memoryContents();
    const { target, source } = await connect(contents);
    await importMessages(target, archive(MIXED), silent);
    const directory = temporaryDirectory('export');
    const options = { directory, format, address, hostname: 'mail.example.com' };
    await assert.rejects(
      exportMessages(source, options, () => {
        throw new Error('interrupted');
      }),
      /interrupted/,
    );
    assert.equal((await exportMessages(source, options, silent)).messages, 2);
    await importMessages(target, archive([plainMessage({ key: 'new' })]), silent);
    assert.equal((await exportMessages(source, options, silent)).messages, 1);
    assert.equal((await collect(readArchive(directory))).length, 5);
  });
}

test('the sender of the envelope stands in the line that begins a message of an mbox', async () => {
  const { target, source } = await connect(memoryContents());
  const content = 'Return-Path: <bob@sender.example>\r\nSubject: x\r\n\r\n';
  await importMessages(target, archive([plainMessage({ content })]), silent);
  const directory = temporaryDirectory('export');
  await exportMessages(source, { directory, format: 'mbox', address, hostname: 'h' }, silent);
  assert.match(readFileSync(join(directory, 'INBOX.mbox'), 'latin1'), /^From bob@sender\.example Fri Nov 21/);
});

test('a folder that was made anew is exported from its beginning', async () => {
  const contents = memoryContents();
  const { target, source } = await connect(contents);
  await importMessages(target, archive([plainMessage()]), silent);
  const directory = temporaryDirectory('export');
  const options = { directory, format: 'mbox', address, hostname: 'h' } as const;
  await exportMessages(source, options, silent);
  const state = join(directory, '.postrider-export.json');
  writeFileSync(state, readFileSync(state, 'utf8').replace('"uidValidity": 100', '"uidValidity": 7'));
  assert.equal((await exportMessages(source, options, silent)).messages, 1);
  assert.equal((await collect(readArchive(directory))).length, 1);
  rmSync(state);
  assert.equal((await exportMessages(source, options, silent)).messages, 1);
  assert.deepEqual(readdirSync(directory), ['.postrider-export.json', 'INBOX.mbox']);
});

test('a mailbox that does not exist is not found, and without a daemon nothing is moved', async () => {
  const { server } = await connect(memoryContents());
  const unknown = await server.inject('/mailboxes/nobody%40people.example/folders');
  assert.equal(unknown.statusCode, 404);
  const { server: without } = await connect(undefined);
  const refused = await without.inject(`${PATH}/folders`);
  assert.equal(refused.statusCode, 409);
  assert.match(refused.body, /No daemon is running/);
});

test('a body that ends within a message adds nothing of it', async () => {
  const contents = memoryContents();
  const { server } = await connect(contents);
  const head = JSON.stringify({ folder: 'INBOX', deliveryId: 'a', flags: [], receivedAt: 0, sizeBytes: 100 });
  const headers = { 'content-type': RECORDS_TYPE };
  for (const payload of [`${head}\nshort`, head, `${head.replace('100', String(MAX_RECORD_BYTES + 1))}\n`]) {
    const response = await server.inject({ method: 'POST', url: `${PATH}/messages`, headers, payload });
    assert.equal(response.statusCode, 400, response.body);
  }
  assert.deepEqual(contents.folders.get('INBOX'), []);
});
