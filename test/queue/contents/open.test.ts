/** Messages that are composed when they are sent: shared texts, the same bytes at every attempt, and damage. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { createApiServer } from '../../../src/api.ts';
import type { App } from '../../../src/app.ts';
import { openWriting } from '../../../src/db/connection.ts';
import { kyselyOn } from '../../../src/db/dialect.ts';
import { insertEmail } from '../../../src/emails/store.ts';
import { createLinks } from '../../../src/links/links.ts';
import { createHtmlText, type HtmlText } from '../../../src/mail/message/html-text.ts';
import type { MergeValues } from '../../../src/queue/contents/content.ts';
import { type MessageBytes, openMessage, rememberComposed } from '../../../src/queue/contents/open.ts';
import { type PackedSource, packSmall, unpackSource } from '../../../src/queue/contents/source.ts';
import { findContent, insertContent } from '../../../src/queue/contents/store.ts';
import { dropContent, enqueue, findMessage } from '../../../src/queue/store.ts';
import { realClock } from '../../../src/system/clock.ts';
import { newId } from '../../../src/system/ids.ts';
import { dialLoopback } from '../../support/loopback.ts';
import { act } from '../../support/queue-action.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { deliverBy, deliveryAppOf, openSpool, START_MS } from '../../support/spool.ts';

const SMALL = { filename: 'a.bin', content: Buffer.alloc(2_000, 7).toString('base64') };
const LARGE = { filename: 'b.bin', content: Buffer.alloc(400_000, 7).toString('base64') };

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

/** Returns what the sink has of a message, without the fields that the sink's own tests cover. */
function received(to: string): Buffer[] {
  return sink.messages.filter(({ recipients }) => recipients.includes(to)).flatMap(({ raw }) => raw ?? []);
}

async function changeMessage(id: string, change: Record<string, string | number | null>): Promise<void> {
  await side.updateTable('messages').set(change).where('id', '=', id).execute();
}

/** Prepares a message as a new attempt does. */
async function prepareAnew(id: string, app: App = spool.app) {
  const message = await findMessage(side, id);
  assert.ok(message);
  return deliveryAppOf(app).prepare({ message, recipients: [] });
}

/** Adds a copy of an email that shares a content with others, as a broadcast does. */
async function addCopy(
  model: string,
  { to, contentId, values }: { to: string; contentId: number; values: MergeValues },
): Promise<string> {
  const email = await side
    .selectFrom('emails')
    .selectAll()
    .where('id', '=', model as 'em_')
    .executeTakeFirstOrThrow();
  const message = await side
    .selectFrom('messages')
    .selectAll()
    .where('id', '=', model)
    .executeTakeFirstOrThrow();
  const id = newId('em', spool.clock.now());
  const fields = (message.fields ?? '').replace(/^To: .*\r$/m, `To: ${to}\r`);
  const copy = {
    ...message,
    id,
    contentId,
    fields,
    mergeValues: JSON.stringify(values),
    blobId: null,
    bodyHash: '',
  };
  await enqueue(side, copy, [{ field: 'to', address: to, domain: 'rcpt.example', suppressed: null }]);
  await insertEmail(side, { ...email, id, toList: JSON.stringify([to]) }, { tags: [], addresses: [to] });
  return id;
}

test('copies of a shared content are composed with their own fields and values, and shown so', async () => {
  const model = await spool.accept('model@rcpt.example', { html: '<p>Model</p>' });
  const source = { html: '<p>Hello {{name|you}}</p>', text: 'Hello {{name|you}}' };
  const contentId = await insertContent(side, spool.tenantId, source);
  const ada = await addCopy(model, { to: 'ada@rcpt.example', contentId, values: { name: 'Ada & Eve' } });
  const bob = await addCopy(model, { to: 'bob@rcpt.example', contentId, values: {} });
  await spool.deliverDue();
  const [raw] = received('ada@rcpt.example');
  const parsed = await simpleParser(raw ?? '', { skipHtmlToText: true, skipTextToHtml: true });
  assert.deepEqual([parsed.html, parsed.text], ['<p>Hello Ada &amp; Eve</p>', 'Hello Ada & Eve']);
  assert.match(raw?.toString() ?? '', /^To: ada@rcpt\.example\r$/m);
  const [shown, other] = [await spool.email(ada), await spool.email(bob)];
  assert.deepEqual([shown.status, shown.html, shown.text], ['delivered', parsed.html, parsed.text]);
  assert.deepEqual([other.status, other.html, other.text], ['delivered', '<p>Hello you</p>', 'Hello you']);

  const isStored = async () =>
    (await side.selectFrom('contents').select('id').where('id', '=', contentId).execute()).length === 1;
  await dropContent(side, { messageId: ada, contentId });
  assert.equal(await isStored(), true, 'the other copy still has it');
  await dropContent(side, { messageId: bob, contentId });
  assert.equal(await isStored(), false);
});

test('copies that are prepared one after the other have the bytes that each has alone', async () => {
  const model = await spool.accept('model2@rcpt.example', { html: '<p>Model</p>' });
  const html = `<p>Hello {{name|you}} and {{{name}}}</p>\n${'<p>News</p>\n'.repeat(2_000)}`;
  const contentId = await insertContent(side, spool.tenantId, { html, text: 'Hello {{name|you}}' });
  const shared = deliveryAppOf(spool.app);
  const bytesBy = async ({ prepare }: typeof shared, id: string) => {
    const message = await findMessage(side, id);
    assert.ok(message);
    const { signature, content } = await prepare({ message, recipients: [] });
    return signature + (await bytesOf(content));
  };
  const copies: string[] = [];
  for (const name of ['Ada', 'Zoë', '{{name}}', 'x'.repeat(2_000), null])
    copies.push(await addCopy(model, { to: 'reader@rcpt.example', contentId, values: { name } }));
  for (const id of copies)
    assert.equal(await bytesBy(shared, id), await bytesBy(deliveryAppOf(spool.app), id));

  // SQLite may give the id of a content that was deleted to another one.
  await side
    .updateTable('contents')
    .set(packSmall({ html: '<p>Other</p>' }))
    .where('id', '=', contentId)
    .execute();
  const last = await addCopy(model, { to: 'reader@rcpt.example', contentId, values: {} });
  assert.match(await bytesBy(shared, last), /<p>Other<\/p>/);
  for (const id of [...copies, last, model]) await spool.cancel(id);
});

/**
 * Opens copies of a broadcast with this HTML at the same time, once the first has waited for the threads that read its texts. Returns
 * the hashes of their bodies, and the number of turns of the event loop meanwhile.
 */
async function openCopies(model: string, html: string, names: readonly string[]) {
  const contentId = await insertContent(side, spool.tenantId, { html, text: 'Hello' });
  const app = { ...spool.app, clock: realClock, links: createLinks(spool.app) };
  const reader = { unsubscribeUrl: 'https://example.com/u', unsubscribeAddress: 'u@example.com' };
  const composed = rememberComposed();
  const hashOf = async (id: string) => {
    const message = await findMessage(side, id);
    assert.ok(message);
    const { bytes, bodyHash } = await openMessage(app, { message, reader }, composed);
    assert.ok(bytes.sizeBytes > html.length);
    return bodyHash();
  };
  const copies = names.map((name) =>
    addCopy(model, { to: `${name}@rcpt.example`, contentId, values: { name } }),
  );
  const [first = '', ...others] = await Promise.all(copies);
  const hashes = [await hashOf(first)];
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  hashes.push(...(await Promise.all(others.map(hashOf))));
  isOver = true;
  await spool.deliverDue();
  return { hashes, turns };
}

test('large copies of a tenant are composed and hashed in slices, between which other work runs', async () => {
  const model = await spool.accept('model3@rcpt.example', { html: '<p>Model</p>' });
  const html = `<p>{{name|you}}</p>${'<p>Mit vielen Grüßen und noch mehr Worten.</p>\n'.repeat(25_000)}`;
  const { hashes, turns } = await openCopies(model, html, ['one', 'two', 'three']);
  assert.equal(new Set(hashes).size, 3);
  assert.ok(turns > 10, `${turns} turns of the event loop`);
});

test('each copy that is composed within a slice has a turn for itself, however many sessions ask for one', async () => {
  const model = await spool.accept('model4@rcpt.example', { html: '<p>Model</p>' });
  const names = Array.from({ length: 20 }, (_, index) => `reader${index}`);
  const html = `<p>{{name|you}}</p>${'<p>Mit vielen Grüßen.</p>\n'.repeat(700)}`;
  const { hashes, turns } = await openCopies(model, html, names);
  assert.equal(new Set(hashes).size, names.length);
  assert.ok(turns >= names.length - 1, `${turns} turns of the event loop`);
});

test('a long copy waits while urgent mail is under way, before it is composed and before it is hashed; a shorter one does not', async () => {
  const model = await spool.accept('model5@rcpt.example', { html: '<p>Model</p>' });
  for (const [kibibytes, waits] of [
    [20, 0],
    [65, 2],
  ] as const) {
    const html = `<p>{{name|you}}</p>${'<p>News, and more</p>\n'.repeat((kibibytes * 1024) / 21)}`;
    const contentId = await insertContent(side, spool.tenantId, { html, text: 'Hello' });
    const id = await addCopy(model, { to: 'long@rcpt.example', contentId, values: {} });
    const message = await findMessage(side, id);
    assert.ok(message);
    const reader = { unsubscribeUrl: 'https://example.com/u', unsubscribeAddress: 'u@example.com' };
    let waited = 0;
    let isOpen = false;
    const urgent = Promise.withResolvers<void>();
    const precedence = {
      wait: () => {
        waited++;
        return urgent.promise;
      },
    };
    const app = { ...spool.app, clock: realClock, links: createLinks(spool.app), precedence };
    const opening = openMessage(app, { message, reader }).then(() => {
      isOpen = true;
    });
    if (waits > 0) {
      while (waited === 0) await new Promise((resolve) => setImmediate(resolve));
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(isOpen, false);
    }
    urgent.resolve();
    await opening;
    assert.equal(waited, waits, `${kibibytes} KiB`);
    await spool.cancel(id);
  }
  await spool.cancel(model);
});

test('html and text are shown exactly as they were given, whatever composing does to them', async () => {
  const html = '<p>Zürich 🚀</p>\r\n<pre>tab\t \n lone\rcr  </pre>\n\n';
  const text = ' From me\r\n\n.\r\nends with spaces   ';
  const shown = await spool.email(await spool.accept('exact@rcpt.example', { html, text }));
  assert.deepEqual([shown.html, shown.text], [html, text]);
});

test('a message that is composed when it is sent has the same bytes at every attempt', async () => {
  const html = '<p>Hello</p>';
  const inline = { ...SMALL, contentId: 'logo' };
  for (const attachments of [[], [SMALL], [inline, SMALL], [LARGE], [inline, LARGE]]) {
    const to = `same${attachments.length}-${attachments.at(-1)?.filename}@rcpt.example`;
    const id = await spool.accept(to, { html, attachments });
    const attempts: string[] = [];
    for (let attempt = 0; attempt < 2; attempt++) {
      const { signature, content } = await prepareAnew(id);
      const pieces: Buffer[] = [];
      for await (const piece of content.chunks()) pieces.push(piece);
      const whole = Buffer.concat(pieces);
      assert.equal(whole.length, content.sizeBytes);
      attempts.push(`${signature}${whole.toString('latin1')}`);
    }
    assert.equal(attempts[0], attempts[1]);
    assert.match(attempts[0] ?? '', /^DKIM-Signature: /);
    const parsed = await simpleParser(attempts[0] ?? '', { skipHtmlToText: true });
    assert.equal(parsed.attachments.length, attachments.length);
    await spool.cancel(id);
  }
});

test('a message that an earlier composer has signed is signed anew over the bytes of this one', async () => {
  for (const attachments of [[], [LARGE]]) {
    const id = await spool.accept(`anew${attachments.length}@rcpt.example`, { attachments });
    const bodyHashOf = async () => /bh=([^;]+);/.exec((await prepareAnew(id)).signature)?.[1];
    const expected = await bodyHashOf();
    assert.ok(expected);
    const signature = 'DKIM-Signature: v=1; bh=earlier;\r\n';
    await changeMessage(id, { signature });
    assert.equal(await bodyHashOf(), 'earlier', 'a signature of the same bytes is kept');
    await changeMessage(id, {
      composer: 0,
      signature,
      ...(attachments.length > 0 && { bodyHash: 'earlier' }),
    });
    assert.equal(await bodyHashOf(), expected);
    await spool.cancel(id);
  }
});

const PAGE = '<h1>Hello</h1><ol><li>Ada<li>Bob</ol>';
const PAGE_TEXT = 'Hello\n\n 1. Ada\n 2. Bob';

/** Returns the app with a converter that remembers no text, as after a start of the daemon. */
function restarted(): { app: App; htmlText: HtmlText } {
  const htmlText = createHtmlText(spool.app);
  after(() => htmlText.close());
  return { app: { ...spool.app, htmlText }, htmlText };
}

async function storedContent(id: string): Promise<{ contentId: number; packed: PackedSource }> {
  const contentId = (await findMessage(side, id))?.contentId ?? 0;
  const packed = await findContent(side, contentId);
  assert.ok(packed);
  return { contentId, packed };
}

/** Stores the source with an origin that an earlier version of the library might have had. */
async function changeOrigin(id: string): Promise<void> {
  const { contentId, packed } = await storedContent(id);
  const { html, generated, files } = await unpackSource(packed);
  assert.ok(html !== undefined && generated);
  const source = { html, generated: { ...generated, hash: 'earlier' }, ...(files && { files }) };
  await side.updateTable('contents').set(packSmall(source)).where('id', '=', contentId).execute();
}

async function bytesOf(content: MessageBytes): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of content.chunks()) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

test('a generated text is not stored, and is sent and shown the same when it is generated again', async () => {
  for (const attachments of [[], [LARGE]]) {
    const to = `generated${attachments.length}@rcpt.example`;
    const id = await spool.accept(to, { html: PAGE, text: undefined, attachments });
    const { packed } = await storedContent(id);
    const { html, text, generated } = await unpackSource(packed);
    assert.deepEqual([html, text, generated?.method], [PAGE, undefined, 'layout']);
    const first = await prepareAnew(id);
    const again = await prepareAnew(id, restarted().app);
    assert.equal(again.signature, first.signature);
    assert.equal(await bytesOf(again.content), await bytesOf(first.content));
    await spool.deliverDue();
    const [raw] = received(to);
    const parsed = await simpleParser(raw ?? '', { skipHtmlToText: true, skipTextToHtml: true });
    assert.deepEqual([parsed.html, parsed.text], [PAGE, PAGE_TEXT]);
    assert.ok(raw?.includes(await bytesOf(first.content)));
    assert.equal((await spool.email(id)).text, PAGE_TEXT);
  }
});

test('a message whose text a new version generates differently is signed anew over its new bytes', async () => {
  for (const attachments of [[], [LARGE]]) {
    const to = `upgraded${attachments.length}@rcpt.example`;
    const id = await spool.accept(to, { html: PAGE, text: undefined, attachments });
    const expected = (await prepareAnew(id)).signature;
    const signature = 'DKIM-Signature: v=1; bh=earlier;\r\n';
    const bodyHash = attachments.length > 0 ? 'earlier' : '';
    await changeMessage(id, { signature, bodyHash });
    assert.equal((await prepareAnew(id)).signature, signature, 'a signature of the same bytes is kept');
    await changeOrigin(id);
    assert.equal((await prepareAnew(id)).signature, expected);
    await spool.cancel(id);
  }
});

test('mail whose text cannot be generated at the moment is deferred, and its email is neither shown nor changed', async () => {
  const scheduledAt = new Date(spool.clock.now() + 60_000).toISOString();
  const id = await spool.accept('busy@rcpt.example', { html: PAGE, text: undefined, scheduledAt });
  const { app, htmlText } = restarted();
  await htmlText.close();
  const server = await createApiServer(app);
  after(() => server.close());
  const headers = { authorization: `Bearer ${spool.liveKey}` };
  const path = `/v1/emails/${id}`;
  const refused = [
    await server.inject({ url: path, headers }),
    await server.inject({ method: 'POST', url: `${path}/cancel`, headers }),
    await server.inject({
      method: 'PATCH',
      url: path,
      headers,
      payload: { scheduledAt: new Date(START_MS + 1e9).toISOString() },
    }),
  ];
  for (const response of refused) {
    assert.equal(response.statusCode, 503, response.body);
    assert.equal(response.json().error.type, 'unavailable');
    assert.equal(response.headers['retry-after'], '5');
  }
  assert.deepEqual([(await spool.email(id)).status], ['queued']);

  await spool.clock.advance(60_000);
  const [claim, ...others] = await spool.claim();
  assert.ok(claim);
  assert.deepEqual([claim.message.id, others], [id, []]);
  await deliverBy(app, claim, async (claimed) => {
    await deliveryAppOf(app).prepare(claimed);
    assert.fail('the message cannot be composed');
  });
  const [recipient] = (await spool.email(id)).recipients;
  assert.deepEqual(
    [recipient.status, recipient.diagnostic],
    ['deferred', 'Not tried: The text cannot be generated at the moment'],
  );
  await spool.clock.advance(29_999);
  assert.deepEqual(await spool.claim(), []);
  await spool.clock.advance(1);
  await spool.deliverDue();
  const { status, text } = await spool.email(id);
  assert.deepEqual([status, text], ['delivered', PAGE_TEXT]);
});

test('mail whose stored texts are damaged is held and shown without them, and delivered once they are restored', async () => {
  const id = await spool.accept('damaged@rcpt.example', { html: '<p>Hello</p>' });
  const contentId = (await findMessage(side, id))?.contentId ?? 0;
  const { source } = await side
    .selectFrom('contents')
    .select('source')
    .where('id', '=', contentId)
    .executeTakeFirstOrThrow();
  const store = (bytes: Uint8Array) =>
    side.updateTable('contents').set({ source: bytes }).where('id', '=', contentId).execute();
  const damaged = Buffer.from(source);
  damaged[damaged.length - 3] = (damaged[damaged.length - 3] ?? 0) ^ 1;
  await store(damaged);
  await spool.deliverDue();
  const held = await spool.email(id);
  assert.deepEqual([held.recipients[0].status, held.html, held.text], ['held', null, null]);
  assert.deepEqual(received('damaged@rcpt.example'), []);
  await store(source);
  await act(spool.app, 'release', { emailId: id });
  await spool.deliverDue();
  const { status, html } = await spool.email(id);
  assert.deepEqual([status, html], ['delivered', '<p>Hello</p>']);
});

test('a large message that goes to many sites is composed once for all of them', async () => {
  const id = await spool.accept('once@rcpt.example', { text: 'A line of a long text.\n'.repeat(2_000) });
  const { prepare } = deliveryAppOf(spool.app);
  const read = async () => {
    const message = await findMessage(side, id);
    assert.ok(message);
    return { message, recipients: [] };
  };
  // Each claim reads the message anew.
  const [one, other] = await Promise.all([prepare(await read()), prepare(await read())]);
  assert.ok(one.content.inline);
  assert.equal(one.content.inline, other.content.inline, 'both have the same buffer');
  assert.equal(one.signature, other.signature);
});
