import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Session, Site } from '../../../src/queue/schedule/site.ts';

const LIMITS = {
  connections: 2,
  connectionsPerMinute: null,
  recipientsPerMinute: null,
  messagesPerConnection: 100,
  group: null,
};

/** Returns a site that takes two connections, and a function that adds a session to it. */
function openSite() {
  const site = new Site('mx.example', 'remote', LIMITS);
  const add = (state: Partial<Session> = {}): Session => {
    const id = site.sessions.size + 1;
    const open = { isNew: false, isConnected: false, isLast: false };
    const flags = { ...open, isEnding: false, isDismissed: false, isGivenUp: false };
    const session = {
      id,
      site,
      slot: {} as Session['slot'],
      group: undefined,
      ready: undefined,
      ...flags,
      ...state,
    };
    site.sessions.add(session);
    return session;
  };
  return { site, add };
}

test('a session may connect while the site takes more connections than its others have, connected or not', () => {
  const { site, add } = openSite();
  const session = add();
  assert.equal(site.mayConnect(session, 0), true);
  add();
  assert.equal(site.mayConnect(session, 0), true);
  add({ isConnected: true });
  assert.equal(site.mayConnect(session, 0), false);
});

test('a session that ends has its connection until then, and none when it was not connected', () => {
  const { site, add } = openSite();
  const [session] = [add(), add()];
  const ending = add({ isConnected: true, isEnding: true });
  assert.equal(site.mayConnect(session, 0), false);
  ending.isConnected = false;
  assert.equal(site.mayConnect(session, 0), true);
});

test('no session connects to a site that rests', () => {
  const { site, add } = openSite();
  const session = add();
  site.shape(LIMITS, [{ tenantId: null, until: 1_000, reason: 'a pause' }], 0);
  assert.deepEqual([site.mayConnect(session, 999), site.mayConnect(session, 1_000)], [false, true]);
});

test('a session that connects again obeys the rate of connections; its first one was counted when it was opened', () => {
  const { site, add } = openSite();
  site.shape({ ...LIMITS, connectionsPerMinute: 60 }, [], 0);
  const [first, again] = [add({ isNew: true }), add()];
  assert.equal(site.mayConnect(again, 0), true);
  for (let count = 0; count < 60; count++) site.countConnection(0);
  const later = site.connectableAt(0);
  assert.ok(later > 0);
  assert.equal(site.mayConnect(first, 0), true);
  assert.deepEqual([site.mayConnect(again, later - 1), site.mayConnect(again, later)], [false, true]);
});

test('copies that come back leave what is claimed ahead bounded, and urgent mail before them', () => {
  const { site, add } = openSite();
  const session = add();
  for (let count = 1; count < 20; count++) add();
  const urgent = { key: 'urgent', tenantId: 'ten_2', band: 'transactional' } as const;
  site.queues.add({ name: urgent, site, routedUntil: 1, mayHaveMore: true, fullWarmUp: null });
  let id = 0;
  for (let count = 0; count < 40; count++) site.insert({ id: ++id, tenantId: 'ten_1', band: 'broadcast' }, 0);
  for (let sent = 0; sent < 500; sent++) {
    const mail = site.takeAhead(session, 0) ?? assert.fail();
    if (mail.band === 'broadcast') site.putBack({ ...mail, id: ++id });
    for (let wanted = site.wantedUrgent(); wanted > 0; wanted--)
      site.insert({ id: ++id, tenantId: 'ten_2', band: 'transactional' }, 0);
    assert.ok(site.ahead.length <= 60, `${site.ahead.length} are claimed after ${sent}`);
  }
});

test('a session that is kept from copies lets urgent mail be claimed, and takes a copy once four other messages went before it', () => {
  const { site, add } = openSite();
  for (let count = 1; count < 10; count++) add();
  const kept = add({ ready: { isConnected: true, isLost: false, idleMs: 5_000, idleUntil: 5_000 } });
  const urgent = { key: 'urgent', tenantId: 'ten_2', band: 'transactional' } as const;
  site.queues.add({ name: urgent, site, routedUntil: 1, mayHaveMore: true, fullWarmUp: null });
  let id = 0;
  const insert = (band: 'broadcast' | 'transactional') =>
    site.insert({ id: ++id, tenantId: 'ten_1', band }, 0);
  insert('broadcast');
  assert.ok(site.wantedUrgent() > 0, 'a session waits for it');
  for (let count = 0; count < 3; count++) insert('transactional');
  const taken = () => site.takeAhead(kept, 0)?.band;
  assert.deepEqual([taken(), taken(), taken()], ['transactional', 'transactional', 'transactional']);
  assert.equal(taken(), undefined);
  insert('transactional');
  insert('broadcast');
  assert.deepEqual([taken(), taken(), taken()], ['transactional', 'broadcast', undefined]);
});
