/** An Idempotency-Key is for a batch as a whole (specification 8). */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createApiServer } from '../../src/api.ts';
import { openApp } from '../../src/app.ts';
import { conforming } from '../support/conformance.ts';
import { openSpool } from '../support/spool.ts';
import { openTestApp } from '../support/test-app.ts';
import { blobFiles, emailBody } from './fixtures.ts';

const spool = await openSpool();
after(() => spool.close());

const MIXED = [emailBody({ subject: 'One' }), emailBody({ to: '' }), emailBody({ subject: 'Two' })];

function send(key: string, emails: unknown[] = MIXED, more: Record<string, unknown> = {}) {
  const headers = { 'idempotency-key': key };
  return spool.request('POST', '/v1/emails/batch', { body: { emails, ...more }, headers });
}

async function countEmails(): Promise<number> {
  const { count } = await spool.app.db.read
    .selectFrom('emails')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

test('a repeat answers what the first was answered, failures among it, and sends nothing', async () => {
  const first = await send('repeat');
  assert.equal(first.status, 200);
  assert.equal(first.headers['idempotency-replayed'], undefined);
  assert.deepEqual(
    first.body.data.map(({ status }: { status: string }) => status),
    ['queued', 'failed', 'queued'],
  );
  const before = await countEmails();
  const second = await send('repeat');
  assert.equal(second.status, 200);
  assert.deepEqual(second.body, first.body);
  assert.equal(second.headers['idempotency-replayed'], 'true');
  assert.equal(await countEmails(), before);
});

test('a batch of failures alone is recorded too', async () => {
  const emails = [emailBody({ to: '' }), emailBody({ from: 'a@unknown.example' })];
  const first = await send('failures', emails);
  assert.equal(first.status, 200);
  const second = await send('failures', emails);
  assert.deepEqual([second.body, second.headers['idempotency-replayed']], [first.body, 'true']);
  assert.equal((await send('failures', [emailBody()])).status, 409);
});

test('a batch with the same key is a conflict when the body of one of its emails differs', async () => {
  const first = await send('conflict');
  const [one, two, three] = MIXED;
  const others = [
    [one, two],
    [one, three, two],
    [one, two, { ...three, subject: 'Three' }],
    [one, two, three, three],
    ['a', 'b', 'c'],
  ];
  for (const emails of others) {
    const other = await send('conflict', emails);
    assert.deepEqual([other.status, other.body.error.type], [409, 'idempotency_conflict']);
  }
  assert.equal((await send('conflict', MIXED, { more: 1 })).status, 409);
  const reversed = MIXED.map((email) => Object.fromEntries(Object.entries(email).reverse()));
  assert.deepEqual((await send('conflict', reversed)).body, first.body, 'the order of keys means nothing');
});

test('a batch is not the email it holds, nor the other way round', async () => {
  const body = emailBody();
  const headers = { 'idempotency-key': 'shared' };
  assert.equal((await spool.request('POST', '/v1/emails', { body, headers })).status, 200);
  assert.equal((await send('shared', [body])).status, 409);
  assert.equal((await send('shared too', [body])).status, 200);
  const other = { 'idempotency-key': 'shared too' };
  assert.equal((await spool.request('POST', '/v1/emails', { body, headers: other })).status, 409);
});

test('a large attachment of one email counts by what it holds', async () => {
  const attached = (fill: string) => [
    emailBody(),
    emailBody({
      attachments: [{ filename: 'a.bin', content: Buffer.alloc(90_000, fill).toString('base64') }],
    }),
  ];
  const first = await send('attached', attached('a'));
  assert.deepEqual((await send('attached', attached('a'))).body, first.body);
  assert.equal((await send('attached', attached('b'))).status, 409);
});

test('a request that is refused as a whole leaves its key free', async () => {
  assert.equal((await send('free', [])).status, 400);
  assert.equal((await send('free')).status, 200);
});

test('duplicates at once make one batch, also on two servers that know nothing of each other', async () => {
  const before = await countEmails();
  const [server, other] = [await spool.openServer(), conforming(await createApiServer(spool.app))];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? server : other).inject({
        method: 'POST',
        url: '/v1/emails/batch',
        headers: { authorization: `Bearer ${spool.testKey}`, 'idempotency-key': 'parallel' },
        payload: { emails: MIXED },
      }),
    ),
  );
  await other.close();
  assert.deepEqual([...new Set(answers.map(({ statusCode }) => statusCode))], [200]);
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
  const replayed = answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true');
  assert.equal(replayed.length, 39);
  assert.equal(await countEmails(), before + 2);
});

test('content that a repeated request stored for nothing is deleted', async () => {
  const content = Buffer.alloc(600 * 1024).toString('base64');
  const emails = [emailBody({ attachments: [{ filename: 'a.bin', content }] })];
  const files = blobFiles(spool).length;
  // As on another server, which knows nothing of the first until the transaction.
  const other = conforming(await createApiServer(spool.app));
  const inject = (server: typeof other) =>
    server.inject({
      method: 'POST',
      url: '/v1/emails/batch',
      headers: { authorization: `Bearer ${spool.testKey}`, 'idempotency-key': 'stored twice' },
      payload: { emails },
    });
  await Promise.all([inject(await spool.openServer()), inject(other)]);
  await other.close();
  assert.equal(blobFiles(spool).length, files + 1);
});

test('a repeated batch after a restart is not accepted again', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'postrider-test-'));
  const first = await openTestApp({ env: { POSTRIDER_DATA_DIR: dataDir } });
  const send = async (server: Pick<FastifyInstance, 'inject'>) => {
    const authorization = `Bearer ${first.testKey}`;
    const headers = { authorization, 'idempotency-key': 'restart' };
    return server.inject({ method: 'POST', url: '/v1/emails/batch', headers, payload: { emails: MIXED } });
  };
  const server = await first.openServer();
  const one = await send(server);
  await server.close();
  await (first.app as typeof first.app & AsyncDisposable)[Symbol.asyncDispose]();
  const app = await openApp(first.app.config);
  try {
    const server = conforming(await createApiServer(app));
    const two = await send(server);
    await server.close();
    assert.deepEqual([two.statusCode, two.body], [200, one.body]);
    assert.equal(two.headers['idempotency-replayed'], 'true');
    assert.equal((await app.db.read.selectFrom('emails').select('id').execute()).length, 2);
  } finally {
    await app[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true });
  }
});
