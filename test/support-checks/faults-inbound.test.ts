/** The judge of received mail finds what it is there to find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type InboundFacts,
  judgeInbound,
  type ReaderState,
  type ReceivedRow,
  readPost,
} from '../faults/inbound/audit.ts';
import {
  fileOf,
  isRefused,
  isReturnedSender,
  type Letter,
  OPERATOR_ADDRESS,
  REPORTED_ADDRESS,
  returnedSender,
} from '../faults/inbound/letter.ts';
import type { Receipt } from '../faults/judge.ts';

const MESSAGE_ID = 'letter-1.1@author.test';
const READER = {
  emailId: 'em_1',
  address: 'reader-1@dest.test',
  returnPath: 'b+1@bounce.mail.test',
  leaveAddress: 'u+1@bounce.mail.test',
  topicId: 'top_1',
};
const FILE = fileOf({ number: 1 }).toString('latin1');

function letter(change: Partial<Letter> = {}): Letter {
  const acknowledged = new Map([[MESSAGE_ID, 'in_1']]);
  const same = {
    reader: undefined,
    hasFile: false,
    transmissions: 1,
    acknowledged,
    refused: new Set<string>(),
  };
  return { kind: 'post', number: 1, ...same, ...change };
}

function row(change: Partial<ReceivedRow> = {}): ReceivedRow {
  return {
    id: 'in_1',
    messageId: MESSAGE_ID,
    taskId: 'tsk_1',
    state: 'done',
    tasks: 1,
    atMs: 1_000,
    ...change,
  };
}

function post({ taskId = 'tsk_1', id = 'in_1', life = 0, atMs = 1_000, file = '' } = {}) {
  const attachments = file === '' ? [] : [{ content: Buffer.from(file, 'latin1').toString('base64') }];
  const headers = { 'x-service-delivery': taskId };
  return readPost({ headers, body: JSON.stringify({ id, attachments }), receivedAtMs: atMs }, life);
}

function receipt(change: Partial<Receipt> = {}): Receipt {
  const same = { mailFrom: '', header: '', sha256: 'aa', attachments: [], life: 0, atMs: 1_000 };
  return { recipient: OPERATOR_ADDRESS, messageId: `<${MESSAGE_ID}>`, ...same, ...change };
}

const BOUNCED: ReaderState = { status: 'bounced', bounced: 1, complained: 0, suppressed: 1, left: 0 };

function judge(facts: Partial<InboundFacts>) {
  const all = { letters: [letter()], rows: [row()], posts: [post()], readers: new Map(), endOfLifeMs: [] };
  const others = { localEmails: [], reports: new Map(), sent: 0, receipts: [], dueReports: 0 };
  const mailbox = { messages: new Map(), faults: [] };
  return judgeInbound({ ...all, ...others, mailbox, ...facts });
}

test('a letter that was stored once and posted is in order', () => {
  assert.deepEqual(judge({}), {
    ...{
      letters: 1,
      acknowledged: 1,
      unanswered: 0,
      lost: 0,
      local: 0,
      repeatedLocal: 0,
      posts: 1,
      repeatedPosts: 0,
      delivered: 0,
    },
    ...{ forwards: 0, notifications: 0, sentReports: 0, repeatedMail: 0, unexplained: 0, faults: [] },
  });
});

test('a letter to the mailbox is in it once, and nothing else is', () => {
  const letters = [letter({ kind: 'mailbox' })];
  const judged = (counts: Record<string, number>, faults: string[] = []) =>
    judge({ letters, posts: [], mailbox: { messages: new Map(Object.entries(counts)), faults } });
  assert.deepEqual(judged({ [MESSAGE_ID]: 1 }).faults, []);
  assert.equal(judged({ [MESSAGE_ID]: 1 }).delivered, 1);
  assert.deepEqual(judged({}).faults, ['mailbox: a message is in it 0 times']);
  assert.deepEqual(judged({ [MESSAGE_ID]: 2 }).faults, ['mailbox: a message is in it 2 times']);
  assert.deepEqual(judged({ [MESSAGE_ID]: 1, x: 1 }).faults, ['mailbox: 1 strangers, such as x']);
  assert.deepEqual(judged({ [MESSAGE_ID]: 1 }, ['damaged']).faults, ['damaged']);
});

test('a 250 without a row, a second row, and a row of nobody are faults', () => {
  assert.deepEqual(
    [judge({ rows: [] }).faults, judge({ rows: [] }).lost],
    [['post: answered with 250, and lost'], 1],
  );
  const twice = judge({
    rows: [row(), row({ id: 'in_2', taskId: 'tsk_2' })],
    posts: [post(), post({ id: 'in_2', taskId: 'tsk_2' })],
  });
  assert.deepEqual(twice.faults, [
    'post: one transmission is stored 2 times',
    'post: stored under another id',
  ]);
  const stranger = judge({ rows: [row(), row({ messageId: 'x@elsewhere.test' })] });
  assert.deepEqual(stranger.faults, ['strangers: 1, such as x@elsewhere.test']);
});

test('a letter that was sent again without an answer is two messages, each of which is posted', () => {
  const again = letter({ transmissions: 2, acknowledged: new Map([['letter-1.2@author.test', 'in_2']]) });
  const rows = [row(), row({ id: 'in_2', messageId: 'letter-1.2@author.test', taskId: 'tsk_2' })];
  const posts = [post(), post({ id: 'in_2', taskId: 'tsk_2' })];
  assert.deepEqual(
    [judge({ letters: [again], rows, posts }).faults, judge({ letters: [again], rows, posts }).unanswered],
    [[], 1],
  );
  assert.deepEqual(judge({ letters: [again], rows, posts: posts.slice(1) }).faults, ['post: it never came']);
});

test('tasks that have not ended, have failed, or are missing are faults', () => {
  assert.deepEqual(judge({ rows: [row({ state: 'pending' })] }).faults, ['post: its task is pending']);
  assert.deepEqual(judge({ rows: [row({ state: 'failed' })] }).faults, ['post: its task is failed']);
  assert.deepEqual(judge({ rows: [row({ tasks: 0 })] }).faults, ['post: 0 tasks']);
});

test('a post that comes again is counted after an end that hit it, and is a fault otherwise', () => {
  const later = post({ life: 1, atMs: 5_000 });
  // A post that the daemon has left in a socket is read a moment after its end.
  for (const end of [1_500, 990]) {
    const again = judge({ posts: [post(), later], endOfLifeMs: [end] });
    assert.deepEqual([again.repeatedPosts, again.faults], [1, []]);
  }
  const fault = ['post: it came twice, without an end of the daemon in between'];
  assert.deepEqual(judge({ posts: [post(), post({ atMs: 5_000 })], endOfLifeMs: [1_500] }).faults, fault);
  const late = post({ life: 1, atMs: 9_000 });
  assert.deepEqual(judge({ posts: [post(), late], endOfLifeMs: [8_000] }).faults, fault);
  const renamed = post({ taskId: 'tsk_9', life: 1, atMs: 5_000 });
  assert.deepEqual(judge({ posts: [post(), renamed], endOfLifeMs: [1_500] }).faults, [
    'post: it came under another id',
  ]);
});

test('a file that is another, or missing, is a fault', () => {
  const letters = [letter({ hasFile: true })];
  assert.deepEqual(judge({ letters, posts: [post({ file: FILE })] }).faults, []);
  for (const file of ['another', ''])
    assert.deepEqual(judge({ letters, posts: [post({ file })] }).faults, ['post: its file is another']);
});

test('an answer of a reader changes its email once', () => {
  const letters = [letter({ kind: 'bounce', reader: READER })];
  const judged = (state: Partial<ReaderState>) =>
    judge({ letters, posts: [], readers: new Map([['em_1', { ...BOUNCED, ...state }]]) }).faults.length;
  assert.deepEqual(
    [judged({}), judged({ status: 'delivered' }), judged({ bounced: 2 }), judged({ suppressed: 0 })],
    [0, 1, 1, 1],
  );
  assert.equal(judge({ letters, posts: [] }).faults.length, 1);
});

test('an email to the route is stored and posted, and again only after an end that hit its hand-over', () => {
  const local = (id: string, atMs = 1_000) =>
    row({ id, messageId: 'em_1@sender.test', taskId: `tsk_${id}`, atMs });
  const judged = (rows: ReceivedRow[], endOfLifeMs: number[] = []) => {
    const posts = rows.map(({ id, taskId }) => post({ id, taskId: taskId ?? '' }));
    return judge({ letters: [], localEmails: ['em_1'], rows, posts, endOfLifeMs });
  };
  const once = judged([local('in_1')]);
  assert.deepEqual([once.local, once.unanswered, once.faults], [1, 0, []]);
  assert.deepEqual([judged([]).lost, judged([]).faults], [1, ['local: 1 were accepted, and lost']]);
  const twice = [local('in_2', 5_000), local('in_1')];
  assert.deepEqual([judged(twice, [1_500]).repeatedLocal, judged(twice, [1_500]).faults], [1, []]);
  assert.deepEqual(
    [judged(twice, [4_000]).unexplained, judged(twice).faults],
    [1, ['local: 1 were handed over twice']],
  );
  const unposted = judge({ letters: [], localEmails: ['em_1'], rows: [local('in_1')], posts: [] });
  assert.deepEqual(unposted.faults, ['local: it was never posted']);
});

test('a report is stored once, however often it came', () => {
  const letters = [letter({ kind: 'report' })];
  const judged = (count: number) => {
    const reports = new Map([['letter-1', count]]);
    return judge({ letters, posts: [], reports }).faults;
  };
  assert.deepEqual([judged(1), judged(2)], [[], ['report: it is stored 2 times']]);
  assert.deepEqual(judge({ letters, posts: [] }).faults, ['report: it is stored 0 times']);
});

test('a letter to the postmaster is forwarded once, and again only after an end that hit it', () => {
  const letters = [letter({ kind: 'forward' })];
  const judged = (facts: Partial<InboundFacts>) =>
    judge({ letters, posts: [], sent: 1, receipts: [receipt()], ...facts });
  assert.deepEqual([judged({}).forwards, judged({}).faults], [1, []]);
  assert.deepEqual(judged({ receipts: [] }).faults, ['forward: it never came']);
  assert.deepEqual(judged({ sent: 2 }).unexplained, 1);
  assert.deepEqual(judged({ sent: 2 }).faults, ['the installation has stored 2 messages to send, not 1']);
  const stranger = receipt({ messageId: '<x@elsewhere.test>' });
  assert.deepEqual(judged({ receipts: [receipt(), stranger] }).faults, ['forward: nobody sent the letter']);
  const twice = [receipt(), receipt({ life: 1, atMs: 5_000 })];
  const explained = judged({ receipts: twice, endOfLifeMs: [1_500] });
  assert.deepEqual([explained.repeatedMail, explained.faults], [1, []]);
  const unexplained = judged({ receipts: twice, endOfLifeMs: [4_000] });
  assert.deepEqual(
    [unexplained.unexplained, unexplained.faults],
    [1, ['mail of the installation: it came twice, without an end of the daemon in between']],
  );
  const changed = judged({
    receipts: [receipt(), receipt({ life: 1, atMs: 5_000, sha256: 'bb' })],
    endOfLifeMs: [1_500],
  });
  assert.deepEqual(changed.faults, ['mail of the installation: it came again and was another']);
});

test('the sender of a letter that cannot be forwarded is told once for each stored transmission, and nobody else', () => {
  const sender = returnedSender({ number: 1 });
  const told = (name: string, change: Partial<Receipt> = {}) =>
    receipt({ recipient: sender, messageId: `<${name}@mail.test>`, ...change });
  const letters = [letter({ kind: 'returned' })];
  const judged = (receipts: Receipt[], sent = 2, endOfLifeMs: number[] = []) =>
    judge({ letters, posts: [], receipts, sent, endOfLifeMs });
  const once = judged([told('a')]);
  assert.deepEqual([once.notifications, once.unexplained, once.faults], [1, 0, []]);
  assert.deepEqual(judged([]).faults, ['notification: a sender got 0, not 1']);
  const twice = judged([told('a'), told('b')], 3);
  assert.deepEqual(twice.faults, [
    'the installation has stored 3 messages to send, not 2',
    'notification: a sender got 2, not 1',
  ]);
  assert.equal(twice.unexplained, 2);
  const again = [told('a'), told('a', { life: 1, atMs: 5_000 })];
  assert.deepEqual([judged(again, 2, [1_500]).repeatedMail, judged(again, 2, [1_500]).faults], [1, []]);
  assert.equal(judged(again, 2, [4_000]).unexplained, 1);
  const stranger = told('b', { recipient: returnedSender({ number: 2 }) });
  assert.deepEqual(judged([told('a'), stranger]).faults, ['notification: a sender got 1, not 0']);
  const arrived = judged([told('a'), receipt()]);
  assert.deepEqual(arrived.faults, ['forward: nobody sent the letter']);
});

test('only forwarded mail of senders whose letters come back is refused', () => {
  const sender = returnedSender({ number: 7 });
  const [local, domain] = sender.split('@');
  assert.equal(isReturnedSender(sender), true);
  assert.equal(isRefused(`SRS0=abcd=XY=${domain}=${local}@bounce.mail.test`), true);
  assert.equal(isRefused('SRS0=abcd=XY=author.test=ann@bounce.mail.test'), false);
  assert.equal(isRefused(''), false);
});

test('each report that fell due is sent once', () => {
  const report = (name: string) => receipt({ recipient: REPORTED_ADDRESS, messageId: `<${name}@mail.test>` });
  const judged = (receipts: Receipt[], sent: number) => judge({ receipts, sent, dueReports: 1 });
  assert.deepEqual([judged([report('a')], 1).sentReports, judged([report('a')], 1).faults], [1, []]);
  assert.deepEqual(judged([], 1).faults, ['0 reports came, and 1 fell due']);
  assert.deepEqual(judged([report('a'), report('b')], 2).faults, [
    '2 reports came, and 1 fell due',
    'the installation has stored 2 messages to send, not 1',
  ]);
});
