import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { checkAccount } from '../../src/accounts/check.ts';
import { INLINE_BYTES, readContent } from '../../src/accounts/content.ts';
import { releaseContents } from '../../src/accounts/content-store.ts';
import { SEEN } from '../../src/accounts/flags.ts';
import { indexFile } from '../../src/accounts/folder.ts';
import { createFolder, findFolder, INBOX, listFolders } from '../../src/accounts/folders.ts';
import { setMetadata } from '../../src/accounts/metadata.ts';
import { findValue } from '../../src/accounts/metadata-store.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { repairAccount } from '../../src/accounts/repair.ts';
import { findAccountRow } from '../../src/accounts/store.ts';
import { DamagedDatabaseError } from '../../src/db/private-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { addTestMessages, createAccountApp, messageOf, openTestAccount } from '../support/test-account.ts';

const app = createAccountApp();
/** Folder of a closed account with messages in three folders. */
let whole: string;
/** Subjects of all messages. */
const subjects: string[] = [];
const LARGE = messageOf('large', INLINE_BYTES + 500);

before(async () => {
  const account = await openTestAccount(app);
  whole = account.folder;
  for (const folder of [INBOX, 'Sent', 'work/done']) {
    if (folder.startsWith('work')) await createFolder(account, folder);
    for (let index = 0; index < 40; index++) {
      const subject = `${folder.replace('/', '-')}-${index}`;
      subjects.push(subject);
      const bytes = messageOf(subject, 3_000);
      await addTestMessages(account, folder, [
        { bytes, flags: index % 2 === 0 ? SEEN : 0, keywords: ['$Label1'] },
      ]);
    }
  }
  await addTestMessages(account, INBOX, [LARGE]);
  subjects.push('large');
  const entries = [{ entry: '/private/comment', value: Buffer.from('kept') }];
  for (const mailbox of ['', 'work/done']) await setMetadata(account, { mailbox, entries });
  await account.close();
});

/** Returns a copy of the account, in which `change` has changed the bytes of its database. */
function damaged(change: (bytes: Buffer) => void): string {
  const folder = join(temporaryDirectory('damaged'), 'mbx_1');
  cpSync(whole, folder, { recursive: true });
  const bytes = readFileSync(indexFile(folder));
  change(bytes);
  writeFileSync(indexFile(folder), bytes);
  return folder;
}

const open = (folder: string): Promise<OpenAccount> => openAccount(app, { id: 'mbx_1', folder });
const repair = (folder: string) => repairAccount(app, { id: 'mbx_1', folder });

/** Returns the subjects of all messages by folder. */
async function listSubjects(account: OpenAccount): Promise<Map<string, string[]>> {
  const rows = await account.db.read
    .selectFrom('messages')
    .innerJoin('folders', 'folders.id', 'folderId')
    .select(['name', 'contentId'])
    .orderBy('uid')
    .execute();
  const found = new Map<string, string[]>();
  for (const { name, contentId } of rows) {
    const [, subject = ''] = /^Subject: (.*)\r$/m.exec(String(await readContent(account, contentId))) ?? [];
    found.set(name, [...(found.get(name) ?? []), subject]);
  }
  return found;
}

test('a repair that was interrupted after it removed the damaged database loses nothing', async () => {
  const folder = damaged(() => {});
  renameSync(indexFile(folder), `${indexFile(folder)}.ready`);
  const { messages, gone, recovered } = await repair(folder);
  assert.deepEqual({ messages, gone, recovered }, { messages: 121, gone: [], recovered: 0 });
});

test('a sound account has no findings, and its repair loses nothing and renews every UIDVALIDITY', async () => {
  const folder = damaged(() => {});
  const account = await open(folder);
  assert.deepEqual(await checkAccount(account), { contents: 121, findings: [], next: null });
  const before = { subjects: await listSubjects(account), folders: (await listFolders(account)).folders };
  await account.close();
  const { evidence, ...report } = await repair(folder);
  assert.deepEqual(report, { messages: 121, recovered: 0, altered: 0, gone: [], unreadable: 0 });
  assert.ok(existsSync(join(evidence, 'index.db')));
  const again = await open(folder);
  assert.deepEqual(await listSubjects(again), before.subjects);
  const { folders } = await listFolders(again);
  const last = Math.max(...before.folders.map(({ uidValidity }) => uidValidity));
  assert.deepEqual(
    folders.map(({ uidValidity }) => uidValidity > last),
    folders.map(() => true),
  );
  const withoutNumbers = (rows: typeof folders) =>
    rows.map(({ uidValidity: _, tombstoneFloor: __, ...row }) => row);
  assert.deepEqual(withoutNumbers(folders), withoutNumbers(before.folders));
  for (const id of [0, (await findFolder(again, 'work/done'))?.id ?? 0])
    assert.equal(String(await findValue(again.db.read, { folderId: id, entry: '/private/comment' })), 'kept');
  assert.deepEqual((await checkAccount(again)).findings, []);
  await again.close();
});

test('a flipped byte of a message is found with its place, and the message is kept as it is', async () => {
  const folder = damaged((bytes) => {
    const at = bytes.indexOf('xxxxxxxx', bytes.indexOf('Subject: Sent-7\r'));
    bytes[at] = 'y'.charCodeAt(0);
  });
  const account = await open(folder);
  const { findings } = await checkAccount(account);
  assert.equal(findings.length, 1);
  assert.match(findings[0]!, /^the message Sent 8 is damaged/);
  await account.close();
  const report = await repair(folder);
  assert.deepEqual([report.altered, report.messages, report.gone], [1, 121, []]);
  const again = await open(folder);
  assert.deepEqual((await checkAccount(again)).findings, []);
  assert.equal((await listSubjects(again)).get('Sent')?.[7], 'Sent-7');
  await again.close();
});

test('a missing file is found, and its message is reported as gone', async () => {
  const folder = damaged(() => {});
  const [file = ''] = readdirSync(join(folder, 'blobs'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => /[0-9a-f]{64}$/.test(name),
  );
  rmSync(join(folder, 'blobs', file));
  const account = await open(folder);
  assert.match(
    (await checkAccount(account)).findings.join(),
    /the message INBOX 41 is damaged: the file is missing/,
  );
  await account.close();
  const report = await repair(folder);
  assert.deepEqual([report.messages, report.gone], [120, ['INBOX 41']]);
});

test('a check that takes long ends with a part, and goes on behind it', async () => {
  const folder = damaged((bytes) => {
    const at = bytes.indexOf('xxxxxxxx', bytes.indexOf('Subject: Sent-7\r'));
    bytes[at] = 'y'.charCodeAt(0);
  });
  let elapsedMs = 0;
  const slow = { ...app, clock: { ...app.clock, elapsed: () => (elapsedMs += 100) } };
  const account = await openAccount(slow, { id: 'mbx_1', folder });
  const parts = [];
  for (let after: number | null = 0; after !== null; after = parts.at(-1)!.next)
    parts.push(await checkAccount(account, after));
  assert.ok(parts.length > 2, `${parts.length} parts`);
  assert.equal(
    parts.reduce((sum, { contents }) => sum + contents, 0),
    121,
  );
  assert.equal(parts.flatMap(({ findings }) => findings).length, 1);
  await account.close();
});

test('wrong counts are found', async () => {
  const folder = damaged(() => {});
  const account = await open(folder);
  await account.db.maintain((connection) => {
    connection.exec(
      "UPDATE folders SET messageCount = 3 WHERE name = 'Sent'; UPDATE account SET usedBytes = 1",
    );
    connection.exec("UPDATE folders SET uidValidity = 7 WHERE name IN ('Junk', 'Trash')");
  });
  const { findings } = await checkAccount(account);
  assert.match(
    findings.join('\n'),
    /the folder Sent counts 3 messages, 20 unseen.*, and has 40 messages, 20 unseen/,
  );
  assert.match(findings.join('\n'), /the account has 121 messages in 1 bytes/);
  assert.match(findings.join('\n'), /two folders have the same UIDVALIDITY/);
  await account.close();
});

test('when the whole database is lost, messages in files are recovered', async () => {
  const folder = damaged((bytes) => bytes.fill(0x5a));
  await assert.rejects(open(folder), DamagedDatabaseError);
  // A file that holds other bytes than its name says may be a part of a message.
  mkdirSync(join(folder, 'blobs', 'ab'), { recursive: true });
  writeFileSync(join(folder, 'blobs', 'ab', 'ab'.repeat(32)), 'Subject: half of it');
  const report = await repair(folder);
  assert.deepEqual([report.messages, report.recovered], [1, 1]);
  const account = await open(folder);
  assert.deepEqual(await listSubjects(account), new Map([['Recovered', ['large']]]));
  const names = (await listFolders(account)).folders.map(({ name }) => name);
  assert.deepEqual(names, ['Archive', 'Drafts', INBOX, 'Junk', 'Recovered', 'Sent', 'Trash']);
  await account.close();
});

test('a database whose first page is damaged is read by the schema that all accounts have', async () => {
  const folder = damaged((bytes) => bytes.fill(0, 0, 4_096));
  await assert.rejects(open(folder), DamagedDatabaseError);
  const report = await repair(folder);
  assert.deepEqual([report.messages, report.recovered, report.unreadable], [121, 0, 0]);
});

test('a database that was not opened since its last migrations is read by its own schema', async () => {
  const folder = damaged(() => {});
  const database = new Sqlite(indexFile(folder));
  database.exec('DROP TABLE metadata; DROP TABLE pendingEdits; DROP TABLE spamSignals');
  database.exec("DELETE FROM migrations WHERE id >= '0003'");
  database.close();
  const { messages, unreadable, gone } = await repair(folder);
  assert.deepEqual({ messages, unreadable, gone }, { messages: 121, unreadable: 0, gone: [] });
});

test('annotations of folders that are lost do not stay', async () => {
  const folder = damaged(() => {});
  const database = new Sqlite(indexFile(folder));
  database.exec("INSERT INTO metadata (folderId, entry, value) VALUES (999, '/private/x', x'00')");
  database.close();
  await repair(folder);
  const account = await open(folder);
  assert.equal(await findValue(account.db.read, { folderId: 999, entry: '/private/x' }), undefined);
  await account.close();
});

test('what clients ask for is read from the bytes again', async () => {
  const folder = damaged((bytes) => {
    const at = bytes.indexOf('"Ann" NIL "ann"');
    bytes.write('(((', at);
  });
  const report = await repair(folder);
  assert.equal(report.messages, 121);
  const account = await open(folder);
  const rows = await account.db.read.selectFrom('contents').select('envelope').execute();
  for (const { envelope } of rows) assert.ok(envelope.includes('"Ann" NIL "ann"'), envelope);
  await account.close();
});

test('contents that were being removed do not come back', async () => {
  const folder = damaged(() => {});
  const account = await open(folder);
  const { contentId } = await account.db.read
    .selectFrom('messages')
    .select('contentId')
    .where('uid', '=', 5)
    .executeTakeFirstOrThrow();
  await account.db.read.deleteFrom('messages').where('contentId', '=', contentId).execute();
  await releaseContents(account.db.read, [contentId]);
  await account.db.close();
  const report = await repair(folder);
  assert.deepEqual([report.messages, report.recovered], [120, 0]);
  const again = await open(folder);
  await again.close();
});

/** Returns reproducible numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test('whatever page is damaged, all messages of other pages are still there, and the account is sound again', async () => {
  const pages = readFileSync(indexFile(whole)).length / 4_096;
  let lost = 0;
  for (let seed = 1; seed <= 24; seed++) {
    const random = seeded(seed);
    const page = 1 + Math.floor(random() * (pages - 1));
    const folder = damaged((bytes) => {
      for (let index = 0; index < 64; index++) {
        const at = page * 4_096 + Math.floor(random() * (index < 8 ? 12 : 4_096));
        bytes[at] = Math.floor(random() * 256);
      }
    });
    const report = await repair(folder);
    const account = await open(folder);
    assert.deepEqual((await checkAccount(account)).findings, [], `seed ${seed}`);
    const found = [...(await listSubjects(account)).values()].flat();
    const missing = subjects.filter((subject) => !found.includes(subject));
    // A page of contents has a few rows, and a page of bytes has a part of one or two messages.
    assert.ok(missing.length <= 40, `seed ${seed}, page ${page}: ${missing}`);
    assert.ok(
      missing.length === 0 || report.unreadable + report.altered + report.gone.length > 0,
      `seed ${seed}`,
    );
    assert.ok((await findAccountRow(account.db.read))!.messageCount >= found.length - 1);
    lost += missing.length;
    await account.close();
  }
  assert.ok(lost < 100, `${lost} messages were lost in 24 repairs`);
});
