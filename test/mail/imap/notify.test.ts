/** Memory sessions answer NOTIFY to the letter as well, and many groups of mailboxes cost little. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGroups, type EventGroup } from '../../../src/mail/imap/notify.ts';
import { createMemoryMail } from '../../support/memory-imap-session.ts';
import { holdNotifyToTheLetter } from './letter-notify.ts';

const memory = createMemoryMail();

holdNotifyToTheLetter({
  openSession: memory.openSession,
  deliver: (mailbox, text, { flags = [] } = {}) => memory.deliver(mailbox, text.toString(), flags),
});

test('a hundred groups of subtrees cost little for names with hundreds of levels', () => {
  const groups = Array.from({ length: 100 }, (_, index): EventGroup => {
    return { filter: { kind: 'subtree', names: [`a${index}`] }, events: ['MailboxName'] };
  });
  const eventsOf = compileGroups(groups);
  const { user, system } = process.cpuUsage();
  for (let index = 0; index < 100; index++) {
    const name = `a${index}${'/x'.repeat(490)}`;
    assert.deepEqual([...eventsOf({ name, isSubscribed: false })], ['MailboxName']);
    assert.equal(eventsOf({ name: `b${name}`, isSubscribed: false }).size, 0);
  }
  const used = process.cpuUsage();
  assert.ok(used.user + used.system - user - system < 1_500_000);
});
