/** `postrider broadcast`: the operator sees the broadcasts of all tenants and both modes, and controls them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { openCampaign } from '../broadcasts/sending/campaign.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';

const HOUR_MS = 3_600_000;

const campaign = await openCampaign();
const control = await openControlSocket(campaign.spool.app);
await campaign.addContact('one@readers.example');
after(async () => {
  await control.close();
  await campaign[Symbol.asyncDispose]();
});

async function run(args: string[], answers: Parameters<typeof fakeTerminal>[1] = {}) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: campaign.spool.dataDir }, answers);
  const code = await runProgram(['broadcast', ...args], terminal);
  const value = args.includes('--json') && code === 0 ? JSON.parse(terminal.output) : undefined;
  return { code, value, output: terminal.output, errors: terminal.errors };
}

/** A draft that is newer than all broadcasts before it: ids of the same millisecond have no order. */
async function draft(more: object = {}): Promise<string> {
  await campaign.spool.clock.advance(1);
  return campaign.draft(more);
}

async function sending(): Promise<string> {
  const id = await draft();
  assert.equal((await campaign.act(id, 'send')).status, 200);
  return id;
}

/** A broadcast whose time passed two hours ago, while nothing ran. */
async function late(): Promise<string> {
  const scheduleAt = new Date(campaign.spool.clock.now() + HOUR_MS).toISOString();
  const id = await draft({ scheduleAt });
  await campaign.spool.clock.advance(3 * HOUR_MS);
  await campaign.work();
  return id;
}

test('an installation without broadcasts says so', async () => {
  assert.equal((await run(['list', '--status', 'failed'])).output, 'No broadcasts.\n');
});

test('lists broadcasts, the newest first, of all tenants or of one, and with one status', async () => {
  const { tenantId } = await campaign.spool.addTenant('other');
  const [older, newer] = [await draft(), await sending()];
  const { value } = await run(['list', '--json']);
  const ids: string[] = value.broadcasts.map(({ id }: { id: string }) => id);
  assert.deepEqual(ids.slice(0, 2), [newer, older]);
  assert.equal(value.hasMore, false);
  assert.deepEqual(value.broadcasts[1], {
    ...(({ html: _, text: __, ...summary }) => summary)(await campaign.show(older)),
    tenantId: campaign.spool.tenantId,
    mode: 'live',
  });
  assert.equal((await run(['list', '--tenant', tenantId])).output, 'No broadcasts.\n');
  assert.match((await run(['list', '--tenant', 'default'])).output, new RegExp(`^${newer} `, 'm'));
  const drafts = await run(['list', '--status', 'draft', '--json']);
  assert.deepEqual(
    drafts.value.broadcasts.map(({ id }: { id: string }) => id),
    [older],
  );
  const wrong = await run(['list', '--tenant', 'nobody']);
  assert.deepEqual([wrong.code, wrong.output], [1, '']);
  assert.match((await run(['list', '--status', 'flying'])).errors, /^error: .*`status`/);
});

test('the list is a table with one row for each broadcast', async () => {
  const id = await sending();
  await campaign.work();
  const [heading, row] = (await run(['list'])).output.split('\n');
  assert.match(
    heading ?? '',
    /^ID +TENANT +MODE +STATUS +RECIPIENTS +WAITING +QUEUED +DELIVERED +BOUNCED +SUBJECT$/,
  );
  assert.match(
    row ?? '',
    new RegExp(`^${id} +default +live +sending +1 +0 +1 +0 +0 +News, \\{\\{firstName\\|friend\\}\\}$`),
  );
});

test('a list that is cut off says so', async () => {
  for (let count = 0; count < 101; count++) await campaign.draft();
  const { output } = await run(['list']);
  const lines = output.trimEnd().split('\n');
  assert.deepEqual([lines.length, lines.at(-1)], [102, '(the newest 100)']);
  const { value } = await run(['list', '--json']);
  assert.deepEqual([value.hasMore, value.broadcasts.length], [true, 100]);
});

test('shows one broadcast with its counts', async () => {
  const id = await sending();
  await campaign.work();
  const { output } = await run(['show', id]);
  for (const line of [
    `id +${id}`,
    'status +sending',
    'mode +live',
    'recipients +1',
    'queued +1',
    'uniqueOpened +0',
  ])
    assert.match(output, new RegExp(`^${line}$`, 'm'));
  assert.doesNotMatch(output, /null|object/);
  assert.equal((await run(['show', id, '--json'])).value.counts.queued, 1);
  const unknown = await run(['show', 'brd_none']);
  assert.deepEqual([unknown.code, unknown.errors], [1, 'error: Broadcast not found\n']);
});

test('pauses and resumes a broadcast; one that is not sending cannot be paused', async () => {
  const id = await sending();
  const paused = await run(['pause', id]);
  assert.equal(paused.output, `Broadcast ${id} is paused (manual); 0 waiting, 0 queued\n`);
  assert.deepEqual((await campaign.show(id)).pausedReason, 'manual');
  const again = await run(['pause', id]);
  assert.deepEqual([again.code, again.output], [1, '']);
  assert.match(again.errors, /^error: The broadcast is paused; it cannot be paused/);
  assert.equal((await run(['resume', id, '--json'])).value.status, 'sending');
  await campaign.work();
  assert.equal((await campaign.show(id)).counts.queued, 1);
});

test('starts a broadcast that was paused because its start was late', async () => {
  const id = await late();
  assert.match(
    (await run(['list', '--status', 'paused'])).output,
    new RegExp(`^${id} .* paused \\(late\\) `, 'm'),
  );
  assert.equal((await run(['resume', id, '--json'])).value.status, 'sending');
  await campaign.work();
  assert.equal((await campaign.show(id)).counts.recipients, 1);
});

test('a broadcast is canceled only when that is certain', async () => {
  const id = await sending();
  const silent = await run(['cancel', id]);
  assert.deepEqual([silent.code, silent.errors], [2, 'error: this cannot be undone: add --yes\n']);
  assert.equal((await run(['cancel', id], { interactive: true, answer: 'n' })).code, 2);
  assert.equal((await campaign.show(id)).status, 'sending');
  assert.equal((await run(['cancel', id], { interactive: true, answer: 'y' })).code, 0);
  assert.equal((await campaign.show(id)).status, 'canceled');
  const other = await sending();
  assert.match((await run(['cancel', other, '--yes'])).output, /^Broadcast brd_\w+ is canceled; /);
  assert.equal((await run(['cancel', other, '--yes'])).code, 1);
});
