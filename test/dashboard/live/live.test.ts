/** The streams of the dashboard: who sees what, how much of it, and when they end. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { MAX_STREAMS_PER_PERSON } from '../../../src/dashboard/live/route.ts';
import { listMembers, setRole } from '../../../src/dashboard/people/memberships-store.ts';
import { readNewest } from '../../../src/events/tail-store.ts';
import { TAG } from '../../broadcasts/fixtures.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { type Browser, logIn } from '../../support/browser.ts';
import { type EventStream, openEventStream } from '../../support/event-stream.ts';
import { openSpool, SENDER_DOMAIN } from '../../support/spool.ts';
import { waitUntilInTime } from '../../support/wait-until.ts';

const spool = await openSpool();
const { app, clock } = spool;
after(() => spool.close());
// Lines are limited in each second, so each test begins in one of its own.
beforeEach(() => clock.advance(1_000));

const TAIL = '/t/default/live/tail';
const live = (browser: Browser, topics: readonly string[], headers: Record<string, string> = {}) =>
  openEventStream(spool, `/live?${new URLSearchParams(topics.map((topic) => ['topic', topic]))}`, {
    cookie: browser.cookie(),
    ...headers,
  });

/** Number of times that the clock goes on. On a busy machine, what it has led to arrives later. */
const MAX_ADVANCES = 400;

/** Lets time pass until something holds. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < MAX_ADVANCES && !holds(); tries++) {
    await clock.advance(250);
    await app.db.query(readNewest, { limit: 1 });
    await new Promise(setImmediate);
  }
  await waitUntilInTime([clock], holds);
}

type Line = { type: string; to: string; from: string; emailId: string };
const linesOf = ({ frames }: EventStream) =>
  frames.flatMap(({ event, data }) => (event === 'tail' ? (data['lines'] as Line[]) : []));

test('a member sees the events of the tenant in this mode as they come, and the operator envelopes of all', async () => {
  const owner = await logIn(spool);
  const operator = await logIn(spool, { isOperator: true, tenantId: null });
  const streams = await Promise.all([
    live(owner, [TAIL]),
    live(owner, ['/t/default/test/tail']),
    live(operator, ['/operator/tail']),
  ]);
  const [own, ofTest, all] = streams;
  assert.deepEqual(
    streams.map(({ status, headers }) => [status, headers['content-type']]),
    streams.map(() => [200, 'text/event-stream; charset=utf-8']),
  );
  const id = await spool.accept('ann@readers.example', {
    subject: 'A secret subject',
    text: 'A secret body',
  });
  await until(() => linesOf(own).length > 0 && linesOf(all).length > 0);
  const [line] = linesOf(own);
  assert.deepEqual([line?.type, line?.to, line?.emailId], ['email.queued', 'ann@readers.example', id]);
  assert.match(line?.from ?? '', /@/);
  assert.deepEqual(linesOf(ofTest), []);
  assert.equal(linesOf(all)[0]?.emailId, id);
  assert.doesNotMatch(JSON.stringify(streams.map(({ frames }) => frames)), /secret/);
  assert.equal(own.frames[0]?.event, 'version');
  for (const stream of streams) stream.close();
});

test('what the operator sees has no contacts, and a tenant nothing of another one', async () => {
  const owner = await logIn(spool);
  const operator = await logIn(spool, { isOperator: true, tenantId: null });
  const other = await spool.addTenant('other');
  const [own, all] = await Promise.all([live(owner, [TAIL]), live(operator, ['/operator/tail'])]);
  const { body: audience } = await spool.request('POST', '/v1/audiences', {
    key: other.liveKey,
    body: { name: 'Club' },
  });
  await spool.request('POST', `/v1/audiences/${audience.id}/contacts`, {
    key: other.liveKey,
    body: { email: 'member@club.example' },
  });
  await spool.accept('bob@readers.example');
  await until(() => linesOf(own).length > 0 && linesOf(all).length > 0);
  assert.doesNotMatch(JSON.stringify([own.frames, all.frames]), /member@club/);
  own.close();
  all.close();
});

test('a topic that somebody may not see is not found, as one that there is not, and work is nothing but work', async () => {
  const owner = await logIn(spool);
  const refused = [
    '/operator/tail',
    '/operator/work/backups',
    '/t/other/live/tail',
    '/t/nobody/live/tail',
    '/t/default/live/work/emails',
    '/t/default/live/work/mailboxes/mbx_1',
    '/t/default/live/work/exports/exp_1/file',
    '/t/default/live/work/../../../operator',
    'nothing',
  ];
  for (const topic of refused) assert.equal((await live(owner, [topic])).status, 404, topic);
  assert.equal(
    (
      await live(
        owner,
        Array.from({ length: 21 }, (_, index) => `${TAIL}${index}`),
      )
    ).status,
    404,
  );
  const nobody = await openEventStream(spool, `/live?topic=${TAIL}`, {});
  assert.equal(nobody.status, 303);
});

test('a flood is cut to twenty lines, and the frame says how many it leaves out', async () => {
  const owner = await logIn(spool);
  const stream = await live(owner, [TAIL]);
  await until(() => stream.frames.length > 0);
  const to = Array.from({ length: 45 }, (_, index) => `reader${index}@readers.example`);
  await spool.accept(to[0] ?? '', { to });
  await until(() => linesOf(stream).length > 0);
  const tails = stream.frames.filter(({ event }) => event === 'tail');
  const omitted = tails.reduce((sum, { data }) => sum + Number(data['omitted']), 0);
  assert.deepEqual([linesOf(stream).length, omitted], [20, 25]);
  stream.close();
});

test('a browser that comes back gets what it has missed, behind the position that it names', async () => {
  const owner = await logIn(spool);
  const first = await live(owner, [TAIL]);
  const known = await spool.accept('known@readers.example');
  await until(() => linesOf(first).length > 0);
  const id = first.frames.at(-1)?.id ?? '';
  assert.match(id, /^\d+$/);
  first.close();
  const missed = await spool.accept('missed@readers.example');
  const second = await live(owner, [TAIL], { 'last-event-id': id });
  await until(() => linesOf(second).length > 0);
  const ids = linesOf(second).map(({ emailId }) => emailId);
  assert.ok(ids.includes(missed) && !ids.includes(known), String(ids));
  second.close();
});

test('a stream ends with its session, and when the rights of its person change', async () => {
  const leaving = await logIn(spool);
  const email = 'changing@people.example';
  const changing = await logIn(spool, { email, role: 'admin' });
  const staying = await logIn(spool);
  const streams = await Promise.all([leaving, changing, staying].map((browser) => live(browser, [TAIL])));
  const [left, changed, stayed] = streams as [EventStream, EventStream, EventStream];
  await until(() => streams.every(({ frames }) => frames.length > 0));
  await leaving.open('/account');
  await leaving.submit('logout');
  const member = (await listMembers(app.db.read, spool.tenantId)).find((one) => one.email === email);
  assert.ok(member);
  const { id: personId } = member;
  await app.db.commit(setRole, { tenantId: spool.tenantId, personId, role: 'viewer' });
  await until(() => left.hasEnded() && changed.hasEnded());
  assert.equal(left.frames.at(-1)?.event, 'end');
  assert.equal(stayed.hasEnded(), false);
  stayed.close();
});

test('a person has a limited number of streams, and one that closes makes room', async () => {
  const owner = await logIn(spool);
  const streams = await Promise.all(
    Array.from({ length: MAX_STREAMS_PER_PERSON }, () => live(owner, [TAIL])),
  );
  assert.ok(streams.every(({ status }) => status === 200));
  assert.equal((await live(owner, [TAIL])).status, 429);
  const other = await live(await logIn(spool), [TAIL]);
  assert.equal(other.status, 200);
  streams[0]?.close();
  let again: EventStream | undefined;
  for (let tries = 0; tries < 50 && again?.status !== 200; tries++) again = await live(owner, [TAIL]);
  assert.equal(again?.status, 200);
  for (const stream of [...streams, other, again]) stream?.close();
});

test('somebody who watches work is told when it has changed', async () => {
  const owner = await logIn(spool);
  const { body: audience } = await spool.request('POST', '/v1/audiences', {
    key: spool.liveKey,
    body: { name: 'Readers' },
  });
  const body = {
    audienceId: audience.id,
    from: `ada@${SENDER_DOMAIN}`,
    subject: 'News',
    html: `<a href="${TAG}">x</a>`,
  };
  const { body: made } = await spool.request('POST', '/v1/broadcasts', { key: spool.liveKey, body });
  const stream = await live(owner, [`/t/default/live/work/broadcasts/${made.id}`]);
  const changes = () => stream.frames.filter(({ event }) => event === 'changed').length;
  await until(() => changes() === 1);
  await clock.advance(3_000);
  assert.equal(changes(), 1, 'nothing has changed');
  await spool.request('PATCH', `/v1/broadcasts/${made.id}`, {
    key: spool.liveKey,
    body: { subject: 'Other news' },
  });
  await until(() => changes() === 2);
  await spool.request('DELETE', `/v1/broadcasts/${made.id}`, { key: spool.liveKey });
  await until(() => changes() === 3);
  stream.close();
});

test('somebody who watches the imports of a mailbox is told when there is another one', async () => {
  const viewer = await logIn(spool, { role: 'viewer' });
  const { id } = await addMailbox(spool, { address: 'import@people.example' });
  const stream = await live(viewer, [`/t/default/live/work/mailboxes/${id}/imports`]);
  const changes = () => stream.frames.filter(({ event }) => event === 'changed').length;
  await until(() => changes() === 1);
  const { status } = await spool.request('POST', `/v1/mailboxes/${id}/imports`, {
    key: spool.liveKey,
    body: { host: 'imap.old.example', user: 'ann', password: 'secret' },
  });
  assert.ok(status < 300);
  await until(() => changes() === 2);
  stream.close();
});

test('the pages begin with the newest lines, as text, and the operator sees no subject there either', async () => {
  const owner = await logIn(spool);
  const operator = await logIn(spool, { isOperator: true, tenantId: null });
  await spool.accept('ann@readers.example', { subject: 'A secret subject' });
  const own = await owner.open(TAIL);
  const all = await operator.open('/operator/tail');
  for (const { status, html } of [own, all]) {
    assert.equal(status, 200);
    assert.match(html, /ann@readers\.example/);
    assert.doesNotMatch(html, /A secret subject/);
    assert.match(html, />Refresh</);
  }
});
