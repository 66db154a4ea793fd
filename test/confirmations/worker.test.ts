/** Tests of the work that makes confirmation mail: its content, its tries, crashes, and tenants in turn. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { App } from '../../src/app.ts';
import { CONFIRMATIONS } from '../../src/audiences/opt-in/store.ts';
import { createConfirmationKind } from '../../src/confirmations/feature.ts';
import { approvingIn, fillApprovals } from '../approvals/approving.ts';
import { failDomain } from '../broadcasts/fixtures.ts';
import { exportCsv, importCsv } from '../imports/jobs.ts';
import { storePlan } from '../support/store-plan.ts';
import { leaseTasksOf, releaseTasksOf, runDueTasks } from '../support/tasks.ts';
import { FROM, openWorld, type World } from './world.ts';

let world: World;
let app: App;
before(async () => {
  world = await openWorld();
  app = world.spool.app;
});
after(() => world[Symbol.asyncDispose]());

const HOUR_MS = 3_600_000;
let count = 0;
const newAddress = () => `worker${++count}@rcpt.example`;

async function requestsOf(address: string) {
  return app.db.read.selectFrom('confirmationRequests').selectAll().where('address', '=', address).execute();
}

test('our own mail is written in each language, with the link in both parts and nothing of the contact', async () => {
  const subjects = {
    en: 'Please confirm your subscription',
    de: 'Bitte bestätigen Sie Ihre Anmeldung',
    fr: 'Veuillez confirmer votre inscription',
    es: 'Confirme su suscripción',
  };
  for (const [language, subject] of Object.entries(subjects)) {
    const audience = await world.addAudience({ from: FROM, language, replyTo: 'help@sender.example' });
    const email = newAddress();
    await world.signUp(email, { firstName: 'BUY-NOW', properties: { x: 'https://evil.example' } }, audience);
    await world.work();
    const [mail] = await world.mailsTo(email);
    assert.deepEqual([mail.subject, mail.replyTo], [subject, ['help@sender.example']]);
    const path = await world.linkTo(email);
    assert.ok(mail.html.includes(`href="https://track.mx.postrider.example${path}"`), mail.html);
    assert.match(mail.html, new RegExp(`<html lang="${language}">`));
    assert.match(mail.text, / 7 /);
    assert.doesNotMatch(mail.html + mail.text, /BUY-NOW|evil|\{\{/);
  }
});

test('a template replaces our own mail while it has the link, and a subject replaces either subject', async () => {
  const template = {
    name: 'Confirm',
    subject: 'Hi {{firstName|there}}',
    html: '<a href="{{{confirm_url}}}">Yes</a>',
  };
  const { body } = await world.ask('POST', '/templates', template);
  const audience = await world.addAudience({ from: FROM, templateId: body.id });
  const subjectOf = async (firstName: string) => {
    const email = newAddress();
    await world.signUp(email, { firstName }, audience);
    await world.work();
    await world.linkTo(email);
    return (await world.mailsTo(email))[0].subject;
  };
  assert.equal(await subjectOf('Ada'), 'Hi Ada');
  await world.ask('PATCH', `/audiences/${audience}`, {
    optIn: { from: FROM, templateId: body.id, subject: '{{firstName}}?' },
  });
  assert.equal(await subjectOf('Ada'), 'Ada?');
  await world.ask('PATCH', `/templates/${body.id}`, { html: '<p>No link</p>' });
  await world.ask('PATCH', `/audiences/${audience}`, { name: 'Renamed' });
  assert.equal(await subjectOf('Ada'), '{{firstName}}?', 'our own mail takes a subject as it is');
  await world.ask('DELETE', `/templates/${body.id}`);
  assert.equal(await subjectOf('Ada'), '{{firstName}}?');
});

test('a crash at any step loses no mail and sends none twice', async () => {
  const email = newAddress();
  await world.signUp(email);
  const [request] = await requestsOf(email);
  assert.ok(request);
  const broken = {
    ...app,
    db: {
      ...app.db,
      commit: async () => {
        throw new Error('the daemon was killed');
      },
    },
  } as unknown as App;
  const [task] = await leaseTasksOf(app, { kind: CONFIRMATIONS });
  assert.ok(task);
  await assert.rejects(createConfirmationKind(broken).run(task), /was killed/);
  assert.deepEqual([(await requestsOf(email)).length, await world.mailsTo(email)], [1, []]);

  // Two daemons would be a bug, but even then the request is settled once.
  await releaseTasksOf(app, CONFIRMATIONS);
  const [again] = await leaseTasksOf(app, { kind: CONFIRMATIONS });
  assert.ok(again);
  const kinds = [createConfirmationKind(app), createConfirmationKind(app)];
  await Promise.all(kinds.map((kind) => kind.run(again)));
  await world.work();
  assert.deepEqual([(await requestsOf(email)).length, (await world.mailsTo(email)).length], [0, 1]);
  assert.equal((await world.contact(email)).confirmation.count, 1);
});

test('a mail that finds too much mail waiting for approval is made when there is less', async () => {
  const { tenantId } = world.spool;
  const key = await approvingIn(world.spool).intern('broadcasts_and_emails');
  const email = newAddress();
  const added = await world.ask(
    'POST',
    `/audiences/${world.audienceId}/contacts`,
    { email, status: 'pending' },
    key,
  );
  assert.equal(added.status, 201);
  const full = fillApprovals(world.spool, { tenantId, mode: 'live' });
  await world.work();
  assert.deepEqual([(await requestsOf(email)).length, (await world.mailsTo(email)).length], [1, 0]);
  full.empty();
  await world.spool.clock.advance(HOUR_MS);
  await world.work();
  const [mail] = await world.mailsTo(email);
  assert.equal(mail.approval.state, 'pending');
});

test('an account without quota cannot sign anybody up, and mail that finds the quota used up waits a day at most', async () => {
  const { liveKey, tenantId } = await world.spool.addTenant('small');
  await world.spool.addDomain(liveKey, 'small.example');
  await storePlan(app.db, 'one', { monthlyEmails: 1 });
  const optIn = { from: 'news@small.example' };
  const { body: audience } = await world.ask('POST', '/audiences', { name: 'Theirs', optIn }, liveKey);
  const contacts = `/audiences/${audience.id}/contacts`;
  const add = (email: string) => world.ask('POST', contacts, { email, status: 'pending' }, liveKey);
  setPlan(tenantId, 'one');
  const [first, second] = [newAddress(), newAddress()];
  assert.equal((await add(first)).status, 201);
  assert.equal((await add(second)).status, 201, 'nothing is charged before the mail is made');
  await world.work();
  const mailed = async () =>
    (await Promise.all([first, second].map((email) => world.mailsTo(email, liveKey)))).flat().length;
  assert.equal(await mailed(), 1);
  const refused = await add(newAddress());
  assert.deepEqual([refused.status, refused.body.error.type], [429, 'quota_exceeded']);
  for (let hours = 0; hours < 25; hours++) {
    await world.spool.clock.advance(HOUR_MS);
    await world.work();
  }
  assert.equal(await mailed(), 1);
  setPlan(tenantId, 'unlimited');
  await world.spool.clock.advance(HOUR_MS);
  await world.work();
  assert.equal(await mailed(), 1, 'a mail that is a day old is dropped');
  const shown = await world.ask('GET', contacts, undefined, liveKey);
  const counts = shown.body.data.map(
    ({ confirmation }: { confirmation: { count: number } }) => confirmation.count,
  );
  assert.deepEqual(counts.toSorted(), [0, 1], 'a dropped mail does not count');
  const again = await world.ask(
    'POST',
    `${contacts}?upsert=true`,
    { email: second, status: 'pending' },
    liveKey,
  );
  await world.ask('POST', `${contacts}?upsert=true`, { email: first, status: 'pending' }, liveKey);
  assert.equal(again.body.confirmation.count, 1);
  await world.work();
  assert.equal(await mailed(), 3);
});

test('a mail that finds the quota used up is sent once there is more', async () => {
  const { liveKey, tenantId } = await world.spool.addTenant('growing');
  await world.spool.addDomain(liveKey, 'growing.example');
  const optIn = { from: 'news@growing.example' };
  const { body: audience } = await world.ask('POST', '/audiences', { name: 'Theirs', optIn }, liveKey);
  const email = newAddress();
  await world.ask('POST', `/audiences/${audience.id}/contacts`, { email, status: 'pending' }, liveKey);
  await storePlan(app.db, 'none', { monthlyEmails: 0 });
  setPlan(tenantId, 'none');
  await world.work();
  assert.deepEqual(await world.mailsTo(email, liveKey), []);
  setPlan(tenantId, 'unlimited');
  await world.spool.clock.advance(HOUR_MS);
  await world.work();
  assert.equal((await world.mailsTo(email, liveKey)).length, 1);
});

function setPlan(tenantId: string, plan: string) {
  const database = new Sqlite(`${world.spool.dataDir}/postrider.db`);
  database.prepare('UPDATE tenants SET plan = ? WHERE id = ?').run(plan, tenantId);
  database.close();
}

test('a domain that is no longer verified refuses new contacts, and its waiting mail is tried again each hour', async () => {
  const { liveKey } = await world.spool.addTenant('lapsed');
  await world.spool.addDomain(liveKey, 'lapsed.example');
  const optIn = { from: 'news@lapsed.example' };
  const { body: audience } = await world.ask('POST', '/audiences', { name: 'Theirs', optIn }, liveKey);
  const contacts = `/audiences/${audience.id}/contacts`;
  const email = newAddress();
  await world.ask('POST', contacts, { email, status: 'pending' }, liveKey);
  failDomain(world.spool, 'lapsed.example');
  await world.work();
  assert.deepEqual(await world.mailsTo(email, liveKey), []);
  const refused = await world.ask('POST', contacts, { email: newAddress(), status: 'pending' }, liveKey);
  assert.deepEqual([refused.status, refused.body.error.type], [422, 'domain_not_verified']);
  setDomain('lapsed.example', 'verified');
  await world.spool.clock.advance(HOUR_MS - 1);
  await world.work();
  assert.deepEqual(await world.mailsTo(email, liveKey), []);
  await world.spool.clock.advance(1);
  await world.work();
  assert.equal((await world.mailsTo(email, liveKey)).length, 1);
});

function setDomain(name: string, status: string) {
  const database = new Sqlite(`${world.spool.dataDir}/postrider.db`);
  database.prepare('UPDATE domains SET status = ? WHERE name = ?').run(status, name);
  database.close();
}

test('a mail that cannot be made because of a bug is tried again, and keeps no other from its turn', async () => {
  const [bad, good] = [newAddress(), newAddress()];
  await world.signUp(bad);
  await world.signUp(good);
  const [request] = await requestsOf(bad);
  assert.ok(request);
  const faulty = {
    ...app,
    db: {
      ...app.db,
      commit: async (write: unknown, input: { request?: { id: number } }) => {
        if (input.request?.id === request.id) throw new Error('a bug');
        return app.db.commit(write as never, input as never);
      },
    },
  } as unknown as App;
  await runDueTasks(app, createConfirmationKind(faulty));
  assert.deepEqual([(await world.mailsTo(bad)).length, (await world.mailsTo(good)).length], [0, 1]);
  await world.spool.clock.advance(60_000);
  await world.work();
  assert.equal((await world.mailsTo(bad)).length, 1);
});

test('a reader who leaves before the mail is made gets none', async () => {
  const email = newAddress();
  await world.signUp(email);
  await world.ask('PATCH', `/audiences/${world.audienceId}/contacts/${email}`, { unsubscribed: true });
  await world.work();
  assert.deepEqual([await world.mailsTo(email), await requestsOf(email)], [[], []]);
});

test('an unconfirmed contact in the file of another product becomes pending, and gets one mail', async () => {
  const { spool, audienceId } = world;
  const [unconfirmed, left] = [newAddress(), newAddress()];
  const job = await importCsv(
    { ...spool, testKey: spool.liveKey },
    `/v1/audiences/${audienceId}/contacts/imports`,
    `Email Address,Status,UNSUB_TIME\n${unconfirmed},Unconfirmed,\n${left},pending,2026-01-02\n`,
  );
  assert.deepEqual([job.created, job.failed], [2, 0]);
  await world.work();
  assert.equal((await world.contact(unconfirmed)).status, 'pending');
  assert.equal((await world.contact(left)).status, 'unsubscribed');
  assert.equal((await world.mailsTo(unconfirmed)).length, 1);
  assert.equal((await world.mailsTo(left)).length, 0);
});

test('a file adds pending contacts, changes nobody who is subscribed, and is exported as it is', async () => {
  const { spool, audienceId } = world;
  const path = `/v1/audiences/${audienceId}/contacts/imports`;
  const [fresh, known, left] = [newAddress(), newAddress(), newAddress()];
  await world.ask('POST', `/audiences/${audienceId}/contacts`, { email: known, firstName: 'Known' });
  await world.ask('POST', `/audiences/${audienceId}/contacts`, { email: left, unsubscribed: true });
  const rows = [
    `${fresh},Fresh,yes,`,
    `${known},Other,yes,`,
    `${left},Other,1,`,
    'plain@rcpt.example,Plain,no,',
    'both@rcpt.example,Both,true,true',
  ];
  const file = `email,first name,pending,unsubscribed\n${rows.join('\n')}\n`;
  const live = { ...spool, testKey: spool.liveKey };
  const job = await importCsv(live, path, file);
  assert.deepEqual([job.created, job.updated, job.skipped, job.failed], [2, 0, 2, 1]);
  await world.work();
  const shown = await Promise.all(
    [fresh, known, left, 'plain@rcpt.example'].map((email) => world.contact(email)),
  );
  assert.deepEqual(
    shown.map(({ status, firstName }) => [status, firstName]),
    [
      ['pending', 'Fresh'],
      ['subscribed', 'Known'],
      ['unsubscribed', null],
      ['subscribed', 'Plain'],
    ],
  );
  const { consent, confirmation } = shown[0];
  assert.deepEqual([consent.source, consent.requestedIp, confirmation.count], ['import', null, 1]);
  assert.equal((await world.mailsTo(fresh)).length, 1);
  const again = await importCsv(live, path, `email,pending\n${fresh},yes\n`);
  assert.deepEqual([again.skipped, again.failed], [1, 0]);
  await world.work();
  assert.equal((await world.mailsTo(fresh)).length, 1, 'the limit holds for files, too');
  const plain = await importCsv(live, path, `email,unsubscribed\n${fresh},no\n`);
  assert.equal(plain.skipped, 1);
  assert.equal((await world.contact(fresh)).status, 'pending', 'a file without the column confirms nobody');
  const { file: exported } = await exportCsv(spool, `/v1/audiences/${audienceId}/contacts/exports`);
  const lines = exported
    .split('\r\n')
    .filter((line) => [fresh, known, left].some((email) => line.includes(email)));
  assert.deepEqual(lines.toSorted(), [
    `${fresh},Fresh,,false,true`,
    `${known},Known,,false,false`,
    `${left},,,true,false`,
  ]);
});

test('a file with pending contacts is refused row by row when the audience has no sender, and a test key sends nothing', async () => {
  const none = await world.addAudience(null);
  const path = (audience: string) => `/v1/audiences/${audience}/contacts/imports`;
  const email = newAddress();
  const job = await importCsv(world.spool, path(none), `email,pending\n${email},yes\nx@rcpt.example,no\n`);
  assert.deepEqual([job.created, job.failed], [1, 1]);
  const tested = await importCsv(world.spool, path(world.audienceId), `email,pending\n${email},yes\n`);
  assert.equal(tested.created, 1);
  await world.work();
  assert.deepEqual(await world.mailsTo(email), []);
  assert.equal((await world.mailsTo(email, world.spool.testKey)).length, 1);
});
