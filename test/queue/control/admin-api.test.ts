/** The operator sees and changes the queue by the commands, over the control socket. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { createControlServer, openControlSocket } from '../../../src/control-socket.ts';
import { Censuses } from '../../../src/queue/control/census.ts';
import { watchQueue } from '../../../src/queue/control/queue-metrics.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { openSpool } from '../../support/spool.ts';

const spool = await openSpool();
const control = await openControlSocket(spool.app);
after(async () => {
  await control.close();
  await spool.close();
});

async function queue(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const code = await runProgram(['queue', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

async function json(...args: string[]) {
  const { code, output, errors } = await queue(...args, '--json');
  assert.equal(code, 0, errors);
  return JSON.parse(output);
}

const emailsOf = (answer: { recipients: { emailId: string }[] }) =>
  answer.recipients.map(({ emailId }) => emailId);

const deferred = await spool.accept('ann@one.example');
await spool.deliverDue();
await spool.clock.advance(1);
const ready = await spool.accept('bob@two.example');

test('the list has what waits, those first that are due first, with the last reply', async () => {
  const all = await json('list');
  assert.deepEqual(emailsOf(all), [ready, deferred]);
  const [, first] = all.recipients;
  assert.deepEqual([first.state, first.attempts, first.class], ['deferred', 1, 'bad-domain']);
  assert.match(first.diagnostic, /NXDOMAIN/);
  assert.equal(first.acceptedAt, '2026-03-01T12:00:00.000Z');
  const { output } = await queue('list', '--domain', 'one.example');
  assert.match(output, new RegExp(`^${deferred} .* ann@one\\.example +deferred +1 `, 'm'));
  assert.doesNotMatch(output, /bob/);
});

test('the list is filtered by each criterion, and by the state', async () => {
  const { tenantId } = spool;
  for (const [args, found] of [
    [['--domain', 'one.example'], [deferred]],
    [['--domain', 'none.example'], []],
    [
      ['--tenant', 'default'],
      [deferred, ready],
    ],
    [['--tenant', tenantId, '--kind', 'broadcast'], []],
    [['--class', 'bad-domain'], [deferred]],
    [['--site', 'dead end one.example'], [deferred]],
    [['--state', 'ready'], [ready]],
    [['--state', 'held'], []],
    [['--limit', '1'], [ready]],
  ] as const)
    assert.deepEqual(emailsOf(await json('list', ...args)), found, args.join(' '));
  assert.equal((await json('list', '--limit', '1')).hasMore, true);
  assert.equal((await queue('list', '--state', 'gone')).code, 1);
  assert.match((await queue('list', '--tenant', 'nobody')).errors, /Tenant not found/);
});

test('the list has pages on the control socket, and a wrong cursor is refused', async () => {
  const server = await createControlServer(spool.app);
  const page = async (query: string) =>
    (await server.inject({ url: `/queue/recipients?limit=1${query}` })).json();
  const first = await page('');
  assert.deepEqual(emailsOf(first), [ready]);
  const second = await page(`&after=${first.next}`);
  assert.deepEqual([emailsOf(second), second.next], [[deferred], null]);
  assert.equal((await page('&after=x')).error.param, 'after');
  await server.close();
});

test('an action counts its mail only as far as it is asked to', async () => {
  const server = await createControlServer(spool.app);
  const payload = { verb: 'retry', all: true, maximum: 1 };
  const count = await server.inject({
    method: 'POST',
    url: '/queue/count',
    payload: { ...payload, verb: 'hold' },
  });
  assert.deepEqual(count.json(), { matched: 2 });
  const action = await server.inject({ method: 'POST', url: '/queue/actions', payload });
  assert.equal(action.json().matched, 1);
  await server.close();
});

test('the statistics add up by domain, site, tenant and kind', async () => {
  const { total, groups } = await json('stats');
  assert.deepEqual([total.waiting, total.deferred, total.due, total.held], [2, 1, 1, 0]);
  assert.deepEqual(
    groups.map(({ domain, waiting }: { domain: string; waiting: number }) => [domain, waiting]).sort(),
    [
      ['one.example', 1],
      ['two.example', 1],
    ],
  );
  const bySite = await json('stats', '--by', 'site');
  assert.deepEqual(bySite.groups.map(({ site }: { site: string }) => site).sort(), [
    '(not known)',
    'dead end one.example',
  ]);
  assert.equal((await json('stats', '--by', 'tenant')).groups[0].tenant, spool.tenantId);
  assert.match((await queue('stats', '--by', 'tenant')).output, /^default +2 /m);
  const { output } = await queue('stats', '--by', 'kind', '--domain', 'one.example');
  assert.match(output, /^transactional +1 +0 +1 +0 +0 /m);
});

test('the metrics have the numbers of the last count', async () => {
  const censuses = new Censuses(spool.app);
  watchQueue(spool.app, censuses);
  const { text } = await spool.app.metrics.show();
  assert.match(text, /queue_recipients\{kind="transactional",state="waiting"\} 2/);
  assert.match(text, /queue_oldest_due_seconds\{kind="transactional"\} 0\n/);
  assert.match(text, /queue_oldest_accepted_seconds\{kind="transactional",state="in_flight"\} 0\n/);
  await spool.clock.advance(2_000);
  assert.match((await spool.app.metrics.show()).text, /queue_oldest_due_seconds\{kind="transactional"\} 2\n/);
  assert.equal(censuses.oldestDueMs, 2_000);
});

test('an email and a domain are shown with the holds that name them', async () => {
  const { id } = await json('hold', '--domain', 'three.example', '--reason', 'a test');
  const held = await spool.accept('cid@three.example');
  await spool.claim();
  const shown = await queue('show', held);
  assert.match(shown.output, new RegExp(`In force: hold --domain three\\.example \\(a test\\), ${id}`));
  const domain = await queue('show', 'three.example');
  assert.match(domain.output, /^Domain three\.example, site not known yet$/m);
  assert.match(domain.output, /^1 recipients: The operator holds this mail: a test$/m);
  assert.match((await queue('show', 'em_01khq3z5vgxw1r8t6n2m4c9b7d')).errors, /Email not found/);
  assert.match((await queue('release', id)).output, /^Released: 1 recipient$/m);
  assert.match(
    (await queue('actions')).output,
    new RegExp(`^${id} +hold +--domain three\\.example .* ended`, 'm'),
  );
});

test('an action that cannot be undone asks, and shows how many recipients it names', async () => {
  const refused = await queue('cancel', '--domain', 'one.example');
  assert.deepEqual([refused.code, /add --yes/.test(refused.errors)], [2, true]);
  const person = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir }, { interactive: true, answer: 'n' });
  let asked = '';
  await runProgram(['queue', 'cancel', '--domain', 'one.example'], {
    ...person,
    ask: async (question) => {
      asked = question;
      return 'n';
    },
  });
  assert.equal(asked, 'cancel 1 recipient? [y/N] ');
  assert.equal((await spool.recipient(deferred)).status, 'deferred', 'nothing was changed');
});

test('an action that can be undone shows the number first, and asks a person alone, for all mail or for more than ten', async () => {
  const shown = await queue('retry', '--domain', 'one.example');
  assert.deepEqual([shown.code, shown.errors.split('\n')[0]], [0, 'retry: 1 recipient']);
  assert.equal((await queue('retry', '--all')).code, 0, 'a script goes on');

  const many = await Promise.all(
    Array.from({ length: 11 }, (_, number) => spool.accept(`p${number}@many.example`)),
  );
  const person = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir }, { interactive: true });
  const asked: string[] = [];
  const run = (...args: string[]) =>
    runProgram(['queue', ...args], {
      ...person,
      ask: async (question) => {
        asked.push(question);
        return 'n';
      },
    });
  assert.equal(await run('hold', '--domain', 'many.example'), 2);
  assert.equal(await run('reroute', '--all', '--to', 'other.example'), 2);
  assert.equal(asked[0], 'hold 11 recipients? [y/N] ');
  assert.match(asked[1] ?? '', /^reroute \d+ recipients\? /);
  assert.deepEqual((await json('list', '--state', 'held')).recipients, [], 'nothing was changed');

  assert.equal(await run('hold', many[0] ?? ''), 0);
  assert.equal(await run('hold', '--domain', 'many.example', '--yes'), 0);
  assert.equal(await run('cancel', '--domain', 'many.example', '--yes'), 0);
  assert.equal(asked.length, 2);
});

test('an action needs a selection, and a target only for a reroute', async () => {
  const server = await createControlServer(spool.app);
  for (const [payload, message] of [
    [{ verb: 'hold' }, /`all` must be true without a criterion/],
    [{ verb: 'hold', all: true, domain: 'a.example' }, /`all` must be true without a criterion/],
    [{ verb: 'hold', all: true, target: 'a.example' }, /for `reroute` alone/],
    [{ verb: 'reroute', all: true, target: 'a b' }, /must be a host name or a domain/],
  ] as const) {
    const answer = await server.inject({ method: 'POST', url: '/queue/actions', payload });
    assert.deepEqual([answer.statusCode, message.test(answer.body)], [400, true], answer.body);
  }
  await server.close();
});

test('the age of held mail is that of the oldest', async () => {
  const held = /queue_oldest_accepted_seconds\{kind="transactional",state="held"\} (\d+)\n/;
  await queue('release', '--all');
  await spool.accept('ann@age.example');
  await queue('hold', '--domain', 'age.example');
  await spool.clock.advance(1_000);
  await spool.accept('bob@age.example');
  await spool.claim();
  await spool.clock.advance(2_000);
  assert.equal(held.exec((await spool.app.metrics.show()).text)?.[1], '3');
});

test('the groups of the queue and the actions have pages on the control socket', async () => {
  const server = await createControlServer(spool.app);
  const read = async (url: string) => (await server.inject({ url })).json();
  const all: string[] = (await read('/queue/stats?by=domain')).groups.map(
    ({ domain }: { domain: string }) => domain,
  );
  assert.ok(all.length > 1);
  const seen: string[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: { groups: { domain: string }[]; next: string | null } = await read(
      `/queue/stats?by=domain&limit=1&after=${encodeURIComponent(next)}`,
    );
    seen.push(...page.groups.map(({ domain }) => domain));
    next = page.next;
  }
  assert.deepEqual(seen, all);
  const made: string[] = [];
  for (const verb of ['hold', 'release']) {
    await spool.clock.advance(1);
    const payload = { verb, domain: 'pages.example' };
    made.unshift((await server.inject({ method: 'POST', url: '/queue/actions', payload })).json().id);
  }
  const newest = await read('/queue/actions?limit=1');
  assert.deepEqual([newest.actions[0].id, newest.next], [made[0], made[0]]);
  const older = await read(`/queue/actions?limit=1&after=${newest.next}`);
  assert.deepEqual(older.actions[0].id, made[1]);
  await server.close();
});
