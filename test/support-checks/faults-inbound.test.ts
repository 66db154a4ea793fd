/** The judge of received mail finds what it is there to find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type InboundFacts,
  judgeInbound,
  type ReaderState,
  type ReceivedRow,
} from '../faults/inbound/audit.ts';
import { hashOf, type Letter } from '../faults/inbound/letter.ts';

const MESSAGE_ID = 'letter-1.1@author.test';
const READER = {
  emailId: 'em_1',
  address: 'reader-1@dest.test',
  returnPath: 'b+1@bounce.mail.test',
  leaveAddress: 'u+1@bounce.mail.test',
  topicId: 'top_1',
};
const FILE = Buffer.from('a file');

function letter(change: Partial<Letter> = {}): Letter {
  const acknowledged = new Map([[MESSAGE_ID, 'in_1']]);
  const same = { reader: undefined, file: undefined, transmissions: 1, acknowledged };
  return { kind: 'post', name: 'letter-1', ...same, ...change };
}

function row(change: Partial<ReceivedRow> = {}): ReceivedRow {
  return { id: 'in_1', messageId: MESSAGE_ID, taskId: 'tsk_1', state: 'done', tasks: 1, ...change };
}

function post({ taskId = 'tsk_1', id = 'in_1', atMs = 1_000, file = '' } = {}) {
  const attachments = file === '' ? [] : [{ content: Buffer.from(file).toString('base64') }];
  const headers = { 'x-service-delivery': taskId };
  return { headers, body: JSON.stringify({ id, attachments }), receivedAtMs: atMs };
}

const BOUNCED: ReaderState = { status: 'bounced', bounced: 1, complained: 0, suppressed: 1, left: 0 };

function judge(facts: Partial<InboundFacts>) {
  const all = { letters: [letter()], rows: [row()], posts: [post()], readers: new Map(), endOfLifeMs: [] };
  return judgeInbound({ ...all, ...facts });
}

test('a letter that was stored once and posted is in order', () => {
  assert.deepEqual(judge({}), {
    ...{ letters: 1, acknowledged: 1, unanswered: 0, posts: 1, repeatedPosts: 0, faults: [] },
  });
});

test('a 250 without a row, a second row, and a row of nobody are faults', () => {
  assert.deepEqual(judge({ rows: [] }).faults, ['post: answered with 250, and lost']);
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
  const again = judge({ posts: [post(), post({ atMs: 5_000 })], endOfLifeMs: [1_500] });
  assert.deepEqual([again.repeatedPosts, again.faults], [1, []]);
  const fault = ['post: it came twice, without an end of the daemon in between'];
  assert.deepEqual(judge({ posts: [post(), post({ atMs: 5_000 })] }).faults, fault);
  assert.deepEqual(judge({ posts: [post(), post({ atMs: 9_000 })], endOfLifeMs: [8_000] }).faults, fault);
  const renamed = judge({ posts: [post(), post({ taskId: 'tsk_9', atMs: 5_000 })], endOfLifeMs: [1_500] });
  assert.deepEqual(renamed.faults, ['post: it came under another id']);
});

test('a file that is another, or missing, is a fault', () => {
  const letters = [letter({ file: FILE })];
  assert.deepEqual(judge({ letters, posts: [post({ file: 'a file' })] }).faults, []);
  for (const file of ['another', ''])
    assert.deepEqual(judge({ letters, posts: [post({ file })] }).faults, ['post: its file is another']);
  assert.equal(hashOf(FILE).length, 64);
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
