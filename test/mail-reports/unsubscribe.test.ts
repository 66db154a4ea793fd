import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { createUnsubscribeKind } from '../../src/mail-reports/unsubscribe.ts';
import { returnAddressKeyOf, unsubscribeLocalPart } from '../../src/queue/return-path.ts';
import { newId } from '../../src/system/ids.ts';
import { openMailWorld, PASS, sendMail } from '../inbound/mail-world.ts';
import { runDueTasks } from '../support/tasks.ts';

const HOST = 'bounce.mx.postrider.example';
const world = await openMailWorld();
const { app } = world;
const kind = createUnsubscribeKind(app);
let audienceId: string;
let topicId: string;
before(async () => {
  await world.addDomain('shop.example');
  audienceId = (await ask('POST', '/audiences', { name: 'Readers' })).id;
  topicId = (await ask('POST', '/topics', { name: 'News', defaultOptIn: true })).id;
});

async function ask(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
  const given = { key: world.test.liveKey, ...(body && { body }) };
  const answer = await world.test.request(method, `/v1${path}`, given);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

/** Sends marketing mail to new contacts with these names, and returns the addresses at which they unsubscribe. */
async function mailTo(...names: string[]): Promise<string[]> {
  const to = names.map((name) => `${name}@readers.example`);
  for (const email of to) await ask('POST', `/audiences/${audienceId}/contacts`, { email });
  const from = 'news@shop.example';
  const mail = { from, to, subject: 'News', text: 'Hi {{{unsubscribe_url}}}', type: 'broadcast', topicId };
  const { id: emailId } = await ask('POST', '/emails', mail);
  const key = returnAddressKeyOf(app);
  return names.map((_, position) => `${unsubscribeLocalPart(key, { emailId, position })}@${HOST}`);
}

/** Runs the tasks that are due, and returns how many there were. */
async function run(): Promise<number> {
  await world.clock.advance(100);
  return (await runDueTasks(app, kind)).length;
}

const topicsOf = async (name: string) =>
  (await ask('GET', `/audiences/${audienceId}/contacts/${name}@readers.example`)).topics;
const left = () => [{ id: topicId, subscription: 'opt_out' }];
const unsubscribed = () =>
  app.db.read.selectFrom('events').select('id').where('type', '=', 'contact.unsubscribed').execute();

test('mail to the address unsubscribes its reader from the topic once, and nobody else', async () => {
  const [ann = ''] = await mailTo('ann', 'bob');
  const client = await world.open();
  const reply = await sendMail(client, { to: ann, message: 'Subject: unsubscribe\r\n\r\n\r\n' });
  assert.match(reply, /^250 /);
  assert.equal(await run(), 1);
  assert.deepEqual([await topicsOf('ann'), await topicsOf('bob')], [left(), []]);
  const before = (await unsubscribed()).length;
  assert.equal(before, 1);
  await sendMail(client, { to: ann.toUpperCase() });
  assert.equal(await run(), 1);
  assert.equal((await unsubscribed()).length, before);
  const states = (await world.tasks()).map(({ kind, state }) => `${kind} ${state}`);
  assert.deepEqual(states, ['unsubscribe done', 'unsubscribe done']);
  assert.ok((await world.messages()).every(({ tenantId, endedAt }) => tenantId === null && endedAt !== null));
});

test('a message to the addresses of two readers of one email unsubscribes both, even when it fails DMARC', async () => {
  world.knobs.result = { ...PASS, dmarc: { ...PASS.dmarc, result: 'fail', policy: 'reject' } };
  const to = await mailTo('cleo', 'dan');
  assert.match(await sendMail(await world.open(), { to }), /^250 /);
  world.knobs.result = PASS;
  assert.equal(await run(), 2);
  assert.deepEqual([await topicsOf('cleo'), await topicsOf('dan')], [left(), left()]);
});

test('the reader of an email that was deleted is not known any more, and a forged address does not exist', async () => {
  const gone = unsubscribeLocalPart(returnAddressKeyOf(app), { emailId: newId('em', 0), position: 0 });
  const client = await world.open();
  assert.match(await sendMail(client, { to: `${gone}@${HOST}` }), /^250 /);
  assert.equal(await run(), 1);
  const [task] = (await world.tasks()).filter(({ state }) => state === 'failed');
  assert.match(task?.error ?? '', /deleted/);
  const last = gone.endsWith('0') ? '1' : '0';
  assert.match(await sendMail(client, { to: `${gone.slice(0, -1)}${last}@${HOST}` }), /^550 5\.1\.1/);
  assert.equal(await run(), 0);
});
