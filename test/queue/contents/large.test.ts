/** Messages with large texts: stored once, composed into files for their deliveries, and the same at every attempt. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { kyselyOn } from '../../../src/db/dialect.ts';
import { createBodyHash } from '../../../src/mail/dkim/body-hash.ts';
import { composeBody } from '../../../src/mail/message/compose.ts';
import { fileParts } from '../../../src/mail/message/file-part.ts';
import { createHtmlText } from '../../../src/mail/message/html-text.ts';
import type { MessageBytes } from '../../../src/queue/contents/open.ts';
import { readSource } from '../../../src/queue/contents/read.ts';
import { findContent } from '../../../src/queue/contents/store.ts';
import { findMessage } from '../../../src/queue/store.ts';
import { dialLoopback } from '../../support/loopback.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { deliveryAppOf, openSpool } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';

const KEPT_MS = 60_000;
const FILE = Buffer.alloc(400_000, 7).toString('base64');
const sink = await startSmtpSink({ keepRaw: true });
const spool = await openSpool({
  smtpPort: sink.port,
  env: { POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8' },
  system: { dial: dialLoopback },
});
spool.addZone('rcpt.example A 127.0.0.1');
const database = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
const side = kyselyOn(database);
after(async () => {
  database.close();
  await spool.close();
  await sink.close();
});

const page = (words: string, bytes = 300_000) =>
  `<p>${`${words}\n`.repeat(Math.ceil(bytes / Buffer.byteLength(words)))}</p>`;

async function read(id: string) {
  const message = await findMessage(side, id);
  assert.ok(message);
  return { message, recipients: [] };
}

async function bytesOf(content: MessageBytes): Promise<Buffer> {
  assert.equal(content.inline, undefined, 'it is read in pieces');
  const pieces: Buffer[] = [];
  for await (const piece of content.chunks()) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  assert.equal(bytes.length, content.sizeBytes);
  return bytes;
}

/** Files of messages that are on their way. */
const onTheirWay = () => readdirSync(join(spool.dataDir, 'blobs', 'partial'));

/** Returns the message as it was composed when large messages were stored as they are sent. */
async function composedAtOnce(id: string, attachments: Parameters<typeof fileParts>[0]): Promise<Buffer> {
  const { message } = await read(id);
  const packed = await findContent(side, message.contentId ?? 0);
  assert.ok(packed);
  const { html, text } = await readSource(spool.app, packed, message);
  const parts = fileParts(attachments, html !== undefined);
  const { fields, pieces } = composeBody({ html, text, boundarySeed: id }, parts);
  return Buffer.concat([Buffer.from(`${message.fields}${fields}\r\n`, 'latin1'), ...pieces]);
}

test('a large message is stored once, and composed to the same bytes as before at every attempt', async () => {
  const attachment = { filename: 'a.bin', contentType: 'application/octet-stream', contentId: undefined };
  const content = { kind: 'base64', ascii: Buffer.from(FILE) } as const;
  const file = { filename: 'a.bin', content: FILE };
  const texts = [
    { html: page('Plain words in short lines.'), text: 'Plain' },
    { html: page('Grüße, mit = und Umlauten. '), text: 'Grüße' },
    { html: page('漢字仮名交じり文'), text: page('漢字') },
    { html: page('<b>Generated</b> text.', 200_000), text: undefined },
    { html: undefined, text: page('x'.repeat(1_200)) },
  ];
  for (const attachments of [[], [file]])
    for (const given of texts) {
      const blobs = await side.selectFrom('blobs').select('id').execute();
      const id = await spool.accept('same@rcpt.example', { ...given, attachments });
      const { message } = await read(id);
      const [sizes] = await side
        .selectFrom('blobs')
        .select('sizeBytes')
        .where('id', '=', message.blobId)
        .execute();
      const stored = (await side.selectFrom('blobs').select('id').execute()).length - blobs.length;
      assert.equal(stored, attachments.length);
      // The boundaries and the header of the file are part of its blob.
      if (sizes)
        assert.ok(sizes.sizeBytes < (FILE.length / 76) * 78 + 1_000, 'the texts are not in the blob');

      const htmlText = createHtmlText(spool.app);
      const first = await deliveryAppOf(spool.app).prepare(await read(id));
      const again = await deliveryAppOf({ ...spool.app, htmlText }).prepare(await read(id));
      const bytes = await bytesOf(first.content);
      assert.ok(bytes.equals(await bytesOf(again.content)));
      assert.ok(
        bytes.equals(await composedAtOnce(id, attachments.length > 0 ? [{ ...attachment, content }] : [])),
      );
      assert.equal(again.signature, first.signature);
      const hash = createBodyHash();
      hash.update(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4));
      assert.equal(/bh=([^;]+);/.exec(first.signature.replace(/\s/g, ''))?.[1], hash.digest());
      await htmlText.close();
      await spool.cancel(id);
    }
});

test('a large message arrives whole, and its file is removed soon afterwards', async () => {
  await spool.clock.advance(KEPT_MS);
  const html = page('Grüße');
  const id = await spool.accept(['a@rcpt.example', 'b@rcpt.example'], { html, text: undefined });
  await spool.deliverDue();
  const { status, html: shown } = await spool.email(id);
  assert.deepEqual([status, shown], ['delivered', html]);
  const raw = sink.messages.at(-1)?.raw;
  assert.ok(raw?.includes(await composedAtOnce(id, [])));
  assert.equal(onTheirWay().length, 1);
  await spool.clock.advance(KEPT_MS);
  await waitUntil(() => onTheirWay().length === 0, 'no file is left');
});

test('a message whose file is lost or removed is composed again, and one whose file is damaged fails once', async () => {
  const id = await spool.accept('lost@rcpt.example', { text: page('Lost') });
  const { prepare } = deliveryAppOf(spool.app);
  const { content } = await prepare(await read(id));
  const whole = await composedAtOnce(id, []);
  const [name = ''] = onTheirWay();
  const path = join(spool.dataDir, 'blobs', 'partial', name);
  rmSync(path);
  assert.ok((await bytesOf(content)).equals(whole));
  assert.deepEqual(onTheirWay(), [], 'a file for one delivery alone is removed after it');

  assert.ok((await bytesOf((await prepare(await read(id))).content)).equals(whole));
  await spool.clock.advance(KEPT_MS);
  await waitUntil(() => onTheirWay().length === 0, 'no file is left');
  assert.ok((await bytesOf(content)).equals(whole), 'a delivery that waited for long');

  const [other = ''] = onTheirWay();
  writeFileSync(join(spool.dataDir, 'blobs', 'partial', other), Buffer.alloc(whole.length));
  await assert.rejects(bytesOf(content), /holds other bytes than were written/);
  assert.ok((await bytesOf(content)).equals(whole));
  await spool.cancel(id);
});

test('at most two large messages are composed at the same time, one of them for one tenant', async (t) => {
  const other = await spool.addTenant('other');
  await spool.addDomain(other.liveKey, 'other.example');
  const accept = (to: string, more = {}) => spool.accept(to, { text: page('Many'), ...more });
  const own: string[] = [];
  for (let index = 0; index < 4; index++) own.push(await accept(`many${index}@rcpt.example`));
  const theirs = await accept('many@rcpt.example', { from: 'a@other.example', key: other.liveKey });
  const { blobs } = spool.app;
  const write = blobs.writeScratch.bind(blobs);
  let running = 0;
  let most = 0;
  t.mock.method(blobs, 'writeScratch', async (pieces: Iterable<Buffer>) => {
    most = Math.max(most, ++running);
    return write(pieces).finally(() => running--);
  });
  const mostAtOnce = async (ids: readonly string[]) => {
    most = 0;
    const { prepare } = deliveryAppOf(spool.app);
    await Promise.all(ids.map(async (id) => prepare(await read(id))));
    return most;
  };
  assert.equal(await mostAtOnce(own), 1);
  assert.equal(await mostAtOnce([...own, theirs]), 2);
});

test('a large message that could not be composed is composed at its next attempt', async (t) => {
  const id = await spool.accept('again@rcpt.example', { text: page('Again') });
  const { prepare } = deliveryAppOf(spool.app);
  const failing = t.mock.method(spool.app.blobs, 'writeScratch', async () => {
    throw new Error('cannot be written');
  });
  await assert.rejects(prepare(await read(id)), /cannot be written/);
  failing.mock.restore();
  assert.ok((await bytesOf((await prepare(await read(id))).content)).equals(await composedAtOnce(id, [])));
  await spool.cancel(id);
});
