import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { AnswerCache } from '../../src/db/answer-cache.ts';
import { TableChanges } from '../../src/db/table-changes.ts';

/** Opens the watched columns of the tables, and returns the function that counts what was committed. */
function openWatched() {
  const connection = new Sqlite(':memory:');
  connection.exec(`
    CREATE TABLE domains (id TEXT, name TEXT, tenantId TEXT, status TEXT, verifiedSince INTEGER, failingSince INTEGER, deletedAt INTEGER,
      selector TEXT, privateKeySealed TEXT, openTracking INTEGER, clickTracking INTEGER, trackingHost TEXT, trackingCheckedAt INTEGER,
      returnPathHost TEXT, productType TEXT);
    CREATE TABLE domainKeys (domainId TEXT, selector TEXT, algorithm TEXT, state TEXT, privateKeySealed TEXT);
    CREATE TABLE inboundRoutes (id TEXT, tenantId TEXT, address TEXT, domain TEXT, enabled INTEGER, failures INTEGER, destination TEXT,
      failingSince INTEGER, warnedAt INTEGER, consecutiveFailures INTEGER, suspendedUntil INTEGER, secretSealed TEXT);
    CREATE TABLE webhookEndpoints (id TEXT, url TEXT, status TEXT, previousSecretSealed TEXT, previousSecretUntil INTEGER,
      failingSince INTEGER, warnedAt INTEGER, consecutiveFailures INTEGER, suspendedUntil INTEGER, secretSealed TEXT);
    CREATE TABLE mailboxes (domain TEXT, address TEXT, status TEXT, passwordLogin INTEGER, passwordHash TEXT);
    CREATE TABLE appPasswords (mailboxId TEXT, expiresAt INTEGER);
    CREATE TABLE mailboxAliases (domain TEXT, address TEXT, mailboxId TEXT);
    CREATE TABLE mailboxFilters (mailboxId TEXT, script TEXT);
    CREATE TABLE mailboxScripts (mailboxId TEXT, name TEXT, content TEXT, isActive INTEGER);
    CREATE TABLE tenants (id TEXT, plan TEXT, status TEXT);
    CREATE TABLE plans (name TEXT, storedMegabytes INTEGER)`);
  const changes = new TableChanges();
  // The other thread has the same memory.
  const commit = new TableChanges(changes.memory).watch(connection);
  return { connection, changes, commit };
}

test('a change counts for its key alone, once it is committed', () => {
  const { connection, changes, commit } = openWatched();
  const counts = () => ['one', 'two', 'three'].map((key) => changes.count('inboundRoutes', key));
  const run = (sql: string) => {
    connection.exec(sql);
    const before = counts();
    commit();
    return [before, counts()];
  };
  const INSERT = "INSERT INTO inboundRoutes (id, tenantId, enabled, failures) VALUES ('rt_1', 'one', 1, 0)";
  assert.deepEqual(run(INSERT), [
    [0, 0, 0],
    [1, 0, 0],
  ]);
  for (const [sql, expected] of [
    ["UPDATE inboundRoutes SET failures = 1 WHERE tenantId = 'one'", [1, 0, 0]],
    ["UPDATE inboundRoutes SET enabled = 0 WHERE tenantId = 'one'", [2, 0, 0]],
    // A row that gets another key is one less for the first and one more for the second.
    ["UPDATE inboundRoutes SET tenantId = 'two'", [3, 1, 0]],
    ['DELETE FROM inboundRoutes', [3, 2, 0]],
    ["INSERT INTO tenants VALUES ('three', 'a', 'active')", [3, 2, 0]],
  ] as const)
    assert.deepEqual(run(sql)[1], expected, sql);
});

test('a table that is watched by two keys counts each change for those keys whose columns have changed', () => {
  const { connection, changes, commit } = openWatched();
  const counts = (sql: string) => {
    connection.exec(sql);
    commit();
    return ['one.example', 'dom_1'].map((key) => changes.count('domains', key));
  };
  assert.deepEqual(counts("INSERT INTO domains (id, name) VALUES ('dom_1', 'one.example')"), [1, 1]);
  assert.deepEqual(counts("UPDATE domains SET selector = 'next'"), [1, 2]);
  assert.deepEqual(counts("UPDATE domains SET status = 'verified'"), [2, 2]);
});

test('many keys share the counters, and one that changes all the time counts for few others', () => {
  const { connection, changes, commit } = openWatched();
  const others = Array.from({ length: 2_000 }, (_, index) => `tenant ${index}`);
  connection.exec("INSERT INTO tenants VALUES ('busy', 'a', 'active')");
  commit();
  const counted = others.filter((key) => changes.count('tenants', key) > 0);
  assert.equal(changes.count('tenants', 'busy'), 1);
  assert.ok(counted.length <= 5, `${counted.length} others`);
});

/** Answers of a table that changes by hand, and the number of reads. */
function createKept(count: { value: number }) {
  let reads = 0;
  const kept = new AnswerCache<string, string>({
    changes: { count: (_table, key) => (key === 'a' ? count.value : 0) },
    tables: ['tenants'],
    maxSize: 10,
    sizeOf: () => 1,
  });
  return {
    get: (key: string, answer: string | Promise<string>) =>
      kept.get(key, async () => {
        reads += 1;
        return answer;
      }),
    takeReads() {
      const taken = reads;
      reads = 0;
      return taken;
    },
  };
}

test('an answer is kept until its own key has changed', async () => {
  const count = { value: 0 };
  const kept = createKept(count);
  for (const key of ['a', 'b', 'a', 'b']) assert.equal(await kept.get(key, `old ${key}`), `old ${key}`);
  assert.equal(kept.takeReads(), 2);
  count.value += 1;
  for (const key of ['a', 'b', 'a', 'b']) await kept.get(key, 'new');
  assert.equal(kept.takeReads(), 1);
  assert.deepEqual([await kept.get('a', ''), await kept.get('b', '')], ['new', 'old b']);
});

test('an answer that was read while a change was committed is not kept, whatever is read beside it', async () => {
  const count = { value: 0 };
  const kept = createKept(count);
  const slow = Promise.withResolvers<string>();
  const early = kept.get('a', slow.promise);
  count.value += 1;
  assert.equal(await kept.get('a', 'new'), 'new');
  slow.resolve('old');
  assert.equal(await early, 'old');
  assert.equal(await kept.get('a', 'newer'), 'newer');
  assert.equal(await kept.get('a', 'not asked'), 'newer');
});
