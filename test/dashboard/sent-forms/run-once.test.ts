/** A form runs once: for a double click, with many pages open, and after a restart, which is a function that remembers nothing. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Answer } from '../../../src/dashboard/page.ts';
import { createRunOnce, onceOf } from '../../../src/dashboard/sent-forms/run-once.ts';
import { expireForms, MAX_SENT_FORMS } from '../../../src/dashboard/sent-forms/store.ts';
import type { SessionRow } from '../../../src/db/people-tables.ts';
import { formOf } from '../../../src/http/pages/form-body.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { firstKeptId } from '../../../src/system/ids.ts';
import { logIn } from '../../support/browser.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const { app } = testApp;

const VIEW: Answer = { title: 'Made', body: 'a secret' };
const MOVED: Answer = { to: '/t/default/live/topics', said: 'deleted' };

let people = 0;

/** Returns what sends forms of a new person, and counts how often they have run. */
async function world() {
  const email = `sender-${++people}@people.example`;
  await logIn(testApp, { email });
  const person = await app.db.read
    .selectFrom('people')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow();
  const sessionOf = (id: string): Pick<SessionRow, 'id' | 'personId' | 'mailboxId'> => ({
    id: `ses_${person.id}${id}`,
    personId: person.id,
    mailboxId: null,
  });
  let runOnce = createRunOnce(app);
  let runs = 0;
  return {
    runs: () => runs,
    restart() {
      runOnce = createRunOnce(app);
    },
    async send(
      once: string,
      { session = '1', formBytes = 100, answer = VIEW, run = async () => answer } = {},
    ) {
      return runOnce({ session: sessionOf(session), once, formBytes }, async () => {
        runs++;
        return run();
      });
    },
    rows: () => app.db.read.selectFrom('sentForms').selectAll().where('personId', '=', person.id).execute(),
  };
}

test('a form runs once, also when both arrive at the same time, and each person has its own forms', async () => {
  const { send, runs } = await world();
  assert.deepEqual(await Promise.all([send('a'), send('a'), send('a')]), [VIEW, VIEW, VIEW]);
  assert.deepEqual([await send('a'), runs()], [VIEW, 1]);
  const other = await world();
  assert.deepEqual([await other.send('a'), other.runs()], [VIEW, 1]);
});

test('a form that leads elsewhere leads there again after a restart, and does not run again', async () => {
  const { send, runs, restart } = await world();
  assert.deepEqual(await send('a', { answer: MOVED }), MOVED);
  restart();
  assert.deepEqual(await Promise.all([send('a'), send('a')]), [MOVED, MOVED]);
  assert.equal(runs(), 1);
});

test('a page with a secret is not stored: after a restart, the second form is refused and does not run', async () => {
  const { send, runs, restart, rows } = await world();
  await send('a');
  assert.deepEqual(
    (await rows()).map(({ answer }) => answer),
    ['{}'],
  );
  restart();
  await assert.rejects(send('a'), /has had its effect; what it showed is not shown again/);
  assert.equal(runs(), 1);
});

test('each of 50 forms runs once, however many pages are open', async () => {
  const { send, runs } = await world();
  const forms = Array.from({ length: 50 }, (_, form) => `form ${form}`);
  for (const form of forms) await send(form, { answer: MOVED });
  for (const form of forms) assert.deepEqual(await send(form), MOVED);
  assert.equal(runs(), 50);
  for (const form of forms) await send(`${form} with a page`);
  for (const form of forms.slice(0, -4)) await assert.rejects(send(`${form} with a page`), /not shown again/);
  for (const form of forms.slice(-4)) assert.equal(await send(`${form} with a page`), VIEW);
  assert.equal(runs(), 100);
});

test('when the daemon ends between the action and its record, the second form is refused and does not run', async () => {
  const { send, runs, restart } = await world();
  let end = () => {};
  const killed = send('a', { run: () => new Promise<Answer>((resolve) => (end = () => resolve(VIEW))) });
  while (runs() === 0) await new Promise(setImmediate);
  restart();
  for (let time = 0; time < 2; time++)
    await assert.rejects(send('a'), /how it ended is not known: check whether it has had its effect/);
  assert.equal(runs(), 1);
  end();
  await killed;
});

test('a form that was refused, or that has failed, runs again', async () => {
  const { send, runs } = await world();
  const refused = async (): Promise<Answer> => {
    throw new Error('no');
  };
  await assert.rejects(send('a', { run: refused }), /no/);
  assert.equal(await send('a'), VIEW);
  assert.equal(runs(), 2);
});

test('a file is sent as often as somebody asks for it', async () => {
  const { send, runs } = await world();
  const file = { file: { name: 'a', mediaType: 'text/plain', bytes: Buffer.from('a') } };
  await send('file', { answer: file });
  assert.equal(await send('file', { answer: file }), file);
  assert.equal(runs(), 2);
});

test('the page of a large form, and one of ten minutes ago, is not remembered', async () => {
  const { send, runs } = await world();
  await send('large', { formBytes: 1_000_000 });
  await assert.rejects(send('large'), /not shown again/);
  await send('old');
  await clock.advance(10 * 60_000);
  await assert.rejects(send('old'), /not shown again/);
  assert.equal(runs(), 2);
});

test('the pages of one session push out none of another', async () => {
  const { send } = await world();
  await send('mine', { session: '2' });
  for (let form = 0; form < 20; form++) await send(`form ${form}`);
  assert.equal(await send('mine', { session: '2' }), VIEW);
});

test('of a person, a thousand forms are known, for a week', async () => {
  const { send, runs, rows } = await world();
  await send('first', { answer: MOVED });
  for (let form = 1; form <= MAX_SENT_FORMS; form++) {
    await clock.advance(1);
    await send(String(form), { answer: MOVED });
  }
  assert.equal((await rows()).length, MAX_SENT_FORMS);
  await send('first', { answer: MOVED });
  assert.equal(runs(), MAX_SENT_FORMS + 2);
  await clock.advance(6 * DAY_MS);
  const expire = () =>
    app.db.commit(expireForms, {
      before: firstKeptId('frm', clock.now(), 7),
      after: '',
      rows: 10_000,
    });
  await expire();
  assert.equal((await rows()).length, MAX_SENT_FORMS);
  await clock.advance(2 * DAY_MS);
  await expire();
  assert.equal((await rows()).length, 0);
});

test('a form is the same with the same key and the same values, at the same address', () => {
  const form = (values: Record<string, string>, fileBytes = 1) =>
    formOf(Object.entries(values), [
      { field: 'file', name: 'a.csv', mediaType: 'text/csv', bytes: Buffer.alloc(fileBytes) },
    ]);
  const key = { _once: 'k', name: 'a' };
  const once = onceOf(form(key), '/topics');
  assert.match(once, /^[0-9a-f]{64}$/);
  assert.equal(onceOf(form(key), '/topics'), once);
  const others = [
    onceOf(form({ ...key, name: 'b' }), '/topics'),
    onceOf(form({ ...key, _once: 'other' }), '/topics'),
    onceOf(form(key), '/audiences'),
    onceOf(form(key, 2), '/topics'),
  ];
  assert.equal(new Set([once, ...others]).size, 5);
  assert.equal(onceOf(form({ name: 'a' }), '/topics'), '');
});
