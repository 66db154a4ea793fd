import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { MailboxRow } from '../../../src/db/mailbox-tables.ts';
import { MAX_NAME_CHARACTERS, problemOfScriptName } from '../../../src/mailboxes/script-calls.ts';
import { claim, createMemorySweep, MAX_MEMORIES } from '../../../src/mailboxes/scripts/memory-store.ts';
import {
  activateScript,
  deleteScript,
  excessOfScript,
  findActiveScript,
  findScript,
  listScripts,
  MAX_SCRIPT_BYTES,
  MAX_SCRIPTS,
  MAX_TOTAL_BYTES,
  putScript,
  renameScript,
} from '../../../src/mailboxes/scripts/store.ts';
import { endMailbox } from '../../../src/mailboxes/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { addMailbox } from '../fixtures.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());
const { db } = world.app;
let mailboxes = 0;

async function newMailbox(): Promise<MailboxRow['id']> {
  return (await addMailbox(world, { address: `scripts${++mailboxes}@people.example` })).id;
}

const put = (mailboxId: MailboxRow['id'], name: string, content = 'keep;') =>
  db.commit(putScript, { mailboxId, name, content, now: NOW });

test('a script is stored under its name as it is written, and replaced by one of the same name', async () => {
  const mailboxId = await newMailbox();
  for (const name of ['e\u0301t\u00e9', '\u00e9t\u00e9', 'ETE', 'ete'])
    await put(mailboxId, name, `# ${name}`);
  assert.deepEqual(
    (await listScripts(db.read, mailboxId)).map(({ name }) => name),
    ['ETE', 'ete', 'e\u0301t\u00e9', '\u00e9t\u00e9'],
  );
  await put(mailboxId, 'ete', 'discard; # \u00e9');
  assert.deepEqual(await findScript(db.read, { mailboxId, name: 'ete' }), {
    mailboxId,
    name: 'ete',
    content: 'discard; # \u00e9',
    sizeBytes: 13,
    isActive: 0,
    updatedAt: NOW,
  });
});

test('one script of a mailbox is active, and it stays active when it is replaced or renamed', async () => {
  const mailboxId = await newMailbox();
  await put(mailboxId, 'one');
  await put(mailboxId, 'two');
  assert.equal(await findActiveScript(db.read, mailboxId), undefined);
  assert.deepEqual(await db.commit(activateScript, { mailboxId, name: 'three' }), { refused: 'missing' });
  await db.commit(activateScript, { mailboxId, name: 'one' });
  await db.commit(activateScript, { mailboxId, name: 'two' });
  await put(mailboxId, 'two', 'discard;');
  assert.deepEqual(await db.commit(deleteScript, { mailboxId, name: 'two' }), { refused: 'active' });
  assert.deepEqual(await db.commit(renameScript, { mailboxId, name: 'two', to: 'one' }), {
    refused: 'exists',
  });
  assert.deepEqual(await db.commit(renameScript, { mailboxId, name: 'four', to: 'five' }), {
    refused: 'missing',
  });
  await db.commit(renameScript, { mailboxId, name: 'two', to: 'three' });
  const { name, content } = (await findActiveScript(db.read, mailboxId)) ?? {};
  assert.deepEqual([name, content], ['three', 'discard;']);
  await db.commit(activateScript, { mailboxId, name: '' });
  assert.equal(await findActiveScript(db.read, mailboxId), undefined);
  assert.equal(await db.commit(deleteScript, { mailboxId, name: 'three' }), undefined);
  assert.deepEqual(await db.commit(deleteScript, { mailboxId, name: 'three' }), { refused: 'missing' });
});

test('number and size of scripts are limited, and a script that is replaced counts once', async () => {
  const mailboxId = await newMailbox();
  assert.deepEqual(await put(mailboxId, 'big', '#'.repeat(MAX_SCRIPT_BYTES + 1)), { refused: 'too large' });
  const big = '#'.repeat(MAX_SCRIPT_BYTES);
  const count = MAX_TOTAL_BYTES / MAX_SCRIPT_BYTES;
  for (let index = 0; index < count; index++) assert.equal(await put(mailboxId, `${index}`, big), undefined);
  assert.deepEqual(await put(mailboxId, 'more', '#'), { refused: 'too large' });
  for (let index = 0; index < MAX_SCRIPTS; index++)
    assert.equal(await put(mailboxId, `${index}`, '#'), undefined);
  assert.deepEqual(await put(mailboxId, 'more', '#'), { refused: 'too many' });
  assert.equal(await excessOfScript(db.read, { mailboxId, name: '0', sizeBytes: 1 }), undefined);
});

test('names have up to 256 characters, and no controls and line breaks', () => {
  for (const name of ['a', '\u{1f600}'.repeat(MAX_NAME_CHARACTERS), 'a/b "c" \\ {3}', ' '])
    assert.equal(problemOfScriptName(name), undefined, name);
  for (const name of ['', 'a\0', 'a\r\n', 'a\u007f', 'a\u0085', 'a\u2028', '\ud800', 'a'.repeat(257)])
    assert.match(problemOfScriptName(name) ?? '', /name/, name);
});

test('a memory is claimed once until it expires, by each mailbox for itself', async () => {
  const [mailboxId, other] = [await newMailbox(), await newMailbox()];
  const memory = { mailboxId, key: 'vacation:k', claimedBy: 'one', expiresAt: 200, now: 100 };
  assert.equal(await db.commit(claim, memory), true);
  assert.equal(await db.commit(claim, memory), true, 'the same delivery runs again');
  assert.equal(await db.commit(claim, { ...memory, claimedBy: 'two' }), false);
  assert.equal(await db.commit(claim, { ...memory, mailboxId: other, claimedBy: 'two' }), true);
  assert.equal(await db.commit(claim, { ...memory, claimedBy: 'two', now: 200, expiresAt: 300 }), true);
  assert.equal(await db.commit(claim, { ...memory, claimedBy: 'one', now: 299 }), false);
});

test('a mailbox remembers a bounded number of each kind: messages are forgotten, and what was done is not', async () => {
  const mailboxId = await newMailbox();
  const memory = { mailboxId, claimedBy: 'one', now: NOW };
  const counts = [];
  for (const kind of ['duplicate', 'note'] as const) {
    const max = MAX_MEMORIES[kind];
    const add = (index: number) =>
      db.commit(claim, { ...memory, key: `${kind}:${index}`, expiresAt: NOW + 1 + index });
    await Promise.all(Array.from({ length: max }, (_, index) => add(index)));
    const isTaken = await add(max + 1);
    const again = { ...memory, key: `${kind}:0`, claimedBy: 'other', expiresAt: NOW + 1 } as const;
    counts.push([isTaken, await db.commit(claim, again), await memoriesOf(mailboxId)]);
    const later = { ...memory, key: `${kind}:later`, expiresAt: NOW + max, now: NOW + 1 } as const;
    assert.equal(await db.commit(claim, later), true, 'a row has expired');
  }
  const { duplicate, note } = MAX_MEMORIES;
  assert.deepEqual(counts, [
    [true, true, duplicate],
    [false, false, duplicate + note],
  ]);
});

async function memoriesOf(mailboxId: MailboxRow['id']): Promise<number> {
  return (
    await db.read.selectFrom('scriptMemories').select('key').where('mailboxId', '=', mailboxId).execute()
  ).length;
}

test('expired memories are swept, and nothing of a deleted mailbox stays', async () => {
  const mailboxId = await newMailbox();
  await put(mailboxId, 'one');
  const memory = { mailboxId, claimedBy: 'one', now: 0 };
  await db.commit(claim, { ...memory, key: 'note:old', expiresAt: NOW });
  await db.commit(claim, { ...memory, key: 'note:new', expiresAt: NOW + 1 });
  await createMemorySweep(world.app).run('run');
  assert.equal(await memoriesOf(mailboxId), 1);
  await db.commit(endMailbox, { tenantId: world.tenantId, id: mailboxId, now: NOW });
  assert.equal(await memoriesOf(mailboxId), 0);
  assert.deepEqual(await listScripts(db.read, mailboxId), []);
  assert.deepEqual(await put(mailboxId, 'late'), { refused: 'mailbox' });
});
