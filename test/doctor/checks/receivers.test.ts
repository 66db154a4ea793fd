/** The check of the large receivers: each takes mail, and no rule keeps it. The metrics say what rules keep. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { receivers } from '../../../src/doctor/checks/receivers.ts';
import { Censuses } from '../../../src/queue/control/census.ts';
import { watchQueue } from '../../../src/queue/control/queue-metrics.ts';
import { recordRestriction } from '../../../src/queue/shaping/restrictions-store.ts';
import { newId } from '../../../src/system/ids.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { lines, openDoctorWorld } from '../support.ts';

const NOON = Date.UTC(2026, 2, 1, 12);
const MINUTE_MS = 60_000;
const world = await openDoctorWorld({ system: { clock: createFakeClock(NOON) } });
const database = new Sqlite(join(world.dataDir, 'postrider.db'));
database.pragma('foreign_keys = OFF');
after(async () => {
  database.close();
  await world.close();
});
beforeEach(() => void database.exec('DELETE FROM attempts'));

/** Adds attempts at a host, evenly from so many minutes ago until now. */
function tried(host: string, count: number, fromMinutesAgo: number, more: object = {}): void {
  const insert = database.prepare(
    `INSERT INTO attempts (id, recipientId, messageId, tenantId, at, durationMs, outcome, phase, mx, smtpCode, enhancedCode)
     VALUES (@id, 'rcp_1', 'em_1', 'ten_1', @at, 1, @outcome, 'rcpt', @host, 450, @enhancedCode)`,
  );
  for (let index = 0; index < count; index++) {
    const at = NOON - Math.round(fromMinutesAgo * MINUTE_MS * (1 - index / count));
    const row = { id: newId('att', at), at, host, outcome: 'deferred', enhancedCode: '4.7.0' };
    insert.run({ ...row, ...more });
  }
}

const find = async () => lines(await receivers.run(world.context));
const GMAIL = 'gmail-smtp-in.l.google.com';
const WELL = 'ok receivers: the large receivers take mail, and no rule keeps it';

test('a large receiver that has accepted nothing for an hour is found', async () => {
  assert.deepEqual(await find(), [WELL]);
  tried(GMAIL, 30, 59);
  tried('alt1.gmail-smtp-in.l.google.com', 12, 40);
  assert.deepEqual(await find(), ['fail google: it has accepted none of 42 attempts within the last hour']);
  const [finding] = await receivers.run(world.context);
  assert.match(finding?.advice ?? '', /queue site gmail-smtp-in\.l\.google\.com/);
  tried('aspmx.l.google.com', 1, 5, { outcome: 'delivered', enhancedCode: '2.0.0' });
  assert.deepEqual(await find(), [WELL], 'it takes some');
});

test('few attempts, the last minutes alone, unknown addresses and small hosts are no finding', async () => {
  tried(GMAIL, 19, 59);
  tried('mx-aol.mail.gm0.yahoodns.net', 100, 30);
  tried('mx.dead.example', 500, 59);
  tried('mail.protection.outlook.com', 100, 59, { outcome: 'bounced', enhancedCode: '5.1.10' });
  tried('smtp.google.com', 3, 300);
  assert.deepEqual(await find(), [WELL]);
});

test('what rules keep at large receivers is found and counted, also before it has lasted', async () => {
  const { app } = world;
  const about = { tenantId: null, source: null, lower: null, reason: '421 slow down', since: NOON };
  const until = NOON + 120 * MINUTE_MS;
  const restrictions = [
    { ...about, id: '1', rule: 'rest-it', place: 'provider yahoo', until },
    { ...about, id: '2', rule: 'slow-it', place: 'provider google', lower: { connections: 1 }, until },
    { ...about, id: '3', rule: 'rest-it', place: 'provider google', source: 'main', until },
    { ...about, id: '4', rule: 'rest-it', place: 'mx.small.example', until },
    { ...about, id: '5', rule: 'rest-it', place: 'provider google', tenantId: 'ten_1', until },
    { ...about, id: '6', rule: 'old', place: 'provider apple', until: NOON - 1 },
  ];
  for (const restriction of restrictions)
    await app.db.commit(recordRestriction, { restriction, now: NOON - 2 });
  assert.deepEqual((await find()).toSorted(), [
    'warn google from main: rest-it: its mail waits until 2026-03-01T14:00:00.000Z',
    'warn google: slow-it: its mail is slowed down until 2026-03-01T14:00:00.000Z',
    'warn yahoo: rest-it: its mail waits until 2026-03-01T14:00:00.000Z',
  ]);
  watchQueue(app, new Censuses(app));
  const { text } = await app.metrics.show();
  assert.match(text, /^postrider_delivery_restrictions\{provider="google",effect="rest"\} 2$/m);
  assert.match(text, /^postrider_delivery_restrictions\{provider="google",effect="lower"\} 1$/m);
  assert.match(text, /^postrider_delivery_restrictions\{provider="other",effect="rest"\} 1$/m);
  assert.doesNotMatch(text, /provider="apple",effect/);
});
