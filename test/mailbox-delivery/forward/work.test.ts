import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createForwardKind } from '../../../src/mailbox-delivery/forward/work.ts';
import { findMessage, listRecipients } from '../../../src/queue/store.ts';
import { INSTALLATION_TENANT } from '../../../src/tenants/installation.ts';
import { openMailWorld, PASS, sendMail } from '../../inbound/mail-world.ts';
import { createTestAuthenticator } from '../../support/authenticator.ts';
import { deliveryAppOf } from '../../support/spool.ts';
import { leaseTasksOf, releaseTasksOf, runDueTasks } from '../../support/tasks.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const HOST = 'mx.postrider.example';
const TO = `postmaster@${HOST}`;
const world = await openMailWorld({ env: { POSTRIDER_INBOUND_POSTMASTER: 'Ops@operator.example' } });
const { app } = world;
const kind = createForwardKind(app);
const MESSAGE =
  'Return-Path: <forged@sender.example>\r\nDKIM-Signature: v=1; d=sender.example\r\nFrom: Ann <ann@sender.example>\r\n' +
  'To: postmaster@shop.example\r\nSubject: Help\r\nDate: Fri, 15 Jan 2027 07:00:00 +0000\r\n\r\nHi \r\nthere\r\n';
/** The message without its Return-Path field, and with the line end that the client adds. */
const SENT = `${MESSAGE.slice(MESSAGE.indexOf('DKIM'))}\r\n`;

/** Runs the tasks that are due, and returns how many there were. */
async function run(): Promise<number> {
  await world.clock.advance(100);
  return (await runDueTasks(app, kind)).length;
}

type Forwarded = {
  row: Awaited<ReturnType<typeof queued>>[number];
  to: string[];
  returnPath: string;
  raw: string;
};

const queued = () => app.db.read.selectFrom('messages').selectAll().orderBy('id').execute();

/** Returns the mail that was queued since the last call, as it would be sent. */
let seen = 0;
async function takeForwarded(): Promise<Forwarded[]> {
  const rows = (await queued()).slice(seen);
  seen += rows.length;
  return Promise.all(
    rows.map(async (row) => {
      const message = (await findMessage(app.db.read, row.id)) ?? assert.fail();
      const recipients = await listRecipients(app.db.read, row.id);
      const { signature, content, returnPath } = await deliveryAppOf(app).prepare({ message, recipients });
      const pieces: Uint8Array[] = [Buffer.from(signature, 'latin1')];
      for await (const piece of content.chunks()) pieces.push(piece);
      const to = recipients.map(({ address }) => address);
      return { row, to, returnPath, raw: Buffer.concat(pieces).toString('latin1') };
    }),
  );
}

async function receive(mail: Parameters<typeof sendMail>[1]): Promise<Forwarded> {
  assert.match(await sendMail(await world.open(), { message: MESSAGE, ...mail }), /^250 /);
  assert.equal(await run(), 1);
  const [forwarded, ...more] = await takeForwarded();
  assert.ok(forwarded && more.length === 0);
  return forwarded;
}

const lastTask = async () => (await world.tasks()).at(-1) ?? assert.fail();

test('mail to postmaster and abuse goes to the operator once, with its trace, a seal and a sender of ours', async () => {
  await world.addDomain('shop.example');
  const { row, to, returnPath, raw } = await receive({
    to: ['postmaster@shop.example', 'Abuse@shop.example'],
  });
  assert.deepEqual(to, ['Ops@operator.example']);
  assert.match(
    returnPath,
    /^SRS0=[0-9a-z]{8}=[0-9a-z]{2}=sender\.example=ann@bounce\.mx\.postrider\.example$/,
  );
  assert.equal(row.tenantId, INSTALLATION_TENANT);
  assert.ok(raw.endsWith(`\r\n${SENT}`), 'nothing of the author is changed');
  const names = raw.slice(0, -SENT.length).match(/^[A-Za-z-]+(?=:)/gm);
  const set = ['ARC-Seal', 'ARC-Message-Signature', 'ARC-Authentication-Results'];
  assert.deepEqual(names, [
    ...set,
    'X-Postrider-Forwarded',
    'Delivered-To',
    'Authentication-Results',
    'Received',
  ]);
  assert.match(raw, /\r\nDelivered-To: postmaster@shop\.example\r\n/);
  assert.match(raw, /ARC-Authentication-Results: i=1; mx\.postrider\.example;\r\n spf=pass/);
  const { kind, state } = await lastTask();
  assert.deepEqual([kind, state], ['forward', 'done']);
  assert.ok((await world.messages()).every(({ endedAt }) => endedAt !== null));
});

test('the seal verifies with the key that the operator publishes', async () => {
  const { raw } = await receive({ to: TO });
  const { selector, publicKey } = await app.db.read
    .selectFrom('installationKeys')
    .selectAll()
    .executeTakeFirstOrThrow();
  const dns = zoneDns(`${selector}._domainkey.${HOST} TXT "v=DKIM1; k=rsa; p=${publicKey}"`);
  const authenticator = createTestAuthenticator({ dns, clock: world.clock, log: app.log });
  const input = { owner: 'a', address: '192.0.2.1', helo: HOST, sender: '', hostname: 'mx.operator.example' };
  const authentication = authenticator.begin(input);
  authentication.write(Buffer.from(raw, 'latin1'));
  const { arc } = await authentication.finish();
  assert.deepEqual(arc, {
    result: 'pass',
    sets: [{ sealer: HOST, dmarc: 'pass', authorDomain: 'sender.example' }],
    reason: '',
  });
});

test('a bounce is forwarded with the null sender, and so is mail of a sender at an address literal', async () => {
  for (const from of ['', 'ann@[192.0.2.1]']) {
    const { returnPath } = await receive({ from, to: TO });
    assert.equal(returnPath, '', from);
  }
});

test('a bounce of mail whose sender is too long to be rewritten, or in quotes, finds its sender by the message', async () => {
  for (const from of ['"a b"@sender.example', `${'a'.repeat(200)}@sender.example`]) {
    const { returnPath } = await receive({ from, to: TO });
    assert.match(returnPath, /^r\+[0-9a-z]{54}@bounce\.mx\.postrider\.example$/);
    const client = await world.open();
    assert.match(await sendMail(client, { from: 'eve@evil.example', to: returnPath }), /^550 5\.1\.1/);
    const forged = returnPath.replace(/^r.(.)/, (_, digit) => `r+${digit === '1' ? '2' : '1'}`);
    assert.match(await sendMail(client, { from: '', to: forged }), /^550 5\.1\.1/);
    const bounce = await receive({ from: '', to: returnPath });
    assert.deepEqual([bounce.to, bounce.returnPath], [[from], '']);
  }
});

test('a message to the postmasters of several domains is forwarded once', async () => {
  await world.addDomain('second.example');
  const { to } = await receive({ to: ['postmaster@shop.example', 'abuse@second.example', TO] });
  assert.deepEqual(to, ['Ops@operator.example']);
});

test('the postmaster without a domain is that of the host name', async () => {
  assert.match(
    (await receive({ to: 'Postmaster' })).raw,
    /\r\nDelivered-To: Postmaster@mx\.postrider\.example\r\n/,
  );
});

test('a bounce of forwarded mail goes to the sender that it was forwarded for, and nothing else does', async () => {
  const { returnPath } = await receive({ to: TO });
  world.knobs.result = { ...PASS, dmarc: { ...PASS.dmarc, result: 'fail', policy: 'reject' } };
  const bounce = await receive({ from: '', to: returnPath, message: MESSAGE });
  world.knobs.result = PASS;
  assert.deepEqual([bounce.to, bounce.returnPath], [['ann@sender.example'], '']);
  const client = await world.open();
  assert.match(await sendMail(client, { from: 'spam@sender.example', to: returnPath }), /^550 5\.1\.1/);
  assert.equal(await run(), 0);
});

test('mail that was forwarded from the recipient before is not forwarded again', async () => {
  const { raw } = await receive({ to: TO });
  const before = (await queued()).length;
  const client = await world.open();
  const [mark = ''] = /^X-Postrider-Forwarded: .*\r\n/m.exec(raw) ?? [];
  for (const trace of [mark, mark.toLowerCase().slice(0, 22) + mark.slice(22).replace(' ', '\r\n  ')]) {
    await sendMail(client, { to: TO, message: `Delivered-To: x@y.example\r\n${trace}${MESSAGE}` });
    assert.equal(await run(), 1);
    const { state, error } = await lastTask();
    assert.equal(state, 'failed');
    assert.match(error ?? '', /loops/);
  }
  assert.equal((await queued()).length, before);
  const [warning] = world.lines.filter(({ msg }) => msg === 'a task of received mail was given up');
  assert.match(String(warning?.['error']), /loops/);
});

test('a sender cannot make a message look as if it had been forwarded', async () => {
  const { raw } = await receive({ to: TO });
  const [, name] = /^X-Postrider-Forwarded: (.*)\.(.*)\r$/m.exec(raw) ?? [];
  const forged = `Delivered-To: ${TO}\r\nX-Postrider-Forwarded: ${name}.${name}\r\nX-Postrider-Forwarded: x\r\n`;
  assert.deepEqual((await receive({ to: TO, message: forged + MESSAGE })).to, ['Ops@operator.example']);
});

test('a message with more than 50 Received fields is refused before it is stored', async () => {
  const hop = 'Received: by a.example; Fri, 15 Jan 2027 07:00:00 +0000\r\n';
  assert.match(
    await sendMail(await world.open(), { to: TO, message: hop.repeat(51) + MESSAGE }),
    /^554 5\.4\.6/,
  );
});

test('a task that is run again after a crash forwards once, and a run that lost its lease not at all', async () => {
  await sendMail(await world.open(), { to: TO, message: MESSAGE });
  await world.clock.advance(100);
  const interrupted = await leaseTasksOf(app, { kind: kind.name });
  assert.equal(await releaseTasksOf(app, kind.name), 1);
  assert.equal(await run(), 1);
  assert.equal((await takeForwarded()).length, 1);
  for (const task of interrupted) assert.equal(await kind.run(task), 'stale');
  assert.equal((await takeForwarded()).length, 0);
  assert.equal(await run(), 0);
});

test('a chain of others is continued as far as it was valid, and left alone when it was declared failed', async () => {
  const set = (cv: string) =>
    `ARC-Seal: i=1; a=rsa-sha256; cv=${cv}; d=a.example; s=a; b=AA\r\n` +
    'ARC-Message-Signature: i=1; a=rsa-sha256; d=a.example; s=a; h=from; bh=AA; b=AA\r\n' +
    'ARC-Authentication-Results: i=1; a.example; dmarc=pass\r\n';
  for (const [result, cv, expected] of [
    ['pass', 'none', /^ARC-Seal: i=2; a=rsa-sha256; cv=pass;/],
    ['fail', 'none', /^ARC-Seal: i=2; a=rsa-sha256; cv=fail;/],
    ['fail', 'fail', /^X-Postrider-Forwarded: /],
  ] as const) {
    world.knobs.result = { ...PASS, arc: { result, sets: [], reason: '' } };
    const { raw } = await receive({ to: TO, message: set(cv) + MESSAGE });
    assert.match(raw, expected);
    assert.ok(raw.endsWith(set(cv) + SENT), 'the fields of others stay as they are');
  }
  world.knobs.result = PASS;
});
