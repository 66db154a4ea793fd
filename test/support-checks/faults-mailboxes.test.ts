/** The judge of mailboxes finds what it is there to find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  adopt,
  doubtSince,
  type FoundFolder,
  type FoundMessage,
  judgeReading,
  lostLetters,
  nothingTold,
  raise,
  settleOpen,
  type Told,
} from '../faults/mailboxes/audit.ts';
import { readMessage } from '../faults/mailboxes/client.ts';
import { messageOf, tokenOf } from '../faults/mailboxes/letter.ts';
import { type Change, changed } from '../faults/mailboxes/model.ts';

function message(uid: number, change: Partial<FoundMessage> = {}): FoundMessage {
  return { uid, token: `append-${uid}`, hash: `${uid}`, flags: '', modseq: uid, isWhole: true, ...change };
}

function folder(change: Partial<FoundFolder> = {}): FoundFolder {
  const numbers = { uidValidity: 7, uidNext: 10, highestModseq: 20 };
  return { name: 'INBOX', ...numbers, messages: [message(1), message(2)], ...change };
}

/** Returns what a client knows that has read these folders. */
function read(...folders: FoundFolder[]): Told {
  const told = nothingTold();
  adopt(told, folders);
  return told;
}

function faultsOf(told: Told, ...found: FoundFolder[]): string[] {
  return judgeReading(told, found).faults;
}

test('a mailbox that is as its client knows it is in order', () => {
  assert.deepEqual(judgeReading(read(folder()), [folder()]), { faults: [], isDone: undefined });
});

test('a lost message, one that came back, other flags and a lost folder are faults', () => {
  const told = read(folder());
  assert.deepEqual(faultsOf(told, folder({ messages: [message(1)] })), ['INBOX: a message is lost']);
  assert.deepEqual(faultsOf(told, folder({ messages: [message(1), message(2), message(3)] })), [
    'INBOX: a message is there that should not be',
  ]);
  assert.deepEqual(faultsOf(told, folder({ messages: [message(1, { flags: '\\Seen' }), message(2)] })), [
    'INBOX: a message has "\\Seen", not ""',
  ]);
  assert.deepEqual(faultsOf(told), ['INBOX is missing']);
  const other = folder({ name: 'other', uidValidity: 8, messages: [] });
  assert.deepEqual(faultsOf(told, folder(), other), ['other is there, and nobody made it']);
  assert.deepEqual(faultsOf(told, folder({ uidValidity: 8 })), ['INBOX has another UIDVALIDITY']);
});

test('numbers that go back and UIDs that name other bytes are faults', () => {
  const told = read(folder());
  assert.deepEqual(faultsOf(told, folder({ uidNext: 9 })), ['UIDNEXT went back']);
  assert.deepEqual(faultsOf(told, folder({ highestModseq: 19 })), ['HIGHESTMODSEQ went back']);
  assert.deepEqual(faultsOf(told, folder({ messages: [message(1, { modseq: 0 }), message(2)] })), [
    'the MODSEQ of a message went back',
  ]);
  assert.deepEqual(faultsOf(told, folder({ messages: [message(1, { hash: 'x' }), message(2)] })), [
    'a UID names other bytes than before',
  ]);
  assert.deepEqual(faultsOf(told, folder({ messages: [message(1, { isWhole: false }), message(2)] })), [
    'the bytes of a message are not those that were sent',
  ]);
  raise(told, 7, { uidNext: 12, highestModseq: 21 });
  assert.deepEqual(faultsOf(told, folder()), ['UIDNEXT went back', 'HIGHESTMODSEQ went back']);
});

test('numbers of a message must be below those of its folder', () => {
  const messages = [message(10, { modseq: 21 })];
  assert.deepEqual(faultsOf(read(folder({ messages })), folder({ messages })), [
    'a message has a UID from UIDNEXT on',
    'a message has a MODSEQ above HIGHESTMODSEQ',
  ]);
});

test('a UID that was expunged is not used again, even in a folder that was deleted', () => {
  const told = read(folder());
  adopt(told, []);
  told.model = changed(told.model, { kind: 'create', folder: 'INBOX' });
  const again = folder({ messages: [message(1, { token: 'none', hash: 'other' })] });
  told.open = { kind: 'append', folder: 'INBOX', token: 'none', flags: '' };
  assert.deepEqual(faultsOf(told, again), ['a UID names other bytes than before']);
});

test('a letter is delivered once, and is lost when it was accepted and never came', () => {
  const told = read(folder());
  told.sent.add('letter-1').add('letter-2');
  told.accepted.add('letter-1');
  const letter = (uid: number) => message(uid, { token: 'letter-1' });
  const with1 = folder({ messages: [message(1), message(2), letter(3)] });
  assert.deepEqual(lostLetters(told), ['letter-1']);
  assert.deepEqual(faultsOf(told, with1), []);
  const twice = folder({ messages: [message(1), message(2), letter(3), letter(4)] });
  assert.deepEqual(faultsOf(told, twice), ['a letter was delivered twice']);
  adopt(told, [with1]);
  assert.deepEqual(lostLetters(told), []);
  assert.deepEqual(faultsOf(told, twice), ['INBOX: a message is there that should not be']);
});

const CHANGES: Record<string, { change: Change; after: FoundMessage[] }> = {
  append: {
    change: { kind: 'append', folder: 'INBOX', token: 'append-9', flags: '\\Seen' },
    after: [message(1), message(2), message(9, { flags: '\\Seen' })],
  },
  flags: {
    change: { kind: 'flags', folder: 'INBOX', uids: [1, 2], flag: '\\Deleted', isAdded: true },
    after: [message(1, { flags: '\\Deleted' }), message(2, { flags: '\\Deleted' })],
  },
  'copy into the same folder': {
    change: { kind: 'copy', folder: 'INBOX', uids: [2], to: 'INBOX' },
    after: [message(1), message(2), message(3, { token: 'append-2' })],
  },
};

for (const [name, { change, after }] of Object.entries(CHANGES))
  test(`without an answer, "${name}" is made or not, and nothing in between`, () => {
    const told = read(folder());
    told.open = change;
    assert.deepEqual(judgeReading(told, [folder()]), { faults: [], isDone: false });
    assert.deepEqual(judgeReading(told, [folder({ messages: after })]), { faults: [], isDone: true });
    const half = folder({ messages: after.slice(1) });
    assert.equal(faultsOf(told, half).length > 0, true);
    told.model = changed(told.model, change);
    told.open = undefined;
    assert.equal(faultsOf(told, folder()).length > 0, true);
  });

test('what was answered while the disk failed may be lost, and nothing that was answered before', () => {
  const told = read(folder());
  told.accepted.add('letter-1');
  settleAppend(told, 3);
  const since = { ...told, accepted: new Set(told.accepted) };
  assert.equal(doubtSince(told, since), 0);
  assert.deepEqual(faultsOf(told, folder()), ['INBOX: a message is lost']);
  told.accepted.add('letter-2');
  settleAppend(told, 4);
  assert.equal(doubtSince(told, since), 2);
  assert.deepEqual(lostLetters(told), ['letter-1']);
  const [first, second, third] = [message(1), message(2), message(3)];
  for (const messages of [
    [first, second, third],
    [first, second, third, message(4)],
  ])
    assert.deepEqual(faultsOf(told, folder({ messages })), []);
  assert.deepEqual(faultsOf(told, folder({ messages: [first, second] })).length > 0, true);
  adopt(told, [folder({ messages: [first, second, third, message(4)] })]);
  assert.deepEqual(faultsOf(told, folder({ messages: [first, second, third] })), [
    'INBOX: a message is lost',
  ]);
});

function settleAppend(told: Told, uid: number): void {
  told.open = { kind: 'append', folder: 'INBOX', token: `append-${uid}`, flags: '' };
  settleOpen(told, { floors: new Map(told.floors), uids: [uid] });
}

test('a move and an expunge are whole', () => {
  const deleted = message(2, { flags: '\\Deleted' });
  const inbox = folder({ messages: [message(1), deleted] });
  const trash = folder({ name: 'Trash', uidValidity: 8, messages: [] });
  const told = read(inbox, trash);
  told.open = { kind: 'move', folder: 'INBOX', uids: [1], to: 'Trash' };
  const left = folder({ messages: [deleted] });
  const filled = { ...trash, messages: [message(1)] };
  assert.equal(judgeReading(told, [left, filled]).isDone, true);
  assert.equal(judgeReading(told, [inbox, trash]).isDone, false);
  assert.equal(faultsOf(told, left, trash).length > 0, true);
  assert.equal(faultsOf(told, inbox, filled).length > 0, true);
  told.open = { kind: 'expunge', folder: 'INBOX' };
  assert.equal(judgeReading(told, [folder({ messages: [message(1)] }), trash]).isDone, true);
});

test('the reader of FETCH tells the sent bytes from others, with fields in front of them', () => {
  const token = tokenOf('letter', 1, 's');
  const bytes = messageOf(token).toString('latin1');
  const response = (text: string) =>
    readMessage(`* 1 FETCH (UID 4 FLAGS (\\Seen \\Recent) MODSEQ (5) BODY[] {${text.length}}\r\n${text})`);
  const { hash, ...shown } = response(`Return-Path: <a@b>\r\n${bytes}`) ?? { hash: '' };
  assert.deepEqual(shown, { uid: 4, token, flags: '\\Seen', modseq: 5, isWhole: true });
  assert.match(hash, /^[0-9a-f]{64}$/);
  assert.equal(response(bytes.replace('Date', 'date'))?.isWhole, false);
});
