/**
 * The judges of the fault tests accept facts that are in order, and find each kind of fault that they look for: without
 * this, a judge that finds nothing would pass for a daemon that loses nothing.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareReceipts } from '../faults/broadcast/audit.ts';
import { type InboundFacts, judgeInbound, readPost } from '../faults/inbound/audit.ts';
import { faultsOf, judge, type Receipt } from '../faults/judge.ts';
import {
  adopt,
  type FoundFolder,
  type FoundMessage,
  judgeReading,
  lostLetters,
  nothingTold,
} from '../faults/mailboxes/audit.ts';
import { judgeScripts, type ScriptFacts } from '../faults/scripts/audit.ts';
import { FRIEND, messageIdOf, nameOf as nameOfLetter, PHONE, senderOf } from '../faults/scripts/letter.ts';
import { judgeSubmission, type SubmissionFacts } from '../faults/submission/audit.ts';
import { type MailKind, nameOf, recipientOf } from '../faults/submission/mail.ts';
import { SOON_MS, type Submission } from '../faults/submission.ts';

/** The end of the first life hits what arrived just before it, and nothing else. */
const END = { endOfLifeMs: [1_100, 9_000_000] };
const AGAIN = { life: 1, atMs: 2_000 };

function receipt(change: Partial<Receipt> = {}): Receipt {
  const envelope = { recipient: 'a@dest.test', mailFrom: '', header: '', messageId: '<em_1@sender.test>' };
  return { ...envelope, sha256: 'aa', attachments: [], life: 0, atMs: 1_000, ...change };
}

function email(change: Partial<Submission> = {}): Submission {
  const asked: Submission = {
    idempotencyKey: 'a',
    recipient: 'a@dest.test',
    kind: 'text',
    scheduledAtMs: undefined,
    cancellation: 'none',
    answeredIds: ['em_1'],
  };
  return { ...asked, ...change };
}

/** Returns the faults of an email that the API accepted. */
function ofEmail(receipts: Receipt[], asked = email()): string[] {
  const submitted = new Map([[asked.recipient, asked]]);
  return faultsOf(judge({ acknowledged: [asked], submitted, receipts, ...END }));
}

/** Returns the faults of a broadcast to one contact. */
function ofBroadcast(receipts: Receipt[]): string[] {
  const copy = { broadcastId: 'brd_1', contactId: 'ct_1', state: 'delivered', emailId: 'em_1' };
  return compareReceipts([{ ...copy, address: 'a@dest.test' }], receipts, END.endOfLifeMs).faults;
}

const LETTER_ID = 'letter-1.1@author.test';
const SENT = { transmissions: 1, refused: new Set<string>() };
const letter = {
  ...{ kind: 'post' as const, number: 1, reader: undefined, hasFile: false },
  ...{ ...SENT, acknowledged: new Map([[LETTER_ID, 'in_1']]) },
};
const received = {
  ...{ id: 'in_1', messageId: LETTER_ID, taskId: 'tsk_1', state: 'done', tasks: 1, atMs: 1_000 },
};
const post = ({ life, atMs } = { life: 0, atMs: 1_000 }) =>
  readPost(
    {
      headers: { 'x-service-delivery': 'tsk_1' },
      body: JSON.stringify({ id: 'in_1', attachments: [] }),
      receivedAtMs: atMs,
    },
    life,
  );

/** Returns the faults of a letter to a route, but for what is given. */
function ofLetter(change: Partial<InboundFacts> = {}): string[] {
  const none = { readers: new Map(), localEmails: [], reports: new Map(), receipts: [] };
  const mailbox = { messages: new Map(), faults: [] };
  const facts = { letters: [letter], rows: [received], posts: [post()], sent: 0, dueReports: 0, mailbox };
  return judgeInbound({ ...none, ...facts, ...END, ...change }).faults;
}

function handedIn(kind: MailKind) {
  const one = { kind, number: 1 };
  return { ...one, ...SENT, hasFile: false, acknowledged: new Map([[nameOf(one, 1), 'em_1']]) };
}

const AWAY = handedIn('away');
const HERE = handedIn('here');
const arrived = (change: Partial<Receipt> = {}) =>
  receipt({ recipient: recipientOf(AWAY, 1), messageId: `<${nameOf(AWAY, 1)}>`, ...change });
const mailboxOf = (...messages: [string, number][]) => ({ messages: new Map(messages), faults: [] });

/** Returns the faults of two messages that were handed in, but for what is given. */
function ofSubmission(change: Partial<SubmissionFacts> = {}): string[] {
  const facts: SubmissionFacts = {
    mail: [AWAY, HERE],
    receipts: [arrived()],
    rows: [{ messageId: nameOf(HERE, 1), atMs: 1_000 }],
    reader: mailboxOf([nameOf(HERE, 1), 1]),
    refusedWriter: mailboxOf(),
    leftRows: 0,
    counted: 2,
    ...END,
  };
  return judgeSubmission({ ...facts, ...change }).faults;
}

const SCRIPTED = { number: 1, isLarge: false };
const NAME = nameOfLetter(SCRIPTED, 1);
const REDIRECT = receipt({ recipient: FRIEND, messageId: `<${messageIdOf(NAME)}>` });
const PHONED = receipt({ recipient: PHONE, header: `From: x\r\nSubject: ${NAME} version-1\r\n` });
const REPLY = receipt({ recipient: senderOf(SCRIPTED) });
const filed = (name: string, flags: string): FoundFolder =>
  folder({ name, messages: [message(1, { token: NAME, flags })] });

/** Returns the faults of a letter to a mailbox with a script, but for what is given. */
function ofScript(change: Partial<ScriptFacts> = {}): string[] {
  const facts: ScriptFacts = {
    letters: [{ ...SCRIPTED, ...SENT, acknowledged: new Map([[NAME, 'in_1']]) }],
    received: [messageIdOf(NAME)],
    mailboxes: [[filed('INBOX', '\\Flagged work version-1'), filed('Lists', '\\Seen version-1')]],
    receipts: [REDIRECT, PHONED, REPLY],
    leftRows: 0,
    ...END,
  };
  return judgeScripts({ ...facts, ...change }).faults;
}

function message(uid: number, change: Partial<FoundMessage> = {}): FoundMessage {
  return { uid, token: `append-${uid}`, hash: `${uid}`, flags: '', modseq: uid, isWhole: true, ...change };
}

function folder(change: Partial<FoundFolder> = {}): FoundFolder {
  const numbers = { uidValidity: 7, uidNext: 10, highestModseq: 20 };
  return { name: 'INBOX', ...numbers, messages: [message(1), message(2)], ...change };
}

/** Returns the faults of a folder whose client knows two messages of it. */
function ofFolder(...messages: FoundMessage[]): string[] {
  const told = nothingTold();
  adopt(told, [folder()]);
  return judgeReading(told, [folder({ messages })]).faults;
}

/** Returns what is wrong after a change that got no answer: it is made or not, and nothing in between. */
function afterMove(messages: FoundMessage[], moved: FoundMessage[]): string[] {
  const told = nothingTold();
  const trash = folder({ name: 'Trash', uidValidity: 8, messages: [] });
  adopt(told, [folder(), trash]);
  told.open = { kind: 'move', folder: 'INBOX', uids: [1], to: 'Trash' };
  return judgeReading(told, [folder({ messages }), { ...trash, messages: moved }]).faults;
}

/** Letters that were accepted and never came. */
function lostLetter(): string[] {
  const told = nothingTold();
  told.accepted.add('letter-1');
  return lostLetters(told);
}

const IN_ORDER: Record<string, () => string[]> = {
  'an email': () => ofEmail([receipt()]),
  'an email that arrives again after a kill that hit it': () => ofEmail([receipt(), receipt(AGAIN)]),
  'an email that was canceled': () => ofEmail([], email({ cancellation: 'confirmed' })),
  'a broadcast': () => ofBroadcast([receipt()]),
  'a letter to a route': () => ofLetter(),
  'a post that comes again after a kill that hit it': () => ofLetter({ posts: [post(), post(AGAIN)] }),
  'mail that was handed in': () => ofSubmission(),
  'a letter to a script': () => ofScript(),
  'a folder': () => ofFolder(message(1), message(2)),
  'a change without an answer that was made': () => afterMove([message(2)], [message(1)]),
  'a change without an answer that was not made': () => afterMove([message(1), message(2)], []),
};

for (const [what, faults] of Object.entries(IN_ORDER))
  test(`nothing is wrong with ${what}`, () => assert.deepEqual(faults(), []));

const FAULTS: Record<string, [() => string[], RegExp]> = {
  'an email that never arrived': [() => ofEmail([]), /^lost: 1/],
  'an email that is sent although it was canceled': [
    () => ofEmail([receipt()], email({ cancellation: 'confirmed' })),
    /^uncanceled: 1/,
  ],
  'an email before its time': [
    () => ofEmail([receipt({ atMs: 999 })], email({ kind: 'scheduled', scheduledAtMs: 1_000 + SOON_MS })),
    /^early: 1/,
  ],
  'an email without its file': [() => ofEmail([receipt()], email({ kind: 'attached' })), /^damaged: 1/],
  'an email that came twice in one life': [
    () => ofEmail([receipt(), receipt({ atMs: 1_050 })]),
    /^unexplained: 1/,
  ],
  'an email that came again as another': [
    () => ofEmail([receipt(), receipt({ ...AGAIN, sha256: 'bb' })]),
    /^changed: 1/,
  ],
  'an email that nobody sent': [
    () => ofEmail([receipt(), receipt({ recipient: 'x@dest.test' })]),
    /^strangers: 1/,
  ],
  'a copy that never arrived': [() => ofBroadcast([]), /^lost: 1/],
  'a copy that came again without a reason': [
    () => ofBroadcast([receipt(), receipt({ atMs: 1_050 })]),
    /^unexplained: 1/,
  ],
  'a copy for another contact': [() => ofBroadcast([receipt({ recipient: 'b@dest.test' })]), /^misdirected/],
  'a letter that was taken and is not stored': [() => ofLetter({ rows: [] }), /lost/],
  'a letter that is stored twice': [
    () => ofLetter({ rows: [received, { ...received, id: 'in_2' }] }),
    /stored 2 times/,
  ],
  'a letter that nobody sent': [
    () => ofLetter({ rows: [received, { ...received, messageId: 'x@elsewhere.test' }] }),
    /^strangers: 1/,
  ],
  'a task that has failed': [() => ofLetter({ rows: [{ ...received, state: 'failed' }] }), /task is failed/],
  'a post that never came': [() => ofLetter({ posts: [] }), /never came/],
  'a post that came again without a reason': [
    () => ofLetter({ posts: [post(), post({ life: 0, atMs: 5_000 })] }),
    /came twice/,
  ],
  'a message of a mailbox that is not in it': [
    () => ofLetter({ letters: [{ ...letter, kind: 'mailbox' }], posts: [] }),
    /is in it 0 times/,
  ],
  'a report that fell due and was not sent': [() => ofLetter({ dueReports: 1 }), /1 fell due/],
  'mail that was taken and never arrived': [() => ofSubmission({ receipts: [] }), /^away: .* lost/],
  'mail that is not in the mailbox': [() => ofSubmission({ reader: mailboxOf() }), /^here: 1 messages/],
  'mail that came again without a reason': [
    () => ofSubmission({ receipts: [arrived(), arrived({ atMs: 5_000 })] }),
    /^away: it came twice/,
  ],
  'mail that nobody handed in': [() => ofSubmission({ mail: [HERE], counted: 1 }), /nobody has handed/],
  'rows that are left': [() => ofSubmission({ leftRows: 2 }), /^2 rows are left/],
  'an action of a script that was not done': [
    () => ofScript({ receipts: [PHONED, REPLY] }),
    /^redirect: it never came/,
  ],
  'an action that was done twice': [
    () => ofScript({ receipts: [REDIRECT, PHONED, REPLY, { ...REPLY, messageId: '<em_2@sender.test>' }] }),
    /^reply: 2 were sent/,
  ],
  'an action that came twice in one life': [
    () => ofScript({ receipts: [REDIRECT, PHONED, REPLY, { ...REDIRECT, atMs: 5_000 }] }),
    /came twice/,
  ],
  'actions of two versions of a script': [
    () => ofScript({ receipts: [REDIRECT, { ...PHONED, header: `Subject: ${NAME} version-2\r\n` }, REPLY] }),
    /actions of 2 versions/,
  ],
  'a lost message of a folder': [() => ofFolder(message(1)), /a message is lost/],
  'a message that came back': [() => ofFolder(message(1), message(2), message(3)), /should not be/],
  'other flags': [() => ofFolder(message(1, { flags: '\\Seen' }), message(2)), /has "\\Seen"/],
  'other bytes under the same UID': [() => ofFolder(message(1, { hash: 'x' }), message(2)), /other bytes/],
  'a MODSEQ that went back': [() => ofFolder(message(1, { modseq: 0 }), message(2)), /MODSEQ .* back/],
  'a change that was made in part': [() => afterMove([message(2)], []), /./],
  'a letter that was accepted and never came': [lostLetter, /letter-1/],
};

for (const [what, [faults, expected]] of Object.entries(FAULTS))
  test(`this is a fault: ${what}`, () => assert.match(faults().join('\n'), expected));
