/** Commands about many messages let others work, and end when nobody reads their answers. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { OpenAccount } from '../../../src/accounts/account.ts';
import type { FolderChange } from '../../../src/accounts/changes.ts';
import { prepareContent } from '../../../src/accounts/content.ts';
import { findFolderByName } from '../../../src/accounts/folder-store.ts';
import { openImapAccount } from '../../../src/accounts/imap/imap-account.ts';
import { type Chunks, isRefusal, type SelectedMailbox } from '../../../src/mail/imap/session.ts';
import { AppError } from '../../../src/system/errors.ts';
import { addTestMessages, messageOf, openTestAccount } from '../../support/test-account.ts';

const MESSAGES = 2_400;

const account = await openTestAccount();
after(() => account.close());
const bytes = messageOf('many');
const content = await prepareContent(account, [bytes]);
await addTestMessages(
  account,
  'INBOX',
  Array.from({ length: MESSAGES }, () => ({ bytes, content })),
);

async function openInbox(own: OpenAccount = account): Promise<SelectedMailbox> {
  const session = openImapAccount(own, { disabledCapabilities: [], quotaBytes: null });
  const answer = await session.select('INBOX', { readOnly: false, condstore: false });
  if (isRefusal(answer)) throw new Error(answer.text);
  return answer.selected;
}

async function countEmptyChunks(chunks: Chunks): Promise<number> {
  let empty = 0;
  for await (const { length } of chunks) if (length === 0) empty++;
  return empty;
}

test('SEARCH, SORT, THREAD and FETCH can be ended between slices of their messages', async () => {
  const selected = await openInbox();
  const search = { keys: [{ kind: 'all' }], uid: true, tag: 't', esearch: undefined } as const;
  const slices = Math.ceil(MESSAGES / 500);
  assert.equal(
    await countEmptyChunks(selected.search({ ...search, arrangement: { kind: 'search' } })),
    slices,
  );
  /** Sort keys are read of fewer messages at once. */
  const keySlices = Math.ceil(MESSAGES / 100);
  const sort = { kind: 'sort', criteria: [{ key: 'subject', reverse: false }] } as const;
  assert.equal(await countEmptyChunks(selected.search({ ...search, arrangement: sort })), slices + keySlices);
  const thread = { kind: 'thread', algorithm: 'REFERENCES' } as const;
  assert.equal(
    await countEmptyChunks(selected.search({ ...search, arrangement: thread })),
    slices + keySlices,
  );
  const nothing = { changedSince: Number.MAX_SAFE_INTEGER, vanished: false, partial: undefined };
  const fetch = { set: [[1, MESSAGES]], uid: false, items: [{ kind: 'FLAGS' }], ...nothing } as const;
  assert.equal(await countEmptyChunks(selected.fetch(fetch)), slices);
});

/** Collects what is told of a folder while `run` runs, and the turns that other work got. */
async function watchWhile(folder: string, run: (told: readonly FolderChange[]) => Promise<void>) {
  const { id = 0 } = (await findFolderByName(account.db.read, folder)) ?? {};
  const told: FolderChange[] = [];
  const stop = account.changes.subscribe(id, (change) => told.push(change));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    await run(told);
  } finally {
    isOver = true;
    stop();
  }
  return { told, turns };
}

const all = { set: [[1, MESSAGES]], uid: false } as const;

test('COPY of many messages is one change, during which other accounts go on', async () => {
  const selected = await openInbox();
  const { told, turns } = await watchWhile('Archive', async () => {
    const answer = await selected.copy({ ...all, to: 'Archive' });
    assert.partialDeepStrictEqual(answer, { from: `1:${MESSAGES}`, to: `1:${MESSAGES}` });
  });
  const kinds = told.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['added']);
  assert.ok(turns >= 2 * Math.floor(MESSAGES / 500), `${turns}`);
});

test('COPY of many ranges lets other accounts go on after some of them, however few messages each has', async () => {
  const selected = await openInbox();
  const set = Array.from({ length: MESSAGES / 4 }, (_, index) => [4 * index + 1, 4 * index + 1] as const);
  const { turns } = await watchWhile('Sent', async () => {
    assert.ok(await selected.copy({ set, uid: false, to: 'Junk' }));
  });
  assert.ok(turns >= 2 * Math.floor((11 * set.length) / 500), `${turns}`);
});

test('other sessions go on between the messages of a FETCH whose client reads at once', async () => {
  let elapsedMs = 0;
  const clock = { ...account.app.clock, elapsed: () => elapsedMs++ };
  const selected = await openInbox({ ...account, app: { ...account.app, clock } });
  const section = { part: [], text: undefined, fields: [] };
  const body = { kind: 'SECTION', label: 'BODY[]', section, peek: true, partial: undefined } as const;
  const { turns } = await watchWhile('INBOX', async () => {
    const fetch = { set: [[1, 100]], uid: false, items: [body] } as const;
    const nothing = { changedSince: undefined, vanished: false, partial: undefined };
    await countEmptyChunks(selected.fetch({ ...fetch, ...nothing }));
  });
  assert.ok(turns >= 100, `${turns}`);
});

test('other sessions go on between the sections of one message, and its structure is read once', async (t) => {
  let elapsedMs = 0;
  const clock = { ...account.app.clock, elapsed: () => elapsedMs++ };
  const selected = await openInbox({ ...account, app: { ...account.app, clock } });
  const items = Array.from({ length: 100 }, (_, index) => {
    const section = { part: [1], text: 'MIME', fields: [] } as const;
    const partial = { offset: index, count: 5 };
    return { kind: 'SECTION', label: 'BODY[1.MIME]', section, peek: true, partial } as const;
  });
  const parse = t.mock.method(JSON, 'parse');
  const { turns } = await watchWhile('INBOX', async () => {
    const fetch = { set: [[1, 1]], uid: false, items } as const;
    await countEmptyChunks(
      selected.fetch({ ...fetch, changedSince: undefined, vanished: false, partial: undefined }),
    );
  });
  assert.ok(turns >= items.length, `${turns}`);
  assert.equal(parse.mock.callCount(), 1);
});

test('other sessions go on between the messages of a SEARCH, however many criteria it has', async () => {
  let elapsedMs = 0;
  const clock = { ...account.app.clock, elapsed: () => elapsedMs++ };
  const selected = await openInbox({ ...account, app: { ...account.app, clock } });
  const search = { uid: true, tag: 't', esearch: undefined, arrangement: { kind: 'search' } } as const;
  const first = { kind: 'set', set: [[1, 100]], uid: true } as const;
  for (const [key, minTurns] of [
    [{ kind: 'modseq', atLeast: 1 }, MESSAGES],
    [{ kind: 'header', field: 'from', text: 'ann' }, 2 * MESSAGES],
    [{ kind: 'body', text: 'x' }, 200],
  ] as const) {
    const { turns } = await watchWhile('INBOX', async () => {
      const keys = key.kind === 'body' ? [first, key] : [key];
      await countEmptyChunks(selected.search({ ...search, keys }));
    });
    assert.ok(turns >= minTurns, `${key.kind}: ${turns}`);
  }
});

test('STORE sends its responses as they come, and other sessions go on between the messages', async () => {
  let elapsedMs = 0;
  const clock = { ...account.app.clock, elapsed: () => elapsedMs++ };
  const selected = await openInbox({ ...account, app: { ...account.app, clock } });
  const flags = Array.from({ length: 100 }, (_, index) => `k${index}${'y'.repeat(200)}`);
  const change = { action: 'add', flags, silent: false, unchangedSince: undefined } as const;
  let most = 0;
  const { turns } = await watchWhile('INBOX', async () => {
    for await (const { length } of selected.store({ set: [[1, 200]], uid: true, ...change }))
      most = Math.max(most, length);
  });
  assert.ok(turns >= 200, `${turns}`);
  assert.ok(most < 256 * 1024, `${most} octets at once`);
  await countEmptyChunks(
    selected.store({ set: [[1, 200]], uid: true, ...change, action: 'replace', flags: [], silent: true }),
  );
});

test('a date is read once of each message, and the keywords of a set once, however many criteria ask for them', async (t) => {
  const selected = await openInbox();
  const parse = t.mock.method(JSON, 'parse');
  const day = (number: number) => `20${10 + (number % 80)}-01-01`;
  const dates = Array.from({ length: 100 }, (_, index) => {
    return { kind: 'date', of: 'sent', comparison: 'on', day: day(index) } as const;
  });
  const keys = [{ kind: 'set', set: [[1, 50]], uid: true } as const, { kind: 'or', keys: dates } as const];
  const search = { uid: true, tag: 't', esearch: undefined, arrangement: { kind: 'search' } } as const;
  await countEmptyChunks(selected.search({ ...search, keys }));
  const perMessage = parse.mock.callCount() / 50;
  assert.ok(perMessage >= 1 && perMessage < 2, `${perMessage}`);
});

test('a new set of keywords is read without the other sets of the account', async (t) => {
  const own = await openTestAccount();
  t.after(() => own.close());
  const keyworded = Array.from({ length: 250 }, (_, index) => ({ bytes, keywords: [`k${index}`] }));
  await addTestMessages(own, 'INBOX', keyworded);
  const selected = await openInbox(own);
  const flags = { set: [[1, 250]], uid: true, items: [{ kind: 'FLAGS' }] } as const;
  const nothing = { changedSince: undefined, vanished: false, partial: undefined };
  const answer = async (): Promise<string> => {
    let text = '';
    for await (const chunk of selected.fetch({ ...flags, ...nothing })) text += chunk.toString();
    return text;
  };
  for (const keyword of ['k0', 'k99', 'k100', 'k249'])
    assert.ok((await answer()).includes(`(${keyword} `), keyword);
  const parse = t.mock.method(JSON, 'parse');
  const change = { action: 'add', flags: ['new'], silent: false, unchangedSince: undefined } as const;
  await countEmptyChunks(selected.store({ set: [[7, 7]], uid: true, ...change }));
  assert.ok(parse.mock.callCount() < 10, `${parse.mock.callCount()}`);
  parse.mock.restore();
  assert.ok((await answer()).includes('(k6 new '));
});

test('MOVE of many messages is several changes, and COPYUID names all messages', async () => {
  const selected = await openInbox();
  const { told } = await watchWhile('INBOX', async (changes) => {
    const answer = await selected.move({ ...all, to: 'Trash' });
    assert.partialDeepStrictEqual(answer, { from: `1:${MESSAGES}`, to: `1:${MESSAGES}` });
    assert.equal(answer && 'modseq' in answer && answer.modseq, changes.at(-1)?.modseq);
  });
  assert.deepEqual(
    told.map((change) => change.kind === 'expunged' && change.messages.length),
    [1_000, 1_000, 400],
  );
});

test('a MOVE that fails after its first part tells what was moved, and leaves the rest', async () => {
  let moves = 0;
  const commit: OpenAccount['db']['commit'] = (write, input, onCommitted) =>
    write.name === 'account.copyOrMove' && ++moves === 2
      ? Promise.reject(new AppError('unavailable', 'The disk is full'))
      : account.db.commit(write, input, onCommitted);
  const { file, read, damaged } = account.db;
  const maintain: OpenAccount['db']['maintain'] = (work) => account.db.maintain(work);
  const copyTo: OpenAccount['db']['copyTo'] = (copy) => account.db.copyTo(copy);
  const none = async () => {};
  const unused = { followPages: none, gatherPages: none, copyBack: none, close: none };
  const own = { ...account, db: { file, read, damaged, commit, maintain, copyTo, ...unused } };
  await addTestMessages(
    account,
    'Drafts',
    Array.from({ length: 1_100 }, () => ({ bytes, content })),
  );
  const session = openImapAccount(own, { disabledCapabilities: [], quotaBytes: null });
  const answer = await session.select('Drafts', { readOnly: false, condstore: false });
  assert.ok(!isRefusal(answer));
  const moved = await answer.selected.move({ set: [[1, 1_100]], uid: false, to: 'Sent' });
  const rest = { refused: 'NO', code: 'UNAVAILABLE', text: 'The disk is full' };
  assert.partialDeepStrictEqual(moved, { from: '1:1000', to: '1:1000', rest });
  assert.equal((await findFolderByName(account.db.read, 'Drafts'))?.messageCount, 100);
  assert.equal((await findFolderByName(account.db.read, 'Sent'))?.messageCount, 1_000);
});

test('EXPUNGE and UID EXPUNGE of many messages are several changes', async () => {
  for (const uids of [undefined, [[1, MESSAGES]] as const]) {
    const { told } = await watchWhile('Trash', async (changes) => {
      const session = openImapAccount(account, { disabledCapabilities: [], quotaBytes: null });
      session.enable({ rev2: false, utf8: false, condstore: true, qresync: true, metadata: false });
      const answer = await session.select('Trash', { readOnly: false, condstore: false });
      assert.ok(!isRefusal(answer));
      const { selected } = answer;
      const deleted = { set: [[1, uids === undefined ? 1_150 : 1_250]], uid: false } as const;
      const change = {
        action: 'add',
        flags: ['\\Deleted'],
        silent: true,
        unchangedSince: undefined,
      } as const;
      await countEmptyChunks(selected.store({ ...deleted, ...change }));
      const result = await selected.expunge(uids);
      assert.deepEqual(result, { noticed: `HIGHESTMODSEQ ${changes.at(-1)?.modseq}` });
      session.close();
    });
    const removed = told.flatMap((change) => (change.kind === 'expunged' ? [change.messages.length] : []));
    assert.deepEqual(removed, uids === undefined ? [1_000, 150] : [1_000, 250]);
  }
});
