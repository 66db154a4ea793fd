/**
 * Thunderbird, which runs without a display, adds a mailbox as README.md describes it, and reads, searches, marks, moves
 * and saves messages. Each change is looked up on the server by another client.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type MailboxServer, startMailboxServer } from './mailbox-server.ts';
import { startThunderbird, type Thunderbird } from './thunderbird/thunderbird.ts';
import { until } from './until.ts';

/** So many arrive as several changes, some of them while Thunderbird fetches the first ones. */
const LETTERS = 450;
/** Time after which a person presses the key again. */
const DELETED_MS = 10_000;
/** Number of lines of the log that a failure shows. */
const SHOWN_LINES = 80;

let server: MailboxServer;
let thunderbird: Thunderbird;

before(async () => {
  server = await startMailboxServer();
  await server.deliver('Tea');
  await server.deliver(
    'Köln',
    'Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n'.concat(
      Buffer.from('Grüße aus dem Dom').toString('base64'),
    ),
  );
  await server.deliver('Bread');
  thunderbird = await startThunderbird(server.home);
});

after(async () => {
  await thunderbird?.stop();
  await server?.stop();
});

test('the account is added with its folders, and a message is read', async () => {
  const { address, imapPort: port, password: secret } = server;
  await thunderbird.run('addAccount', { address, host: '127.0.0.1', port, secret });
  await until('the account exists', () => thunderbird.run<boolean>('hasAccount'));
  await thunderbird.run('acceptCertificate');
  await thunderbird.run('openFolder', 'INBOX');
  await untilListed(['Bread', 'Köln', 'Tea']);
  const purposes = {
    Archive: 'Archive',
    Drafts: 'Drafts',
    INBOX: 'Inbox',
    Junk: 'Junk',
    Sent: 'SentMail',
    Trash: 'Trash',
  };
  await untilEqual(() => thunderbird.run('folders'), purposes);

  assert.match(await thunderbird.run('openMessage', 'Köln'), /Grüße aus dem Dom/);
  await untilFlags('INBOX', { Tea: [], Köln: ['\\Seen'], Bread: [] });
});

test('searches find what the server finds', async () => {
  assert.deepEqual(await thunderbird.run('search', 'INBOX', 'Body', 'grüße aus'), ['Köln']);
  assert.deepEqual(await thunderbird.run('search', 'INBOX', 'Subject', 'TE'), ['Tea']);
  assert.deepEqual(await thunderbird.run('search', 'INBOX', 'Sender', 'author'), ['Bread', 'Köln', 'Tea']);
  assert.match(await thunderbird.imapLog(), /SEARCH .*BODY/);
});

test('marks, tags, copies, moves and deletions reach the server', async () => {
  await thunderbird.run('mark', 'INBOX', 'Tea', '$label1');
  const marked = ['$label1', '\\Answered', '\\Flagged', '\\Seen'];
  await untilFlags('INBOX', { Tea: marked, Köln: ['\\Seen'], Bread: [] });

  await thunderbird.run('createFolder', 'Küche & Bad');
  await until('the folder exists', async () => 'Küche & Bad' in (await thunderbird.run<object>('folders')));
  await thunderbird.run('transfer', 'Tea', { from: 'INBOX', to: 'Küche & Bad', isMove: false });
  await untilFlags('Küche & Bad', { Tea: marked });
  await thunderbird.run('transfer', 'Tea', { from: 'INBOX', to: 'Archive', isMove: true });
  await untilFlags('Archive', { Tea: marked });
  await deleted('Bread');
  await untilFlags('Trash', { Bread: [] });
  await untilFlags('INBOX', { Köln: ['\\Seen'] });
  await untilListed(['Köln']);

  await thunderbird.run('renameFolder', 'Küche & Bad', 'Küche');
  await until('the folder is renamed', async () =>
    (await server.client.list()).some(({ path, subscribed }) => path === 'Küche' && subscribed),
  );
});

test('a draft and a message that was sent are saved', async () => {
  const file = join(server.home, 'letter.eml');
  await writeFile(file, 'From: reader@sandbox.localhost\r\nSubject: =?utf-8?q?Gr=C3=BCn?=\r\n\r\nHello\r\n');
  await thunderbird.run('append', 'Drafts', file, true);
  await untilFlags('Drafts', { Grün: ['\\Draft'] });
  await thunderbird.run('append', 'Sent', file, false);
  await untilFlags('Sent', { Grün: ['\\Seen'] });
});

test('a folder is deleted with its messages, and the trash is emptied', async () => {
  const foldersInTrash = async () => {
    const folders = await server.client.list();
    return folders.map(({ path }) => path).filter((path) => /Küche|Trash/.test(path));
  };
  await thunderbird.run('deleteFolder', 'Küche');
  await untilEqual(foldersInTrash, ['Trash', 'Trash/Küche']);
  const isShown = async () => 'Trash/Küche' in (await thunderbird.run<object>('folders'));
  await until('Thunderbird shows the folder in the trash', isShown);
  await thunderbird.run('emptyTrash');
  await untilEqual(foldersInTrash, ['Trash']);
  await untilFlags('Trash', {});
});

test('a large message is shown to its end', async () => {
  await server.deliver('Long', `\nLong begins\n${'A line of text.\n'.repeat(80_000)}The end of it`);
  await untilListed(['Köln', 'Long']);
  await until('Thunderbird shows the end of the message', async () =>
    /Long begins.*The end of it$/s.test(await thunderbird.run('openMessage', 'Long')),
  );
  await deleted('Long');
  await untilListed(['Köln']);
});

/** Waits until Thunderbird is in IDLE. Before, it would look for new mail only after ten minutes. */
async function untilIdle(): Promise<void> {
  await until('Thunderbird waits for changes', async () =>
    /S-INBOX:SendData: \d+ IDLE\s*$/.test(
      (await thunderbird.imapLog()).split('\n').findLast((line) => line.includes('S-INBOX:SendData')) ?? '',
    ),
  );
}

test('new mail and the changes of other clients are shown while Thunderbird is in IDLE', async () => {
  await untilIdle();
  await server.deliver('News');
  await untilListed(['Köln', 'News']);
  // Thunderbird does not always read a change that comes while it begins IDLE.
  await untilIdle();
  await server.client.mailboxOpen('INBOX');
  await server.client.messageFlagsAdd({ subject: 'News' }, ['\\Flagged']);
  await until('the star is shown', async () => {
    const marks = await thunderbird.run<Record<string, { isFlagged: boolean }>>('marks', 'INBOX');
    return marks['News']?.isFlagged;
  });
  await untilIdle();
  await server.client.messageMove({ subject: 'News' }, 'Junk');
  await untilListed(['Köln']);
});

test('what changed while Thunderbird did not run is shown when it starts again', async () => {
  await server.importLetters('Archive', LETTERS);
  await thunderbird.run('openFolder', 'Archive');
  const letters = Array.from({ length: LETTERS }, (_, number) => `Letter ${number}`);
  await untilListed([...letters, 'Tea'].sort());
  await thunderbird.stop();
  const { client } = server;
  await client.mailboxOpen('Archive');
  await client.messageDelete({ subject: 'Letter 1' });
  await client.messageFlagsAdd({ subject: 'Letter 2' }, ['\\Flagged']);
  thunderbird = await startThunderbird(server.home);
  await thunderbird.run('openFolder', 'Archive');
  await untilListed([...letters.filter((subject) => !subject.startsWith('Letter 1')), 'Tea'].sort());
  const marks = await thunderbird.run<Record<string, { isFlagged: boolean }>>('marks', 'Archive');
  const flagged = Object.keys(marks).filter((subject) => marks[subject]?.isFlagged);
  assert.deepEqual(
    flagged.sort(),
    [...letters.filter((subject) => subject.startsWith('Letter 2')), 'Tea'].sort(),
  );
});

/** Waits until Thunderbird lists these messages in the folder that is open. */
async function untilListed(subjects: readonly string[]): Promise<void> {
  await untilEqual(() => thunderbird.run('listedMessages'), subjects);
}

/**
 * Deletes a message of INBOX. Thunderbird sometimes sends nothing for the key, while it is still busy with its last command, and the message
 * stays where it is; then the key is pressed again, as a person does.
 */
async function deleted(subject: string): Promise<void> {
  const isThere = async (): Promise<boolean> => subject in (await server.flagsIn('INBOX'));
  const moves = (await movesToTrash()).length;
  await until('the message is deleted', async () => {
    await thunderbird.run('remove', 'INBOX', subject);
    await until('the message has left INBOX', async () => !(await isThere()), DELETED_MS).catch(() => {});
    return !(await isThere());
  });
  assert.equal((await movesToTrash()).length, moves + 1, 'the server does each move that it is asked for');
}

/** Returns the moves to the trash that Thunderbird has asked the server for. */
async function movesToTrash(): Promise<string[]> {
  const sent = (await thunderbird.imapLog()).split('\n').filter((line) => line.includes('SendData'));
  return sent.filter((line) => /UID move .* "Trash"/i.test(line));
}

/** Waits until the server has these messages, with these flags. */
async function untilFlags(folder: string, flags: Record<string, string[]>): Promise<void> {
  await untilEqual(() => server.flagsIn(folder), flags);
}

async function untilEqual(look: () => Promise<unknown>, expected: unknown): Promise<void> {
  let found: unknown;
  const isEqual = async () => {
    found = await look();
    return isDeepStrictEqual(found, expected);
  };
  await until('the messages are as expected', isEqual).catch(async () => {
    const said = (await thunderbird.imapLog()).split('\n').slice(-SHOWN_LINES);
    console.error(['The last lines that Thunderbird has logged:', ...said].join('\n'));
    assert.deepEqual(found, expected);
  });
}
