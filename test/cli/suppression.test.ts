import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { createControlServer, openControlSocket } from '../../src/control-socket.ts';
import type { Report } from '../../src/queue/outcome/outcome.ts';
import { verdictForAll } from '../../src/queue/outcome/outcome.ts';
import { addSuppressions } from '../../src/suppressions/change.ts';
import { newId } from '../../src/system/ids.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { attemptWith, deliverBy, openSpool } from '../support/spool.ts';

const spool = await openSpool();
const control = await openControlSocket(spool.app);
after(async () => {
  await control.close();
  await spool.close();
});

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const code = await runProgram(['suppression', 'review', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

async function listed(
  ...args: string[]
): Promise<{ id: string; email: string; reason: string; row: string }[]> {
  const { output } = await run('--json', ...args);
  return JSON.parse(output).suppressions;
}

/** Suppresses an address as a bounce of an earlier version has done it. */
async function suppressFor(email: string, diagnostic: string, sourceEmailId: string | null): Promise<void> {
  const now = spool.clock.now();
  const row = { id: newId('sup', now), tenantId: spool.tenantId, email, reason: 'bounce' as const };
  const wanted = [{ ...row, sourceEmailId, diagnostic, createdAt: now }];
  await spool.app.db.commit(addSuppressions, { wanted, cause: { mode: 'live', now } });
}

/** Lets an email to the address bounce. */
async function bounce(to: string, text: string, enhancedCode: string): Promise<void> {
  const id = await spool.accept(to);
  const [claim] = (await spool.claim()).filter(({ message }) => message.id === id);
  assert.ok(claim);
  const report: Report = {
    ...{ phase: 'rcpt', mx: 'mx.rcpt.example', address: null, tls: null, smtpCode: 550, enhancedCode, text },
  };
  await deliverBy(spool.app, claim, async () =>
    attemptWith(verdictForAll(claim, { kind: 'bounced', report })),
  );
}

test('suppressions by rows that would not suppress now are listed, and those that would are not', async () => {
  await bounce('gone@rcpt.example', '550 5.1.1 User unknown', '5.1.1');
  await suppressFor('alive@rcpt.example', '550 5.1.0 <b@bounce.example> sender rejected', 'em_old');
  await suppressFor('dead@rcpt.example', '550 5.1.1 User unknown', 'em_old');
  await suppressFor('missing@none.example', 'none.example does not exist (NXDOMAIN)', 'em_old');
  await suppressFor('byhand@rcpt.example', '550 5.1.0 No', null);
  const [only, ...others] = await listed();
  assert.deepEqual([only?.email, only?.reason, only?.row], ['alive@rcpt.example', 'row', 'sender']);
  assert.deepEqual(others, []);
  const { output } = await run();
  assert.match(output, /alive@rcpt\.example .* would not suppress +invalid-sender +sender/);
});

test('suppressions after repetition are listed once their evidence is gone', async () => {
  const text = '550 5.4.1 Recipient address rejected: Access denied';
  await bounce('likely@rcpt.example', text, '5.4.1');
  await spool.clock.advance(86_400_000);
  await bounce('likely@rcpt.example', text, '5.4.1');
  const emails = async () => (await listed()).map(({ email }) => email);
  assert.deepEqual(await emails(), ['alive@rcpt.example']);
  await suppressFor('once@rcpt.example', text, 'em_old');
  const found = (await listed()).find(({ email }) => email === 'once@rcpt.example');
  assert.equal(found?.reason, 'evidence');
});

test('the list is read in parts, of so many that are listed or examined, and those that are named are removed', async () => {
  const server = await createControlServer(spool.app);
  after(() => server.close());
  type Answer = { suppressions: { id: string; email: string }[]; hasMore: boolean; next: string | null };
  const read = async (query: string): Promise<Answer> =>
    (await server.inject({ url: `/suppressions/review?${query}` })).json();
  const all = await read('');
  assert.equal(all.next, null);
  assert.ok(all.suppressions.length > 1);
  for (const size of ['limit=1', 'examine=1']) {
    const emails: string[] = [];
    let pages = 0;
    for (let after = ''; ; ) {
      const { suppressions, hasMore, next } = await read(`${size}${after}`);
      emails.push(...suppressions.map(({ email }) => email));
      pages += 1;
      assert.equal(hasMore, next !== null);
      if (next === null) break;
      after = `&after=${next}`;
    }
    assert.deepEqual(
      emails,
      all.suppressions.map(({ email }) => email),
    );
    assert.ok(pages >= emails.length, `${size}: ${pages}`);
  }
  await suppressFor('named@rcpt.example', '550 5.1.0 <b@bounce.example> sender rejected', 'em_old');
  await suppressFor('unlisted@rcpt.example', '550 5.1.1 User unknown', 'em_old');
  const rows = await spool.app.db.read.selectFrom('suppressions').select(['id', 'email']).execute();
  const ids = rows.filter(({ email }) => /^(?:named|unlisted)@/.test(email)).map(({ id }) => id);
  const payload = { tenant: 'default', ids };
  const removed = await server.inject({ method: 'POST', url: '/suppressions/review/remove', payload });
  assert.deepEqual(removed.json(), { removed: 1 });
});

test('they are removed on request, one or all, and others cannot be', async () => {
  const [first] = await listed();
  assert.equal((await run('--remove', first?.id ?? '')).output, 'Removed 1 suppression\n');
  assert.equal((await run('--remove', first?.id ?? '')).code, 1);
  assert.equal((await run('--remove', 'x', '--remove-all')).code, 2);
  assert.equal((await run('--remove-all', '--tenant', spool.tenantId)).output, 'Removed 1 suppression\n');
  assert.deepEqual(await listed('--tenant', spool.tenantId), []);
  const { output } = await run();
  assert.match(output, /No suppression needs a review/);
  for (const email of ['gone@rcpt.example', 'likely@rcpt.example', 'dead@rcpt.example'])
    assert.equal((await spool.request('GET', `/v1/suppressions/${email}`)).status, 200, email);
});
