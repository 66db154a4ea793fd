/** The judge of letters to mailboxes with a script finds what it is there to find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Receipt } from '../faults/judge.ts';
import type { FoundFolder, FoundMessage } from '../faults/mailboxes/audit.ts';
import { judgeScripts, type ScriptFacts } from '../faults/scripts/audit.ts';
import {
  FILED,
  FRIEND,
  type Letter,
  messageIdOf,
  nameOf,
  PHONE,
  senderOf,
} from '../faults/scripts/letter.ts';

function letter(number: number, change: Partial<Letter> = {}): Letter {
  const one = { number, isLarge: false };
  const acknowledged = new Map([[nameOf(one, 1), `in_${number}`]]);
  return { ...one, transmissions: 1, acknowledged, refused: new Set(), ...change };
}

const LETTER = letter(1);
const NAME = nameOf(LETTER, 1);

function receipt(recipient: string, change: Partial<Receipt> = {}): Receipt {
  const same = { mailFrom: '', header: '', sha256: 'aa', attachments: [], life: 0, atMs: 1_000 };
  return { recipient, messageId: '<em_1@sender.test>', ...same, ...change };
}

const REDIRECT = receipt(FRIEND, { messageId: `<${messageIdOf(NAME)}>` });
const subject = (name: string, version = 1) => `From: x\r\nSubject: ${name} version-${version}\r\n`;
const NOTIFICATION = receipt(PHONE, { header: subject(NAME) });
const REPLY = receipt(senderOf(LETTER));

function folder(name: string, change: Partial<FoundMessage> = {}): FoundFolder {
  const flags = `${FILED[name]} version-1`;
  const message = { uid: 1, token: NAME, hash: '', flags, modseq: 1, isWhole: true };
  return { name, uidValidity: 1, uidNext: 2, highestModseq: 1, messages: [{ ...message, ...change }] };
}

/** Returns what is wrong with one letter that is in order, but for what is given. */
function faultsOf(change: Partial<ScriptFacts> = {}): string[] {
  const facts: ScriptFacts = {
    letters: [LETTER],
    received: [messageIdOf(NAME)],
    mailboxes: [[folder('INBOX'), folder('Lists')]],
    receipts: [REDIRECT, NOTIFICATION, REPLY],
    leftRows: 0,
    endOfLifeMs: [9_000_000],
  };
  return judgeScripts({ ...facts, ...change }).faults;
}

test('a letter of which all five actions were done once is in order', () => {
  assert.deepEqual(faultsOf(), []);
});

test('each action that was not done is a fault', () => {
  assert.deepEqual(faultsOf({ receipts: [NOTIFICATION, REPLY] }), ['redirect: it never came']);
  assert.deepEqual(faultsOf({ receipts: [REDIRECT, REPLY] }), ['notification: it never came']);
  assert.deepEqual(faultsOf({ receipts: [REDIRECT, NOTIFICATION] }), ['reply: it never came']);
  assert.deepEqual(faultsOf({ mailboxes: [[folder('INBOX')]] }), ['Lists: it never came']);
  assert.deepEqual(faultsOf({ mailboxes: [[folder('INBOX', { flags: 'version-1' }), folder('Lists')]] }), [
    'INBOX: ',
  ]);
  assert.deepEqual(faultsOf({ mailboxes: [[folder('INBOX', { isWhole: false }), folder('Lists')]] }), [
    'INBOX: the bytes are not those that came',
  ]);
});

test('each action that was done twice is a fault', () => {
  const receipts = [REDIRECT, NOTIFICATION, REPLY];
  const other = { messageId: '<em_2@sender.test>' };
  assert.deepEqual(faultsOf({ receipts: [...receipts, { ...NOTIFICATION, ...other }] }), [
    'notification: 2 were sent',
  ]);
  assert.deepEqual(faultsOf({ receipts: [...receipts, { ...REPLY, ...other }] }), ['reply: 2 were sent']);
  const again = { ...REDIRECT, life: 1, atMs: 2_000 };
  const twice = 'sent: it came twice, without an end of the daemon in between';
  assert.deepEqual(faultsOf({ receipts: [...receipts, again] }), [twice]);
  assert.deepEqual(faultsOf({ receipts: [...receipts, again], endOfLifeMs: [1_100] }), []);
  const changed = { ...again, sha256: 'bb' };
  assert.deepEqual(faultsOf({ receipts: [...receipts, changed], endOfLifeMs: [1_100] }), [
    'sent: it came again and was another',
  ]);
  const [message] = folder('Lists').messages;
  const lists = { ...folder('Lists'), messages: [message, { ...message, uid: 2 }] as FoundMessage[] };
  assert.deepEqual(faultsOf({ mailboxes: [[folder('INBOX'), lists]] }), ['Lists: 2 were sent']);
});

test('actions of one letter that two versions of the script have decided are a fault', () => {
  const fault = ['script: one letter had actions of 2 versions'];
  const later = folder('INBOX', { flags: `${FILED['INBOX']} version-2` });
  assert.deepEqual(faultsOf({ mailboxes: [[later, folder('Lists')]] }), fault);
  const notification = { ...NOTIFICATION, header: subject(NAME, 2) };
  assert.deepEqual(faultsOf({ receipts: [REDIRECT, notification, REPLY] }), fault);
});

test('what was refused, or was never sent, must not have an effect', () => {
  const refused = letter(1, { acknowledged: new Map(), refused: new Set([NAME]) });
  assert.deepEqual(faultsOf({ letters: [refused] }), ['letter: refused, and stored']);
  const empty = { received: [], mailboxes: [[]] };
  assert.deepEqual(faultsOf({ letters: [refused], ...empty, receipts: [REPLY] }), [
    'reply: nothing has led to it',
  ]);
  assert.deepEqual(faultsOf({ letters: [], mailboxes: [[]], receipts: [] }), ['letter: 1 strangers']);
});

test('a letter is stored once when it was answered with 250, and its sender gets one reply for several', () => {
  assert.deepEqual(faultsOf({ received: [], mailboxes: [[]], receipts: [] }), [
    'letter: answered with 250, and lost',
  ]);
  assert.deepEqual(faultsOf({ received: [messageIdOf(NAME), messageIdOf(NAME)] }), ['letter: stored twice']);
  const second = letter(2, { acknowledged: new Map() });
  const name = nameOf(second, 1);
  const both = (where: string): FoundFolder => {
    const one = folder(where);
    const [message] = one.messages;
    return { ...one, messages: [message, { ...message, uid: 2, token: name }] as FoundMessage[] };
  };
  const facts = {
    letters: [LETTER, second],
    received: [messageIdOf(NAME), messageIdOf(name)],
    mailboxes: [[both('INBOX'), both('Lists')]],
  };
  const ofSecond = [
    receipt(FRIEND, { messageId: `<${messageIdOf(name)}>` }),
    receipt(PHONE, { header: subject(name), messageId: '<em_2@sender.test>' }),
  ];
  const receipts = [REDIRECT, NOTIFICATION, REPLY, ...ofSecond];
  assert.deepEqual(faultsOf({ ...facts, receipts }), []);
  const reply = receipt(senderOf(second), { messageId: '<em_3@sender.test>' });
  assert.deepEqual(faultsOf({ ...facts, receipts: [...receipts, reply] }), ['reply: 2 were sent']);
  assert.deepEqual(faultsOf({ leftRows: 1 }), ['1 rows are left of deliveries that have ended']);
});
