/** The judge of mail that was handed in finds what it is there to find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Receipt } from '../faults/judge.ts';
import { judgeSubmission, type SubmissionFacts } from '../faults/submission/audit.ts';
import {
  filesOf,
  type Mail,
  type MailKind,
  nameOf,
  recipientOf,
  transmissionOf,
} from '../faults/submission/mail.ts';
import { attachmentsIn } from '../faults/submission.ts';

/** Returns a message whose only transmission was answered with 250. */
function mail(kind: MailKind, change: Partial<Mail> = {}): Mail {
  const one = { kind, number: 1 };
  const acknowledged = new Map([[nameOf(one, 1), 'em_1']]);
  return { ...one, hasFile: false, transmissions: 1, acknowledged, refused: new Set(), ...change };
}

/** Returns the same message, handed in twice, of which no answer was read. */
function silent(kind: MailKind): Mail {
  return mail(kind, { transmissions: 2, acknowledged: new Map() });
}

function receipt(one: Mail, change: Partial<Receipt> = {}): Receipt {
  const same = { mailFrom: '', header: '', sha256: 'aa', attachments: filesOf(one), life: 0, atMs: 1_000 };
  return { recipient: recipientOf(one, 1), messageId: `<${nameOf(one, 1)}>`, ...same, ...change };
}

const AWAY = mail('away');
const HERE = mail('here');
const REFUSED = mail('refused');
const APPLICATION = mail('application');
const RECEIPTS = [receipt(AWAY), receipt(APPLICATION)];
const NAME = nameOf(HERE, 1);
const REPORT = 'em_1.1@mail.test';
const mailbox = (...messages: [string, number][]) => ({ messages: new Map(messages), faults: [] });

/** Returns what is wrong with four messages that are in order, but for what is given. */
function faultsOf(change: Partial<SubmissionFacts> = {}): string[] {
  const facts: SubmissionFacts = {
    mail: [AWAY, HERE, REFUSED, APPLICATION],
    receipts: RECEIPTS,
    rows: [{ messageId: NAME, atMs: 1_000 }],
    reader: mailbox([NAME, 1]),
    refusedWriter: mailbox([REPORT, 1]),
    leftRows: 0,
    counted: 3,
    endOfLifeMs: [9_000_000],
  };
  return judgeSubmission({ ...facts, ...change }).faults;
}

test('mail that has arrived once, and a failure that was reported once, are in order', () => {
  assert.deepEqual(faultsOf(), []);
});

test('mail that was answered with 250 and is nowhere is lost', () => {
  assert.deepEqual(faultsOf({ receipts: [receipt(AWAY)] }), ['away: answered with 250, and lost']);
  assert.deepEqual(faultsOf({ rows: [], reader: mailbox(), counted: 2 }), [
    'here: answered with 250, and lost',
  ]);
  assert.deepEqual(faultsOf({ refusedWriter: mailbox(), counted: 2 }), [
    'report: answered with 250, and nobody was told',
  ]);
  assert.deepEqual(faultsOf({ reader: mailbox() }), [
    'here: 1 messages are in the mailbox another number of times than they came',
  ]);
});

test('mail that arrives again is a fault, unless an end of the daemon hit its delivery', () => {
  const again = (atMs: number) => receipt(AWAY, { life: 1, atMs });
  const receipts = [...RECEIPTS, again(2_000)];
  assert.deepEqual(faultsOf({ receipts }), ['away: it came twice, without an end of the daemon in between']);
  assert.deepEqual(faultsOf({ receipts, endOfLifeMs: [1_100] }), []);
  assert.deepEqual(faultsOf({ receipts: [...receipts, again(3_000)], endOfLifeMs: [1_100] }), [
    'away: it came twice, without an end of the daemon in between',
  ]);
  const other = receipt(APPLICATION, { life: 1, messageId: '<other@sender.test>' });
  assert.deepEqual(faultsOf({ receipts: [...RECEIPTS, other], endOfLifeMs: [1_100] }), [
    'away: it came again and was another',
  ]);
  const rows = [1_000, 2_000].map((atMs) => ({ messageId: NAME, atMs }));
  const twice = { rows, reader: mailbox([NAME, 2]) };
  assert.deepEqual(faultsOf(twice), ['here: it came twice, without an end of the daemon in between']);
  assert.deepEqual(faultsOf({ ...twice, endOfLifeMs: [1_100] }), []);
  assert.deepEqual(faultsOf({ reader: mailbox([NAME, 2]) }), [
    'here: 1 messages are in the mailbox another number of times than they came',
  ]);
});

test('what was refused, or was never handed in, must not arrive', () => {
  const refused = (one: Mail) => ({ ...one, acknowledged: new Map(), refused: new Set([nameOf(one, 1)]) });
  assert.deepEqual(faultsOf({ mail: [refused(AWAY), HERE, REFUSED, APPLICATION] }), [
    'away: refused, and sent',
  ]);
  assert.deepEqual(faultsOf({ mail: [AWAY, HERE, REFUSED, refused(APPLICATION)] }), [
    'away: refused, and sent',
  ]);
  assert.deepEqual(faultsOf({ mail: [AWAY, refused(HERE), REFUSED, APPLICATION] }), [
    'here: refused, and sent',
  ]);
  assert.deepEqual(faultsOf({ mail: [AWAY, HERE, refused(REFUSED), APPLICATION] }), [
    'report: about a message that was not taken',
  ]);
  assert.deepEqual(faultsOf({ mail: [HERE, REFUSED, APPLICATION], counted: 2 }), [
    'away: nobody has handed it in',
  ]);
  assert.deepEqual(faultsOf({ mail: [AWAY, REFUSED, APPLICATION], counted: 2 }), ['here: 1 strangers']);
});

test('a message without an answer has arrived or not', () => {
  assert.deepEqual(faultsOf({ mail: [silent('away'), HERE, REFUSED, APPLICATION] }), []);
  assert.deepEqual(faultsOf({ mail: [AWAY, HERE, silent('refused'), APPLICATION] }), []);
  assert.deepEqual(
    faultsOf({
      mail: [silent('away'), HERE, REFUSED, APPLICATION],
      receipts: [receipt(APPLICATION)],
      counted: 2,
    }),
    [],
  );
});

test('a failure that is reported twice, and a key with two emails, are faults', () => {
  assert.deepEqual(faultsOf({ refusedWriter: mailbox([REPORT, 2]) }), ['report: told twice']);
  assert.deepEqual(faultsOf({ refusedWriter: mailbox([REPORT, 1], ['em_1.2@mail.test', 1]), counted: 4 }), [
    'report: told twice',
  ]);
  const names = [1, 2].map((transmission): [string, string] => [
    nameOf(APPLICATION, transmission),
    `em_${transmission}`,
  ]);
  const torn = mail('application', { transmissions: 2, acknowledged: new Map(names) });
  assert.deepEqual(faultsOf({ mail: [AWAY, HERE, REFUSED, torn] }), ['application: one key, several emails']);
});

test('rows that are left, recipients that were counted for no message, and other files are faults', () => {
  assert.deepEqual(faultsOf({ leftRows: 2 }), ['2 rows are left of mail that has ended']);
  assert.deepEqual(faultsOf({ counted: 4 }), ['4 recipients were counted, and 3 messages taken']);
  const withFile = mail('away', { hasFile: true });
  const given = [withFile, HERE, REFUSED, APPLICATION];
  assert.deepEqual(faultsOf({ mail: given }), ['away: its file is another']);
  assert.deepEqual(faultsOf({ mail: given, receipts: [receipt(withFile), receipt(APPLICATION)] }), []);
});

test('the file of a message is found in it, and files differ', () => {
  const [one, other] = [mail('away', { hasFile: true }), mail('away', { hasFile: true, number: 2 })];
  assert.deepEqual(attachmentsIn(Buffer.from(transmissionOf(one, 1).bytes)), filesOf(one));
  assert.notDeepEqual(filesOf(one), filesOf(other));
  assert.deepEqual(attachmentsIn(Buffer.from(transmissionOf(AWAY, 1).bytes)), []);
});
