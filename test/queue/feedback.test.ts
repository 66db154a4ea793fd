import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { createLinks } from '../../src/links/links.ts';
import type { Notice } from '../../src/mail/dsn/notice.ts';
import {
  type FeedbackResult,
  type ReturnedBounce,
  type ReturnedComplaint,
  storeBounce,
  storeComplaint,
} from '../../src/queue/feedback.ts';
import {
  bounceLocalPart,
  complaintLocalPart,
  feedbackLoopLocalPart,
  returnAddressKeyOf,
} from '../../src/queue/return-path.ts';
import { recoverQueue } from '../../src/queue/worker.ts';
import { newId } from '../../src/system/ids.ts';
import { openCampaign } from '../broadcasts/sending/campaign.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { PACKAGED } from '../support/spool.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
let names = 0;

const campaign = await openCampaign();
after(() => campaign[Symbol.asyncDispose]());

const appOf = () => {
  const { app } = campaign.spool;
  return { ...app, replies: PACKAGED, returnAddressKey: returnAddressKeyOf(app), links: createLinks(app) };
};

/** Returns an address at which mail is received. */
const newReader = () => `reader${++names}@readers.example`;

/** Sends an email to these addresses, which is delivered. */
async function deliver(to: string[], more = {}): Promise<string> {
  const id = await campaign.spool.accept(to, more);
  await campaign.spool.deliverDue();
  return id;
}

const FAILED: Notice = {
  ...{ form: 'structured', action: 'failed', status: '5.1.1', originalRecipient: null, finalRecipient: null },
  ...{
    diagnosticCode: '550 5.1.1 User unknown',
    explanation: null,
    remoteMta: 'mx.other.example',
    willRetryUntil: null,
  },
};

type Sent = Partial<Omit<ReturnedBounce, 'notices'>> & { emailId?: string; attemptedAt?: number };

/** Lets a bounce arrive at the return path of an email. */
function bounce(sent: Sent, ...notices: Partial<Notice>[]): Promise<FeedbackResult> {
  const app = appOf();
  const { emailId = '', attemptedAt = campaign.spool.clock.now(), ...given } = sent;
  return storeBounce(app, {
    sender: '',
    localPart: bounceLocalPart(app.returnAddressKey, { emailId, attemptedAt }),
    arrivedAt: campaign.spool.clock.now(),
    notices: notices.map((notice) => ({ ...FAILED, ...notice })),
    ...given,
  });
}

type Complained = Partial<ReturnedComplaint> & { emailId?: string; position?: number };

/** Lets a complaint arrive at the address of an email. */
function complain(sent: Complained): Promise<FeedbackResult> {
  const app = appOf();
  const { emailId = '', position, ...given } = sent;
  return storeComplaint(app, {
    localPart: complaintLocalPart(app.returnAddressKey, { emailId, position }),
    arrivedAt: campaign.spool.clock.now(),
    isSigned: true,
    feedbackType: 'abuse',
    userAgent: 'Provider FBL/1.0',
    originalRecipients: [],
    fields: [],
    ...given,
  });
}

const STORED = { kind: 'stored' };
const ignored = (reason: string) => ({ kind: 'ignored', reason });

async function eventsOf(emailId: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const rows = await campaign.spool.app.db.read
    .selectFrom('events')
    .select(['type', 'data'])
    .where('emailId', '=', emailId)
    .orderBy('id')
    .execute();
  return rows.map(({ type, data }) => ({ type, data: JSON.parse(data) }));
}

async function lastEventOf(emailId: string) {
  const last = (await eventsOf(emailId)).at(-1);
  assert.ok(last);
  return last;
}

/** Returns the statuses of the recipients of an email. */
async function statusesOf(emailId: string): Promise<string[]> {
  const { recipients } = await campaign.spool.email(emailId);
  return recipients.map((recipient: { status: string }) => recipient.status);
}

async function suppressionOf(address: string) {
  const { body } = await campaign.spool.request('GET', `/v1/suppressions?email=${address}`, {
    key: campaign.spool.liveKey,
  });
  return body.data[0];
}

/** Counts the rows of every table that feedback may write. */
async function countRows(): Promise<unknown> {
  const { read } = campaign.spool.app.db;
  const count = (table: 'events' | 'suppressions' | 'counts') =>
    read
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirst();
  const states = await read.selectFrom('recipients').select(['id', 'state', 'lastEventAt']).execute();
  return [await count('events'), await count('suppressions'), await count('counts'), states];
}

test('a bounce of an unknown mailbox turns a delivered recipient bounced and suppresses the address', async () => {
  const to = newReader();
  const id = await deliver([to]);
  assert.equal((await campaign.spool.email(id)).status, 'delivered');
  assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: to }), STORED);
  const email = await campaign.spool.email(id);
  assert.equal(email.status, 'bounced');
  const { status, smtpCode, enhancedCode, diagnostic } = email.recipients[0];
  assert.deepEqual(
    [status, smtpCode, enhancedCode, diagnostic],
    ['bounced', 550, '5.1.1', '550 5.1.1 User unknown'],
  );
  assert.deepEqual(await lastEventOf(id), {
    type: 'email.bounced',
    data: {
      to,
      bounce: {
        ...{ type: 'permanent', subType: 'NoEmail', class: 'bad-mailbox' },
        advice: 'The mailbox does not exist. Remove the address from your lists.',
        ...{ smtpCode: 550, enhancedCode: '5.1.1' },
        ...{ diagnostic: '550 5.1.1 User unknown', source: 'dsn' },
      },
    },
  });
  const { reason, sourceEmailId } = await suppressionOf(to);
  assert.deepEqual([reason, sourceEmailId], ['bounce', id]);
});

test('only what machines report about the mailbox itself suppresses', async () => {
  const cases: [Partial<Notice>, string][] = [
    [{ status: '5.2.2', diagnosticCode: '552 5.2.2 Over quota' }, 'transient'],
    [{ status: '4.4.7', diagnosticCode: 'Expired' }, 'transient'],
    [{ status: '5.7.1', diagnosticCode: '554 5.7.1 Blocked' }, 'undetermined'],
    // Some servers call every refusal an unknown user.
    [{ status: '5.1.1', diagnosticCode: '550 5.7.1 Blocked' }, 'undetermined'],
    [{ status: '5.1.0', diagnosticCode: '550 5.1.0 <b@bounce.example> sender rejected.' }, 'undetermined'],
    [{ status: '5.1.1', diagnosticCode: '550 5.1.1 sent to too many recipients this hour' }, 'transient'],
    [
      { status: '5.4.1', diagnosticCode: '550 5.4.1 Recipient address rejected: Access denied' },
      'undetermined',
    ],
    [{ form: 'text', diagnosticCode: '550 5.1.1 User unknown' }, 'undetermined'],
  ];
  for (const [notice, type] of cases) {
    const to = newReader();
    const id = await deliver([to]);
    assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: to, ...notice }), STORED);
    const { bounce: shown } = (await lastEventOf(id)).data as { bounce: { type: string } };
    assert.equal(shown.type, type, JSON.stringify(notice));
    assert.equal(await suppressionOf(to), undefined, JSON.stringify(notice));
  }
});

const LIKELY = {
  status: '5.4.1',
  diagnosticCode: '550 5.4.1 Recipient address rejected: Access denied',
} as const;

/** Delivers an email to the address, and lets a bounce of it arrive. Returns the type of the bounce. */
async function bounceOnce(to: string, notice: Partial<Notice> = LIKELY): Promise<string> {
  const id = await deliver([to]);
  assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: to, ...notice }), STORED);
  return ((await lastEventOf(id)).data as { bounce: { type: string } }).bounce.type;
}

test('a likely bad address is suppressed by bounces on two distinct days', async () => {
  const { clock } = campaign.spool;
  const to = newReader();
  assert.deepEqual([await bounceOnce(to), await bounceOnce(to)], ['undetermined', 'undetermined']);
  assert.equal(await suppressionOf(to), undefined);
  await clock.advance(DAY_MS);
  assert.equal(await bounceOnce(to), 'permanent');
  assert.equal((await suppressionOf(to)).reason, 'bounce');
});

test('a delivery between two bounces clears the first one, unless it bounces itself', async () => {
  const { clock } = campaign.spool;
  const to = newReader();
  assert.equal(await bounceOnce(to), 'undetermined');
  await clock.advance(HOUR_MS);
  await deliver([to]);
  await clock.advance(DAY_MS);
  assert.equal(await bounceOnce(to), 'undetermined');
  assert.equal(await suppressionOf(to), undefined);
  await clock.advance(DAY_MS);
  // A server that takes everything may bounce the other message of this minute, too.
  await deliver([to]);
  assert.equal(await bounceOnce(to), 'permanent');
});

test('bounces that lie more than 30 days apart do not add up', async () => {
  const { clock } = campaign.spool;
  const to = newReader();
  assert.equal(await bounceOnce(to), 'undetermined');
  await clock.advance(31 * DAY_MS);
  assert.equal(await bounceOnce(to), 'undetermined');
  await clock.advance(30 * DAY_MS);
  assert.equal(await bounceOnce(to), 'permanent');
});

test('the address that the sender gave counts when the mail was forwarded', async () => {
  const to = newReader();
  const id = await deliver([to]);
  const notice = { finalRecipient: 'other@elsewhere.example', originalRecipient: to.toUpperCase() };
  assert.deepEqual(await bounce({ emailId: id }, notice), STORED);
  assert.equal((await campaign.spool.email(id)).status, 'bounced');
});

test('each recipient has one verdict, and the others keep theirs', async () => {
  const [one, two] = [newReader(), newReader()];
  const id = await deliver([one, two]);
  assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: one }), STORED);
  const before = await countRows();
  const again = { finalRecipient: one, status: '5.7.1', diagnosticCode: '550 5.7.1 Blocked' };
  assert.deepEqual(await bounce({ emailId: id }, again), ignored('recipient'));
  assert.deepEqual(
    await complain({ emailId: id, originalRecipients: [one] }),
    ignored('recipient'),
    'a bounced recipient has got nothing to complain about',
  );
  assert.deepEqual(await countRows(), before);
  const { status, recipients } = await campaign.spool.email(id);
  assert.deepEqual(
    [status, ...recipients.map((recipient: { status: string }) => recipient.status)],
    ['delivered', 'bounced', 'delivered'],
  );
});

test('a bounce with a sender, an unknown token, an old attempt or a foreign recipient changes nothing', async () => {
  const { clock } = campaign.spool;
  const to = newReader();
  const id = await deliver([to]);
  const other = await deliver([newReader()]);
  const before = await countRows();
  const now = clock.now();
  const notice = { finalRecipient: to };
  const complaint = complaintLocalPart(appOf().returnAddressKey, { emailId: id, position: 0 });
  const foreign = bounceLocalPart(createSecretKey(Buffer.alloc(32, 7)), { emailId: id, attemptedAt: now });
  const cases: [Sent, Partial<Notice>[], string][] = [
    [{ emailId: id, sender: 'bob@readers.example' }, [notice], 'sender'],
    [{ localPart: complaint }, [notice], 'address'],
    [{ localPart: foreign }, [notice], 'address'],
    [{ localPart: '' }, [notice], 'address'],
    [{ emailId: id, attemptedAt: now - 15 * DAY_MS }, [notice], 'age'],
    [{ emailId: newId('em', now) }, [notice], 'email'],
    [{ emailId: other }, [notice], 'recipient'],
    [{ emailId: id }, [{ finalRecipient: 'eve@readers.example' }], 'recipient'],
    [{ emailId: id }, [{ finalRecipient: null }], 'recipient'],
    [{ emailId: id }, [{ ...notice, action: 'delivered' }], 'recipient'],
    [{ emailId: id }, [{ ...notice, action: 'relayed' }], 'recipient'],
    [{ emailId: id }, [{ ...notice, action: 'expanded' }], 'recipient'],
    [{ emailId: id }, [], 'recipient'],
  ];
  for (const [sent, notices, reason] of cases)
    assert.deepEqual(await bounce(sent, ...notices), ignored(reason), JSON.stringify([sent, notices]));
  assert.deepEqual(await countRows(), before);
  assert.deepEqual(await bounce({ emailId: id, attemptedAt: now - 14 * DAY_MS }, notice), STORED);
});

test('mail of test keys takes no feedback, since it was never sent', async () => {
  const { testKey } = campaign.spool;
  const to = newReader();
  const id = await deliver([to], { key: testKey, from: 'Ada <ada@sandbox.mx.postrider.example>' });
  const before = await countRows();
  assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: to }), ignored('email'));
  assert.deepEqual(await complain({ emailId: id }), ignored('email'));
  assert.deepEqual(await countRows(), before);
});

test('a refusal at once is never overridden, and mail that is still in flight waits', async () => {
  const { spool } = campaign;
  spool.addZone('nowhere.example MX 0 .');
  const refused = await deliver(['bob@nowhere.example']);
  assert.equal((await spool.email(refused)).status, 'bounced');
  const before = await countRows();
  const again = { finalRecipient: 'bob@nowhere.example', status: '5.7.1' };
  assert.deepEqual(await bounce({ emailId: refused }, again), ignored('recipient'));
  assert.deepEqual(await countRows(), before);

  const to = newReader();
  const id = await spool.accept([to]);
  assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: to }), ignored('recipient'));
  const [claim] = await spool.claim('another run');
  assert.equal(claim?.message.id, id);
  assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: to }), { kind: 'waiting' });
  assert.deepEqual(await complain({ emailId: id }), { kind: 'waiting' });
  assert.equal((await spool.recipient(id)).status, 'sent');
  await recoverQueue(spool.app);
  await spool.clock.advance(10_000);
  await spool.deliverDue();
  assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: to }), STORED);
});

test('a delay that is reported later is an event, at most one in four hours, and the recipient stays delivered', async () => {
  const { clock } = campaign.spool;
  const to = newReader();
  const id = await deliver([to]);
  const willRetryUntil = clock.now() + 5 * DAY_MS;
  const delayed = { finalRecipient: to, action: 'delayed', status: '4.4.1', willRetryUntil } as const;
  assert.deepEqual(await bounce({ emailId: id }, delayed), STORED);
  const { type, data } = await lastEventOf(id);
  assert.equal(type, 'email.delivery_delayed');
  assert.deepEqual(data['delay'], {
    ...{ diagnostic: '550 5.1.1 User unknown', attempt: 1, nextAttemptAt: null },
    class: 'bad-mailbox',
    advice: 'The mailbox does not exist. Remove the address from your lists.',
    expiresAt: new Date(willRetryUntil).toISOString(),
  });
  const count = (await eventsOf(id)).length;
  await bounce({ emailId: id }, delayed);
  assert.equal((await eventsOf(id)).length, count);
  await clock.advance(4 * HOUR_MS);
  await bounce({ emailId: id }, delayed);
  assert.equal((await eventsOf(id)).length, count + 1);
  assert.equal((await campaign.spool.email(id)).status, 'delivered');
  assert.equal(await suppressionOf(to), undefined);
  assert.deepEqual(await bounce({ emailId: id }, delayed, { finalRecipient: to }), STORED);
  assert.equal((await campaign.spool.email(id)).status, 'bounced', 'the failure counts, not the delay');
});

test('a complaint turns the recipient complained and suppresses the address', async () => {
  const to = newReader();
  const id = await deliver([to]);
  const arrivedAt = campaign.spool.clock.now();
  assert.deepEqual(await complain({ emailId: id, userAgent: 'Provider\u202e FBL' }), STORED);
  assert.equal((await campaign.spool.email(id)).status, 'complained');
  assert.deepEqual(await lastEventOf(id), {
    type: 'email.complained',
    data: {
      to,
      complaint: {
        ...{ feedbackType: 'abuse', userAgent: 'Provider FBL' },
        arrivedAt: new Date(arrivedAt).toISOString(),
        class: 'complaint',
        advice: 'The reader reported the message as spam. Do not write to this address again.',
      },
    },
  });
  const { reason, diagnostic } = await suppressionOf(to);
  assert.deepEqual([reason, diagnostic], ['complaint', 'Feedback report: abuse (Provider FBL)']);
  const before = await countRows();
  assert.deepEqual(await complain({ emailId: id }), ignored('recipient'));
  assert.deepEqual(await bounce({ emailId: id }, { finalRecipient: to }), ignored('recipient'));
  assert.deepEqual(await countRows(), before);
});

test('a complaint without a signature, a good address, or a type that is a complaint changes nothing', async () => {
  const id = await deliver([newReader()]);
  const before = await countRows();
  const now = campaign.spool.clock.now();
  const bounceAddress = bounceLocalPart(appOf().returnAddressKey, { emailId: id, attemptedAt: now });
  const cases: [Complained, string][] = [
    [{ emailId: id, isSigned: false }, 'unsigned'],
    [{ localPart: bounceAddress }, 'address'],
    [{ localPart: 'c+0' }, 'address'],
    [{ emailId: id, feedbackType: 'not-spam' }, 'type'],
    [{ emailId: id, feedbackType: 'other' }, 'type'],
    [{ emailId: id, feedbackType: 'constructor' }, 'type'],
    [{ emailId: newId('em', now) }, 'email'],
    [{ emailId: id, position: 1 }, 'recipient'],
  ];
  for (const [sent, reason] of cases)
    assert.deepEqual(await complain(sent), ignored(reason), JSON.stringify(sent));
  assert.deepEqual(await countRows(), before);
});

test('a complaint about mail to several needs the name of the recipient, or an address of their own', async () => {
  const [one, two] = [newReader(), newReader()];
  const id = await deliver([one, two]);
  assert.deepEqual(await complain({ emailId: id }), ignored('recipient'));
  assert.deepEqual(
    await complain({ emailId: id, originalRecipients: ['<x@readers.example>'] }),
    ignored('recipient'),
  );
  assert.deepEqual(await complain({ emailId: id, originalRecipients: [`<${two}>`] }), STORED);
  assert.deepEqual(await complain({ emailId: id, position: 0 }), STORED);
  assert.deepEqual(await statusesOf(id), ['complained', 'complained']);
});

/** Lets a complaint arrive at the address that is registered with a provider, with these fields of the message. */
function complainToLoop(fields: Record<string, string>): Promise<FeedbackResult> {
  return complain({
    localPart: feedbackLoopLocalPart(appOf().returnAddressKey, 'yahoo'),
    fields: Object.entries(fields).map(([name, value]) => ({ name, value })),
  });
}

test('at a registered address, a token in the message that is returned names the email', async () => {
  const { returnAddressKey } = appOf();
  const attemptedAt = campaign.spool.clock.now() - 100 * DAY_MS;
  for (const tokenIn of ['return-path', 'original-mail-from', 'x-forwarded', 'cfbl-feedback-id']) {
    const id = await deliver([newReader()]);
    const token =
      tokenIn === 'cfbl-feedback-id'
        ? complaintLocalPart(returnAddressKey, { emailId: id, position: 0 })
        : bounceLocalPart(returnAddressKey, { emailId: id, attemptedAt });
    assert.deepEqual(await complainToLoop({ [tokenIn]: `<${token}@bounce.example>` }), STORED, tokenIn);
    assert.equal((await campaign.spool.email(id)).status, 'complained');
  }
});

test('the operator is shown the address to register with a provider', async () => {
  const { app } = campaign.spool;
  const control = await openControlSocket(app);
  const show = async (provider: string) => {
    const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: campaign.spool.dataDir });
    const code = await runProgram(['queue', 'feedback-address', provider], terminal);
    return { code, output: terminal.output, errors: terminal.errors };
  };
  const { code, output } = await show('yahoo');
  const local = feedbackLoopLocalPart(returnAddressKeyOf(app), 'yahoo');
  assert.deepEqual([code, output.trim()], [0, `${local}@bounce.mx.postrider.example`]);
  const refused = await show('Not a name');
  assert.notEqual(refused.code, 0);
  assert.match(refused.errors, /1 to 20 of a-z/);
  await control.close();
});

test('without a token of the email, its Message-ID counts with the link to unsubscribe of the same reader', async () => {
  const { links } = appOf();
  const { tenantId } = campaign.spool;
  const [to, other] = [newReader(), newReader()];
  const id = await deliver([to, other]);
  const before = await countRows();
  const link = (address: string, owner: string = tenantId) => {
    const subscription = { topicId: undefined, contactId: undefined, address };
    return `<${links.unsubscribeUrl({ ...subscription, tenantId: owner as `ten_${string}` })}>`;
  };
  const messageId = `<${id}@sender.example>`;
  const cases: [Record<string, string>, string][] = [
    [{ 'message-id': messageId }, 'token'],
    [{ 'list-unsubscribe': link(to) }, 'token'],
    [{ 'message-id': messageId, 'list-unsubscribe': link(to).replace(/.{4}>$/, 'AAAA>') }, 'token'],
    [{ 'message-id': messageId, 'list-unsubscribe': link('eve@readers.example') }, 'recipient'],
    [{ 'message-id': messageId, 'list-unsubscribe': link(to, newId('ten', 0)) }, 'recipient'],
  ];
  for (const [fields, reason] of cases)
    assert.deepEqual(await complainToLoop(fields), ignored(reason), JSON.stringify(fields));
  assert.deepEqual(await countRows(), before);
  assert.deepEqual(
    await complainToLoop({ 'message-id': messageId, 'list-unsubscribe': link(other) }),
    STORED,
  );
  assert.deepEqual(await statusesOf(id), ['delivered', 'complained']);
});

test('at a registered address, the Message-ID counts for the reader whom the report names', async () => {
  const [to, other] = [newReader(), newReader()];
  const id = await deliver([to, other]);
  const complainAbout = (localPart: string, originalRecipients: string[]) =>
    complain({
      localPart,
      originalRecipients,
      fields: [{ name: 'message-id', value: `<${id}@sender.example>` }],
    });
  const registered = feedbackLoopLocalPart(appOf().returnAddressKey, 'microsoft');
  const forged = feedbackLoopLocalPart(createSecretKey(Buffer.alloc(32, 7)), 'microsoft');
  assert.deepEqual(await complainAbout(forged, [other]), ignored('address'));
  assert.deepEqual(await complainAbout(registered, ['eve@readers.example']), ignored('recipient'));
  assert.deepEqual(await complainAbout(registered, [other]), STORED);
  assert.deepEqual(await statusesOf(id), ['delivered', 'complained']);
  const only = await deliver([newReader()]);
  const fields = [{ name: 'message-id', value: `<${only}@sender.example>` }];
  const unknown = { localPart: registered, originalRecipients: ['eve@readers.example'], fields };
  assert.deepEqual(await complain(unknown), ignored('recipient'), 'the only recipient is not named');
});

test('a text at the return path of one recipient is about this one, and suppresses nobody it does not name', async () => {
  const text = { form: 'text', status: '5.1.1' } as const;
  for (const finalRecipient of [null, 'forwarded@elsewhere.example']) {
    const to = newReader();
    const id = await deliver([to]);
    assert.deepEqual(await bounce({ emailId: id }, { ...text, finalRecipient }), STORED);
    assert.equal((await campaign.spool.email(id)).status, 'bounced');
    const { bounce: shown } = (await lastEventOf(id)).data as { bounce: { type: string } };
    assert.equal(shown.type, 'undetermined');
    assert.equal(await suppressionOf(to), undefined);
  }
  const several = await deliver([newReader(), newReader()]);
  assert.deepEqual(await bounce({ emailId: several }, { ...text }), ignored('recipient'));
});

test('bounces and complaints count for the metrics and for the ledger of their broadcast', async () => {
  const addresses = [newReader(), newReader(), newReader()];
  for (const address of addresses) await campaign.addContact(address);
  const broadcastId = await campaign.draft();
  assert.equal((await campaign.act(broadcastId, 'send')).status, 200);
  await campaign.work();
  await campaign.spool.deliverDue();
  assert.equal((await campaign.show(broadcastId)).counts.delivered, 3);
  const copies = await campaign.spool.app.db.read
    .selectFrom('broadcastRecipients')
    .select(['emailId', 'address'])
    .where('broadcastId', '=', broadcastId as `brd_${string}`)
    .execute();
  const copyOf = (address: string | undefined) =>
    copies.find((copy) => copy.address === address)?.emailId ?? '';
  const [bounced = '', complained] = addresses;
  assert.deepEqual(await bounce({ emailId: copyOf(bounced) }, { finalRecipient: bounced }), STORED);
  assert.deepEqual(await complain({ emailId: copyOf(complained), position: 0 }), STORED);
  const { counts } = await campaign.show(broadcastId);
  assert.deepEqual([counts.delivered, counts.bounced, counts.complained], [2, 1, 1]);
  const counted = await campaign.spool.app.db.read
    .selectFrom('broadcastCounts')
    .select(['sent', 'bouncedPermanently', 'complained'])
    .where('broadcastId', '=', broadcastId as `brd_${string}`)
    .executeTakeFirst();
  assert.deepEqual(
    counted,
    { sent: 3, bouncedPermanently: 1, complained: 1 },
    'the automatic pause evaluates these',
  );
  const counters = await campaign.spool.app.db.read
    .selectFrom('counts')
    .select(['delivered', 'bouncedPermanent', 'complained'])
    .where('broadcastId', '=', broadcastId as `brd_${string}`)
    .where('span', '=', 'day')
    .executeTakeFirst();
  assert.deepEqual(counters, { delivered: 3, bouncedPermanent: 1, complained: 1 });
});
