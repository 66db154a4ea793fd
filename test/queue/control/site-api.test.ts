/** The operator sees how a site is spoken to: its limits with their origins, the one that binds, and the rules in force. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspectCertificates } from '../../../src/certificates/certificates.ts';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { createAction } from '../../../src/queue/control/act.ts';
import type { ShownKept } from '../../../src/queue/control/kept-sites.ts';
import { EVERYTHING } from '../../../src/queue/control/selection.ts';
import { listInForce } from '../../../src/queue/control/store.ts';
import { parseRules } from '../../../src/queue/shaping/parse.ts';
import { RuleTable } from '../../../src/queue/shaping/rule-table.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import type { Hosts } from '../../support/loopback.ts';
import { noReceiver, PACKAGED } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
let isRefusing = true;
const server = await startCommandServer((line) =>
  isRefusing && line.startsWith('RCPT') ? '450 4.2.0 later please' : acceptEverything(line),
);
hosts['192.0.2.1'] = closing(server).port;
spool.addZone(
  'one.example MX 10 mx.one.example\ntwo.example MX 10 mx.one.example\nmx.one.example A 192.0.2.1',
);
const rules = {
  table: new RuleTable(
    parseRules(`rules:
  - { id: site-rest, text: later please, matches: 1, within: 1h, on: site, rest: true, for: 2h, source: a test }
  - { id: slower, text: later please, matches: 1, within: 1h, on: site, lower: { connections: 1 }, for: 30m, source: a test }
  - { id: tenant-rest, text: later please, matches: 1, within: 1h, on: tenant, rest: true, for: 3h, source: a test }`),
  ),
};

const ask = (...args: string[]) => run('site', ...args);
const list = (...args: string[]) => run('sites', ...args);

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const code = await runProgram(['queue', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('a site is shown with its limits, their origins, what binds, and the restrictions in force', async () => {
  const dispatcher = startDelivering(spool.app, noReceiver, { replies: PACKAGED, rules });
  const control = closing(
    await openControlSocket(spool.app, {
      certificates: inspectCertificates(spool.app),
      sites: dispatcher.sites,
    }),
  );
  await spool.accept('bob@one.example');
  const isKnown = (name: string, restrictions: number) =>
    waitUntil(async () => {
      const [site] = await dispatcher.sites.explainSites({ name, siteOfDomain: undefined });
      return site?.restrictions.length === restrictions;
    });
  await spool.settled();
  await isKnown('mx.one.example', 3);
  const second = await spool.accept('bob@two.example');
  await isKnown('two.example', 3);

  const { sites } = JSON.parse((await ask('MX.one.example', '--json')).output);
  assert.equal(sites.length, 1);
  const [{ limits, binding, connections, restingTenants, restrictions, ...site }] = sites;
  assert.deepEqual(site, {
    site: 'mx.one.example',
    sessions: 1,
    idleSessions: 1,
    allowedConnections: 1,
    claimed: 0,
    queues: 1,
    provider: null,
    source: null,
    learned: { connections: 1, ceilingUntil: null, failures: 0 },
  });
  await checkList();
  assert.deepEqual(limits[0], {
    limit: 'connections',
    value: 1,
    origin: { kind: 'rule', name: 'slower', until: '2026-03-01T12:30:00.000Z' },
  });
  assert.deepEqual(limits[1], {
    limit: 'providerConnections',
    value: null,
    origin: { kind: 'default', until: null },
  });
  assert.deepEqual([binding.limit, binding.until], ['rest', '2026-03-01T14:00:00.000Z']);
  assert.match(binding.reason, /^site-rest: .*later please/);
  assert.deepEqual(
    restingTenants.map(({ until }: { until: string }) => until),
    ['2026-03-01T15:00:00.000Z'],
  );
  assert.deepEqual(
    restrictions.map(({ rule, lower, until }: Record<string, unknown>) => [rule, lower, until]),
    [
      ['site-rest', null, '2026-03-01T14:00:00.000Z'],
      ['slower', { connections: 1 }, '2026-03-01T12:30:00.000Z'],
      ['tenant-rest', null, '2026-03-01T15:00:00.000Z'],
    ],
  );

  const byDomain = (await ask('one.example')).output;
  assert.equal(
    (await ask('two.example')).output,
    byDomain,
    'a domain whose mail waits and was never deferred',
  );
  assert.match(byDomain, /^Site mx\.one\.example\n/);
  assert.match(byDomain, /^Binds now: the site rests until 2026-03-01T14:00:00\.000Z: site-rest: /m);
  assert.match(byDomain, /^connections +1 +rule slower until 2026-03-01T12:30:00\.000Z$/m);
  assert.match(byDomain, /^messagesPerConnection +\d+ +default$/m);
  assert.match(
    byDomain,
    /^Rule slower at mx\.one\.example: connections 1 until 2026-03-01T12:30:00\.000Z: /m,
  );

  await spool.clock.advance(31 * 60_000);
  assert.match((await ask('one.example')).output, /^connections +20 +setting delivery\.connectionsPerSite$/m);

  const wrong = await ask('mx.one.example', '--lift', 'slower');
  assert.equal(wrong.code, 1, 'what is not in force');
  assert.match(wrong.errors, /slower is not in force at mx\.one\.example/);
  const one = await ask('mx.one.example', '--lift', 'tenant-rest');
  assert.match(
    one.output,
    /^Lifted: Rule tenant-rest of tenant \S+ at mx\.one\.example: rest until .*later please\n$/,
  );
  assert.match((await ask('one.example')).output, /^Binds now: the site rests until .*site-rest/m);
  isRefusing = false;
  const rest = JSON.parse((await ask('mx.one.example', '--lift', '--json')).output);
  assert.deepEqual(
    rest.lifted.map(({ kind, rule }: Record<string, unknown>) => [kind, rule]),
    [['restriction', 'site-rest']],
  );
  await waitUntil(
    async () => (await spool.email(second)).status === 'delivered',
    'the mail that waited leaves',
  );
  assert.match((await ask('mx.one.example', '--lift')).output, /^Nothing keeps this site/);
  assert.match((await list()).output, /^No site rests, and nothing slows one down\.\n$/);
  assert.match(
    (await ask('one.example', '--reset')).output,
    /^Forgot what mx\.one\.example has taught: 0 failures/,
  );
  assert.equal((await ask('mx.one.example', '--reset', '--lift')).code, 2);
  assert.equal((await ask('mx.one.example', '--lift', '--disconnect')).code, 2);
  assert.equal((await ask('mx.one.example', '--force')).code, 2);

  const unknown = await ask('mx.other.example\u001b[31m');
  assert.equal(unknown.code, 1);
  assert.match(unknown.errors, /No site is known by mx\.other\.example\ufffd\[31m: no mail was routed/);
  await dispatcher.stop(0);
  await control.close();
});

/** Checks the list while three rules are in force at a site, at which two recipients wait. */
async function checkList() {
  await spool.app.db.commit(createAction, {
    verb: 'hold',
    reason: 'they \u001b[2J asked for it',
    target: null,
    matched: 0,
    selection: { ...EVERYTHING, site: 'mx.one.example' },
    now: spool.clock.now(),
  });
  const { sites, total, hasMore } = JSON.parse((await list('--json')).output);
  assert.deepEqual([total, hasMore], [4, false]);
  const facts = sites.map((one: ShownKept) => [
    ...[one.place, one.cause, one.restriction?.rule ?? null, one.limits, one.until, one.waiting],
  ]);
  assert.deepEqual(
    facts.toSorted((a: unknown[], b: unknown[]) => (String(a) < String(b) ? -1 : 1)),
    [
      ['mx.one.example', 'hold', null, null, null, 2],
      ['mx.one.example', 'rule', 'site-rest', null, '2026-03-01T14:00:00.000Z', 2],
      ['mx.one.example', 'rule', 'slower', { connections: 1 }, '2026-03-01T12:30:00.000Z', 2],
      ['mx.one.example', 'rule', 'tenant-rest', null, '2026-03-01T15:00:00.000Z', 2],
    ],
  );
  const table = (await list()).output;
  assert.match(table, /^SITE +MAIL +WAITING +WHAT KEEPS IT +UNTIL +WHY\n/);
  assert.match(
    table,
    /^mx\.one\.example +all +2 +rule slower: connections 1 +2026-03-01T12:30:00Z +\S.*later please$/m,
  );
  assert.match(table, /^mx\.one\.example +of \S.* 2 +rule tenant-rest: rest /m);
  assert.match(
    table,
    /^mx\.one\.example +all +2 +suspended by the operator \(qa_\S+\) +- +they .*asked for it$/m,
  );
  assert.ok(!table.includes('\u001b'), 'nothing controls the terminal');
  const pages = [await list('--limit', '3'), await list('--limit', '3', '--after', '3')];
  assert.match(pages[0]?.output ?? '', /\(3 of 4; --after 3 shows the next\)\n$/);
  assert.equal(pages[1]?.output.trimEnd().split('\n').length, 2);
  const [hold] = await listInForce(spool.app.db.read);
  await spool.app.db.commit(createAction, {
    ...{ verb: 'release', reason: null, target: null, matched: 0, now: spool.clock.now() },
    selection: { ...EVERYTHING, site: 'mx.one.example' },
  });
  assert.equal(hold?.verb, 'hold');
}

test('without a daemon no site is spoken to', async () => {
  const alone = closing(await openControlSocket(spool.app));
  const { code, errors } = await ask('mx.one.example');
  assert.equal(code, 1);
  assert.match(errors, /No daemon runs/);
  assert.match((await list()).errors, /No daemon runs/);
  await alone.close();
});
