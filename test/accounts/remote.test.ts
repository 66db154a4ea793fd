import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, type TestContext, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { createAccountLink } from '../../src/accounts/remote.ts';
import { MAX_CHUNKS_AHEAD } from '../../src/accounts/remote-messages.ts';
import { serveAccounts } from '../../src/accounts/serve-remote.ts';
import {
  type Account,
  type AppendMessage,
  type Chunks,
  isRefusal,
  type OpenSession,
  type Refusal,
  type SelectedMailbox,
} from '../../src/mail/imap/session.ts';
import { AppError } from '../../src/system/errors.ts';
import { sessions } from '../mail/imap/fixture.ts';
import { createMemoryMail, USER } from '../support/memory-imap-session.ts';

const channel = new MessageChannel();
const server = serveAccounts(channel.port2);
const link = createAccountLink(channel.port1);
const { through } = sessions;

before(() => {
  sessions.through = throughPort;
});
after(() => {
  sessions.through = through;
  channel.port1.close();
});

/** Puts a port between the server and its sessions. */
function throughPort(openSession: OpenSession): OpenSession {
  return () => {
    const session = openSession();
    let close = () => {};
    const open = (answer: Account | Refusal): Account | Refusal => {
      if (isRefusal(answer)) return answer;
      const remote = link.open(
        server.serve(answer, () => {}),
        answer.disabledCapabilities,
      );
      close = remote.close;
      return remote.account;
    };
    return {
      login: async (credentials) => open(await session.login(credentials)),
      scramKey: (username) => session.scramKey(username),
      async loginByProof(proof) {
        const { answer, ...signed } = await session.loginByProof(proof);
        return { answer: open(answer), ...signed };
      },
      close() {
        close();
        session.close();
      },
    };
  };
}

// Files that the same process has run before, or runs later, are evaluated once more.
for (const name of ['commands', 'contexts', 'quirks', 'hostile', 'limits', 'metadata', 'catenate', 'notify'])
  await import(`../mail/imap/${name}.test.ts?of=${encodeURIComponent(import.meta.url)}`);

type Hooks = Parameters<typeof createMemoryMail>[0];

/** Opens the account of a memory session over a link of its own. */
async function openRemote(t: TestContext, hooks: Hooks = {}) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const mail = createMemoryMail(hooks);
  const client = { address: '', port: 0, localAddress: '', localPort: 0, tls: undefined, id: {} };
  const account = await mail.openSession().login({ ...USER, client });
  if (isRefusal(account)) throw new Error(account.text);
  const ended = Promise.withResolvers<void>();
  const served = serveAccounts(port2);
  const number = served.serve(account, ended.resolve);
  const remote = createAccountLink(port1).open(number, []);
  return { mail, account: remote.account, remote, served, number, port2, ended: ended.promise };
}

/** Selects INBOX. */
async function selectInbox(account: Account): Promise<SelectedMailbox> {
  const answer = await account.select('INBOX', { readOnly: false, condstore: false });
  if (isRefusal(answer)) throw new Error(answer.text);
  return answer.selected;
}

/** Returns all chunks and the result of a method. */
async function readAll(chunks: Chunks) {
  const texts: string[] = [];
  for (;;) {
    const next = await chunks.next();
    if (next.done) return { texts, result: next.value };
    texts.push(next.value.toString());
  }
}

const ALL_CHANGES = {
  set: '$',
  uid: true,
  items: [],
  changedSince: undefined,
  vanished: false,
  partial: undefined,
} as const;
const UNAVAILABLE = { refused: 'BYE', code: 'UNAVAILABLE' };

test('chunks are made only a few ahead of what the connection has taken', async (t) => {
  let made = 0;
  const hooks: Hooks = {
    selected: {
      async *fetch() {
        while (made < 100) yield Buffer.from(`chunk ${made++}`);
        return undefined;
      },
    },
  };
  const { account } = await openRemote(t, hooks);
  const selected = await selectInbox(account);
  const chunks = selected.fetch(ALL_CHANGES);
  assert.equal((await chunks.next()).value?.toString(), 'chunk 0');
  // Another session's answer crosses in the meantime.
  await crossTwice();
  assert.equal(made, MAX_CHUNKS_AHEAD);
  assert.equal((await readAll(chunks)).texts.length, 99);
});

test('empty chunks, between which work can be ended, do not cross', async (t) => {
  const hooks: Hooks = {
    selected: {
      async *fetch() {
        for (let count = 0; count < 3 * MAX_CHUNKS_AHEAD; count++) yield Buffer.alloc(0);
        yield Buffer.from('chunk');
        return undefined;
      },
    },
  };
  const { account } = await openRemote(t, hooks);
  const selected = await selectInbox(account);
  assert.deepEqual((await readAll(selected.fetch(ALL_CHANGES))).texts, ['chunk']);
});

test('a method whose chunks are no longer wanted ends, and the next one is answered', async (t) => {
  const ended = Promise.withResolvers<void>();
  const hooks: Hooks = {
    selected: {
      async *fetch() {
        try {
          for (;;) yield Buffer.from('endless');
        } finally {
          ended.resolve();
        }
      },
    },
  };
  const { account, mail } = await openRemote(t, hooks);
  const selected = await selectInbox(account);
  const chunks = selected.fetch(ALL_CHANGES);
  await chunks.next();
  await chunks.return(undefined);
  await ended.promise;
  mail.deliver('INBOX', 'Subject: new\r\n\r\n');
  assert.deepEqual(await readAll(selected.changes('all')), {
    texts: ['* 1 EXISTS\r\n* 1 RECENT\r\n'],
    result: undefined,
  });
});

function messageOf(content: () => AsyncGenerator<Buffer>): AppendMessage {
  return {
    flags: [],
    internalDate: undefined,
    sizeBytes: 1,
    isBinary: false,
    isSynchronizing: true,
    utf8: false,
    content: { [Symbol.asyncIterator]: content },
  };
}

test('APPEND passes on the very error that ended the reading, and adds nothing', async (t) => {
  const { account, mail } = await openRemote(t);
  const gone = new Error('the client is gone');
  async function* messages() {
    yield messageOf(async function* () {
      yield Buffer.from('Subject: a\r\n\r\n');
    });
    yield messageOf(async function* () {
      yield Buffer.from('Subject: b');
      throw gone;
    });
  }
  await assert.rejects(account.append('INBOX', messages()), (error) => error === gone);
  assert.equal(mail.mailboxes.get('INBOX')?.messages.length, 0);
});

test('APPEND carries content in pieces, and leaves content that is refused unread', async (t) => {
  const { account, mail } = await openRemote(t);
  let reads = 0;
  async function* messages() {
    yield messageOf(async function* () {
      for (; reads < 20; reads++) yield Buffer.alloc(16_384, `${reads % 10}`);
    });
  }
  assert.deepEqual(await account.append('INBOX', messages()), { uidValidity: 1_001, uids: '1' });
  const [message] = mail.mailboxes.get('INBOX')?.messages ?? [];
  assert.equal(message?.bytes.length, 20 * 16_384);
  assert.equal(message?.bytes.at(-1), '9'.charCodeAt(0));
  reads = 0;
  assert.partialDeepStrictEqual(await account.append('None', messages()), { code: 'TRYCREATE' });
  assert.equal(reads, 0);
});

test('APPEND carries small messages that come unasked with its call', async (t) => {
  const { account, mail, port2 } = await openRemote(t);
  let crossed = 0;
  port2.on('message', () => crossed++);
  const texts = ['Subject: a\r\n\r\n', 'Subject: b\r\n\r\n'];
  async function* messages() {
    for (const text of texts) {
      const content = async function* () {
        yield Buffer.from(text);
      };
      yield { ...messageOf(content), sizeBytes: text.length, isSynchronizing: false };
    }
  }
  assert.deepEqual(await account.append('INBOX', messages()), { uidValidity: 1_001, uids: '1:2' });
  assert.equal(crossed, 1);
  assert.deepEqual(
    mail.mailboxes.get('INBOX')?.messages.map(({ bytes }) => bytes.toString()),
    texts,
  );
});

test('refusals and bugs of methods cross with their codes', async (t) => {
  const full = new AppError('quota_exceeded', 'The mailbox is full');
  const hooks: Hooks = {
    account: {
      create: () => Promise.reject(full),
      delete: () => Promise.reject(Object.assign(new Error('broken'), { code: 'SQLITE_CORRUPT' })),
    },
  };
  const { account } = await openRemote(t, hooks);
  await assert.rejects(
    account.create({ mailbox: 'a', specialUse: undefined }),
    (error) => error instanceof AppError && error.code === full.code,
  );
  await assert.rejects(account.delete('a'), { message: 'broken', code: 'SQLITE_CORRUPT' });
  assert.partialDeepStrictEqual(await account.rename('a', 'b'), { code: 'NONEXISTENT' });
});

test('a watch tells of changes once until they are asked for', async (t) => {
  const { account, mail } = await openRemote(t);
  const selected = await selectInbox(account);
  let calls = 0;
  let changed = Promise.withResolvers<void>();
  const unwatch = account.watch(() => {
    calls++;
    changed.resolve();
  });
  await readAll(selected.changes('all'));
  for (const name of ['a', 'b', 'c']) mail.deliver('INBOX', `Subject: ${name}\r\n\r\n`);
  await changed.promise;
  await crossTwice();
  assert.equal(calls, 1);
  assert.match((await readAll(selected.changes('all'))).texts.join(''), /^\* 3 EXISTS/);
  changed = Promise.withResolvers();
  mail.remove('INBOX', 2);
  await changed.promise;
  assert.deepEqual((await readAll(selected.changes('all'))).texts, ['* 2 EXPUNGE\r\n']);
  unwatch();
  await account.status('INBOX', []);
  assert.equal(mail.watchers.size, 0);
});

test('the end of a connection ends its method, its watch and its selection', async (t) => {
  const closed = Promise.withResolvers<boolean>();
  const hooks: Hooks = {
    selected: {
      async close({ expunge }) {
        closed.resolve(expunge);
        return undefined;
      },
    },
  };
  const { account, remote, ended, mail } = await openRemote(t, hooks);
  await selectInbox(account);
  account.watch(() => {});
  async function* messages() {
    yield messageOf(async function* () {
      remote.close();
      await new Promise(() => {});
      yield Buffer.alloc(1);
    });
  }
  account.append('INBOX', messages()).catch(() => {});
  assert.equal(await closed.promise, false);
  await ended;
  assert.equal(mail.watchers.size, 0);
  assert.equal(mail.mailboxes.get('INBOX')?.messages.length, 0);
});

test('the end of a connection ends a method that has not said anything, and its call', async (t) => {
  const stopped = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const hooks: Hooks = {
    selected: {
      async *search() {
        try {
          for (;;) {
            began.resolve();
            await new Promise(setImmediate);
            yield Buffer.alloc(0);
          }
        } finally {
          stopped.resolve();
        }
      },
    },
  };
  const { account, remote, ended } = await openRemote(t, hooks);
  const selected = await selectInbox(account);
  const keys = [{ kind: 'all' }] as const;
  const query = { keys, uid: false, tag: 't', esearch: undefined, arrangement: { kind: 'search' } } as const;
  const search = readAll(selected.search(query));
  await began.promise;
  remote.close();
  await stopped.promise;
  await ended;
  const { texts, result } = await search;
  assert.deepEqual(texts, []);
  assert.partialDeepStrictEqual(result, UNAVAILABLE);
});

test('when the thread of the accounts has gone, methods that run and later ones answer BYE', async (t) => {
  const hooks: Hooks = { account: { status: () => new Promise(() => {}) } };
  const { account, port2, ended } = await openRemote(t, hooks);
  const selected = await selectInbox(account);
  const watched = new Promise<void>((resolve) => void account.watch(resolve));
  const status = account.status('INBOX', []);
  port2.close();
  assert.partialDeepStrictEqual(await status, UNAVAILABLE);
  await watched;
  assert.partialDeepStrictEqual((await readAll(selected.changes('all'))).result, UNAVAILABLE);
  assert.partialDeepStrictEqual(await selected.close({ expunge: false }), UNAVAILABLE);
  let isCalled = false;
  account.watch(() => {
    isCalled = true;
  });
  assert.equal(isCalled, true);
  void ended;
});

test('a session that the thread of the accounts ends is answered its refusal', async (t) => {
  const { account, served, number, ended } = await openRemote(t);
  const selected = await selectInbox(account);
  const watched = new Promise<void>((resolve) => void account.watch(resolve));
  const refusal = { refused: 'BYE', code: 'UNAVAILABLE', text: 'damaged' } as const;
  served.end(number, refusal);
  await watched;
  assert.deepEqual(await account.ended, refusal);
  assert.deepEqual((await readAll(selected.changes('all'))).result, refusal);
  assert.deepEqual(await account.create({ mailbox: 'a', specialUse: undefined }), refusal);
  await ended;
});

/** Resolves when a message has crossed a port, and an answer has come back. */
async function crossTwice(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  port2.on('message', (message) => port2.postMessage(message));
  for (let round = 0; round < 2; round++) {
    port1.postMessage(round);
    await once(port1, 'message');
  }
  port1.close();
}

test('a session that has ended before its connection knew of it is answered BYE', async (t) => {
  const { mail, served, port1 } = openServed(t);
  const client = { address: '', port: 0, localAddress: '', localPort: 0, tls: undefined, id: {} };
  const account = await mail.openSession().login({ ...USER, client });
  if (isRefusal(account)) throw new Error(account.text);
  const number = served.serve(account, () => {});
  const link = createAccountLink(port1);
  served.end(number, { refused: 'BYE', code: 'UNAVAILABLE', text: 'The mailbox is closed' });
  // The port has delivered what was sent before.
  await link
    .open(
      served.serve(account, () => {}),
      [],
    )
    .account.quota();
  const late = link.open(number, []).account;
  assert.partialDeepStrictEqual(await late.quota(), UNAVAILABLE);
  assert.partialDeepStrictEqual(await late.ended, UNAVAILABLE);
});

/** Opens a server without sessions, and the port of its connections. */
function openServed(t: TestContext) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  return { mail: createMemoryMail(), served: serveAccounts(port2), port1 };
}
