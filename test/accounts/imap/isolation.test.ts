/**
 * A user learns nothing of another account. Each command that can name something is asked about a thing of another account, and about
 * one that never was. The answers are the same, whatever was asked before, and the other account stays as it is.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { COMMANDS } from '../../../src/mail/imap/commands/table.ts';
import { startServer } from '../../mail/imap/fixture.ts';
import { mailOf } from '../../support/account-mail.ts';
import { messageOf, openTestAccount } from '../../support/test-account.ts';

/** Names of things. Those of one kind have the same length, so that answers differ in nothing else. */
type Names = { folder: string; emailId: string };

/** Commands by name, which name a folder `F`, a message `E`, or UIDs that only the other account has. */
const ASKING: Readonly<Record<string, readonly string[]>> = {
  SELECT: ['SELECT F', 'SELECT F (QRESYNC (1767225600 1))', 'SELECT INBOX'],
  EXAMINE: ['EXAMINE F', 'EXAMINE F/deep', 'EXAMINE INBOX'],
  CREATE: ['CREATE F/deep/new', 'CREATE F'],
  DELETE: ['DELETE F', 'DELETE F/deep'],
  RENAME: ['RENAME F G', 'RENAME Archive F', 'RENAME F INBOX'],
  SUBSCRIBE: ['SUBSCRIBE F'],
  UNSUBSCRIBE: ['UNSUBSCRIBE F'],
  LIST: ['LIST "" F*', 'LIST "F" %', 'LIST (SUBSCRIBED) "" * RETURN (CHILDREN STATUS (MESSAGES))'],
  LSUB: ['LSUB "" F%', 'LSUB "" *'],
  STATUS: ['STATUS F (MESSAGES UIDNEXT MAILBOXID)', 'STATUS F/deep (SIZE)'],
  GETQUOTA: ['GETQUOTA F', 'GETQUOTA ""'],
  GETQUOTAROOT: ['GETQUOTAROOT F'],
  SETQUOTA: ['SETQUOTA F (STORAGE 1)'],
  GETMETADATA: ['GETMETADATA F /private/comment', 'GETMETADATA "" /private/comment'],
  SETMETADATA: ['SETMETADATA F (/private/comment "mine")'],
  APPEND: [
    'APPEND F {3+}\r\nA: ',
    'APPEND INBOX CATENATE (URL "/F/;UID=1")',
    'APPEND INBOX CATENATE (URL "/;UID=7")',
  ],
  REPLACE: ['REPLACE 7 F {3+}\r\nA: ', 'REPLACE 1 F {3+}\r\nA: '],
  'UID REPLACE': ['UID REPLACE 7 INBOX {3+}\r\nA: '],
  COPY: ['COPY 1 F', 'COPY 7 Archive'],
  'UID COPY': ['UID COPY 1 F/deep', 'UID COPY 7 Archive'],
  MOVE: ['MOVE 1 F', 'MOVE 7 Archive'],
  'UID MOVE': ['UID MOVE 1 F', 'UID MOVE 7 Archive'],
  FETCH: ['FETCH 7 (FLAGS BODY[])', 'FETCH 1:* (UID FLAGS ENVELOPE)'],
  'UID FETCH': ['UID FETCH 7 (FLAGS BODY[])', 'UID FETCH 1:* (FLAGS)'],
  STORE: ['STORE 7 +FLAGS \\Deleted'],
  'UID STORE': ['UID STORE 7 +FLAGS $secret', 'UID STORE 1:* FLAGS ()'],
  'UID EXPUNGE': ['UID EXPUNGE 7'],
  SEARCH: ['SEARCH EMAILID E', 'SEARCH TEXT secret', 'SEARCH KEYWORD $secret', 'SEARCH UID 7'],
  'UID SEARCH': ['UID SEARCH NOT EMAILID E', 'UID SEARCH RETURN (SAVE) SUBJECT secret'],
  SORT: ['SORT (SUBJECT) UTF-8 TEXT secret'],
  'UID SORT': ['UID SORT (ARRIVAL) UTF-8 UID 1:99'],
  THREAD: ['THREAD REFERENCES UTF-8 SUBJECT secret'],
  'UID THREAD': ['UID THREAD REFERENCES UTF-8 ALL'],
  NOTIFY: ['NOTIFY SET STATUS (MAILBOXES F (MessageNew MessageExpunge))'],
  CANCELUPDATE: ['CANCELUPDATE "F"'],
  NOOP: ['NOOP'],
  CHECK: ['CHECK'],
  EXPUNGE: ['EXPUNGE'],
  UNSELECT: ['UNSELECT'],
  CLOSE: ['CLOSE'],
};
/** Commands that name nothing of an account, or that need no login. */
const NAMELESS = [
  'CAPABILITY',
  'LOGOUT',
  'ID',
  'STARTTLS',
  'AUTHENTICATE',
  'LOGIN',
  'ENABLE',
  'COMPRESS',
  'NAMESPACE',
  'IDLE',
];

async function openAccount(messages: number, subject: string) {
  const account = await openTestAccount();
  after(() => account.close());
  const mail = mailOf(account);
  const keyword = subject === 'secret' ? ['$secret'] : [];
  for (let count = 0; count < messages; count++)
    await mail.deliver('INBOX', messageOf(subject), { flags: keyword });
  return { account, mail };
}

const other = await openAccount(9, 'secret');

test('every command is asked, or names nothing', () => {
  const all = [...Object.keys(ASKING), ...NAMELESS];
  assert.deepEqual(
    [...COMMANDS.keys()].filter((name) => !all.includes(name)),
    [],
  );
});

test('what belongs to another account is answered as what never was, in every order of the commands', async (t) => {
  const server = await startServer(t, { mail: other.mail, limits: { connectionsPerMinute: 100_000 } });
  await server.open('CREATE hidden/deep', 'SETMETADATA hidden (/private/comment "secret")');
  const describe = async () => {
    const owner = await server.open();
    const commands = ['EXAMINE INBOX', 'FETCH 1:* (UID FLAGS MODSEQ EMAILID BODY.PEEK[])'];
    commands.push('LIST "" * RETURN (SUBSCRIBED STATUS (MESSAGES UIDNEXT UIDVALIDITY HIGHESTMODSEQ))');
    commands.push('GETMETADATA hidden /private/comment');
    const answers: string[] = [];
    for (const command of commands) answers.push(...(await owner.ask(command)));
    return answers;
  };
  const before = await describe();
  const [emailId = 'none'] = /C[0-9a-z]+-[0-9a-z]{16}/.exec(before.join('\n')) ?? [];
  const theirs: Names = { folder: 'hidden', emailId };
  const never: Names = { folder: 'nobody', emailId: `C1-${'x'.repeat(16)}` };
  const commands = Object.values(ASKING).flat();
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(commands, { minLength: 10, maxLength: 60 }), async (asked) => {
      const [one, two] = [await ask(asked, theirs), await ask(asked, never)];
      assert.deepEqual(one, two);
    }),
    { numRuns: 12 },
  );
  assert.deepEqual(await describe(), before);

  /** Runs commands in a new account with two messages. Names and random ids are replaced in the answers. */
  async function ask(asked: readonly string[], names: Names): Promise<string[]> {
    const mine = await openAccount(2, 'mine');
    const own = await startServer(t, { mail: mine.mail });
    const client = await own.open('SELECT INBOX');
    const answers: string[] = [];
    for (const command of asked) {
      const filled = command.replace(/\bF\b/g, names.folder).replace(/\bE\b/g, names.emailId);
      for (const line of await client.ask(filled)) answers.push(line.replaceAll(names.folder, 'F'));
    }
    return answers.map((line) => line.replace(/\b[MF][\w-]{16}(?=\))/g, 'id'));
  }
});
