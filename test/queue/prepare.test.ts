import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createDomainKeysKind } from '../../src/domains/rotation/kind.ts';
import { startProbe } from '../../src/queue/held/probe.ts';
import { readReturnAddress, returnAddressKeyOf } from '../../src/queue/return-path.ts';
import { recoverQueue, startDelivering } from '../../src/queue/worker.ts';
import { deliveryAppOf, noReceiver, openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { runDueTasks } from '../support/tasks.ts';

const OURS = 'bounce.mx.postrider.example';
const OPERATOR = `${OURS} TXT "v=spf1 ip4:192.0.2.1 -all"`;

let start = 0;

const spool = await openSpool();
after(() => spool.close());

type Prepared = { returnPath: string; raw: string };

/** Returns all mail that is due as it would be sent. A new start claims each, and a crash puts it back. */
async function prepareDue(): Promise<Prepared[]> {
  await spool.clock.advance(10_000);
  start += 1;
  // Two crashes make a suspect, which waits for its probe.
  await spool.app.db.commit(startProbe, { now: spool.clock.now() });
  const { prepare } = deliveryAppOf(spool.app);
  const claimed = await spool.claim(`start ${start}`);
  const prepared = await Promise.all(claimed.map((claim) => prepare(claim)));
  await recoverQueue({ ...spool.app, runId: `start ${start + 1}` });
  return Promise.all(
    prepared.map(async ({ returnPath, signature, content }) => {
      const pieces: Buffer[] = [];
      for await (const piece of content.chunks()) pieces.push(piece);
      return { returnPath, raw: signature + Buffer.concat(pieces).toString('latin1') };
    }),
  );
}

async function returnPaths(): Promise<string[]> {
  return (await prepareDue()).map(({ returnPath }) => returnPath);
}

async function verify(): Promise<void> {
  const { body } = await spool.request('GET', '/v1/domains', { key: spool.liveKey });
  for (const { id } of body.data) {
    await spool.request('POST', `/v1/domains/${id}/verify`, { key: spool.liveKey });
  }
}

test('mail is sent with the return path of its domain while that is verified, and with ours before and after', async () => {
  await spool.accept('bob@rcpt.example');
  const [plain = ''] = await returnPaths();
  assert.match(plain, /^b\+[0-9a-z]{54}@bounce\.mx\.postrider\.example$/);
  const token = plain.slice(0, plain.indexOf('@'));

  spool.addZone(`${OPERATOR}\nbounce.${SENDER_DOMAIN} CNAME ${OURS}`);
  assert.deepEqual(await returnPaths(), [plain], 'published, but not seen yet');
  await verify();
  assert.deepEqual(await returnPaths(), [`${token}@bounce.${SENDER_DOMAIN}`]);

  // All records disappear: the others have a grace period of 72 hours, a return path has none.
  spool.dns.setZone('');
  await verify();
  assert.deepEqual(await returnPaths(), [plain]);
});

const COMPLAINTS =
  /^CFBL-Address: (c\+[0-9a-z]{54})@bounce\.sender\.example;\s+report=arf\r\nCFBL-Feedback-ID: \1\r\n/m;

test('a domain with its own return path asks for complaints there, in signed fields that stay the same', async () => {
  await spool.deliverDue();
  spool.addZone('');
  await verify();
  const id = await spool.accept(['bob@rcpt.example', 'eve@rcpt.example']);
  const [first] = await prepareDue();
  assert.ok(first);
  const [, token = ''] = COMPLAINTS.exec(first.raw) ?? [];
  const key = returnAddressKeyOf(spool.app);
  assert.deepEqual(readReturnAddress(key, token), { kind: 'complaint', emailId: id, position: undefined });
  const [, signed = ''] = /^ h=([^;]*);/m.exec(first.raw) ?? [];
  const names = signed.replace(/\s/g, '').split(':');
  for (const name of ['CFBL-Address', 'CFBL-Feedback-ID'])
    assert.equal(
      names.filter((one) => one === name).length,
      2,
      `${name} is signed, and the absence of another`,
    );

  // The record disappears: bounces go to our own host, and the message stays as it was.
  spool.dns.setZone('');
  await verify();
  const [second] = await prepareDue();
  assert.equal(second?.raw, first.raw);
  assert.match(second?.returnPath ?? '', /@bounce\.mx\.postrider\.example$/);
  await spool.deliverDue();

  await spool.accept('bob@rcpt.example');
  const [without] = await prepareDue();
  assert.doesNotMatch(without?.raw ?? '', /CFBL/);
  await spool.deliverDue();
});

test('mail that is sent nowhere is not composed', async () => {
  let composed = 0;
  const crashPoint: typeof spool.app.crashPoint = (name) => {
    if (name === 'content-after-compose') composed++;
  };
  for (let count = 0; count < 5; count++) await spool.accept('bob@test.example', { key: spool.testKey });
  const dispatcher = startDelivering({ ...spool.app, crashPoint }, noReceiver);
  await spool.settled();
  await dispatcher.stop(1_000);
  assert.equal(composed, 0);
});

test('marketing mail has an address for complaints for each reader', async () => {
  spool.addZone('');
  await verify();
  const topic = { name: 'News', defaultOptIn: true };
  const { body } = await spool.request('POST', '/v1/topics', { key: spool.liveKey, body: topic });
  const id = await spool.accept(['bob@a.example', 'eve@b.example'], { type: 'broadcast', topicId: body.id });
  const mail = (await prepareDue()).find(({ raw }) => raw.includes(`<${id}@`));
  const [, token = ''] = COMPLAINTS.exec(mail?.raw ?? '') ?? [];
  assert.deepEqual(readReturnAddress(returnAddressKeyOf(spool.app), token), {
    ...{ kind: 'complaint', emailId: id, position: 0 },
  });
});

test('mail of a domain with Ed25519 has two signatures from the moment on at which that key was seen', async () => {
  await spool.deliverDue();
  const find = async () => {
    const { body } = await spool.request('GET', '/v1/domains', { key: spool.liveKey });
    return body.data.find(({ name }: { name: string }) => name === SENDER_DOMAIN);
  };
  const { id } = await find();
  const on = await spool.request('PATCH', `/v1/domains/${id}`, {
    key: spool.liveKey,
    body: { ed25519: true },
  });
  const { alternative } = on.body.optionalRecords.find(
    ({ record }: { record: string }) => record === 'DKIM_ED25519',
  );
  const algorithms = async () => {
    await spool.accept('bob@rcpt.example');
    const [mail] = await prepareDue();
    await spool.deliverDue();
    return [...(mail?.raw ?? '').matchAll(/^DKIM-Signature: v=1; a=([a-z0-9-]+);/gm)].map(([, name]) => name);
  };
  assert.deepEqual(await algorithms(), ['rsa-sha256']);
  spool.addZone(`${alternative.name} TXT "${alternative.value}"`);
  await spool.clock.advance(60_000);
  await runDueTasks(spool.app, createDomainKeysKind(spool.app));
  assert.deepEqual(await algorithms(), ['ed25519-sha256', 'rsa-sha256']);
});
