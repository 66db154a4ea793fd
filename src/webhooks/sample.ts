/** Sample data for test posts, in the shape of real events. */
import { forTextFields, TEXT_FIELDS } from '../audiences/contacts/text-fields.ts';
import type { EventType } from '../events/store.ts';
import { isoTime } from '../system/clock.ts';

const MINUTE_MS = 60_000;
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
/** An address of a range that is reserved for documentation. */
const ADDRESS = '192.0.2.1';
const RECIPIENT = 'recipient@example.org';
/** The part after the prefix of an id that does not exist. */
const UNUSED_ID = '00000000000000000000000000';

type EmailEventType = Exclude<Extract<EventType, `email.${string}`>, 'email.received'>;

/** Returns the `data` of a sample event. */
export function sampleData(type: EventType, nowMs: number): object {
  switch (type) {
    case 'domain.verified':
    case 'domain.failed':
      return { domainId: `dom_${UNUSED_ID}`, name: 'example.com', status: type.slice('domain.'.length) };
    case 'contact.created':
    case 'contact.updated':
    case 'contact.deleted':
    case 'contact.unsubscribed':
      return sampleContact(type === 'contact.unsubscribed', nowMs);
    case 'suppression.added':
    case 'suppression.removed':
      return sampleSuppression(nowMs);
    case 'broadcast.sent':
    case 'broadcast.paused':
    case 'broadcast.failed':
      return sampleBroadcast(type, nowMs);
    case 'approval.requested':
    case 'approval.approved':
    case 'approval.declined':
    case 'approval.expired':
    case 'approval.withdrawn':
      return sampleApproval(type, nowMs);
    case 'email.received':
      return sampleReceived(nowMs);
    default:
      return sampleEmail(type, nowMs);
  }
}

function sampleContact(unsubscribed: boolean, nowMs: number): object {
  return {
    id: `ct_${UNUSED_ID}`,
    audienceId: `aud_${UNUSED_ID}`,
    email: RECIPIENT,
    ...forTextFields((name) => TEXT_FIELDS[name].example),
    unsubscribed,
    unsubscribedAt: unsubscribed ? isoTime(nowMs) : null,
    properties: { plan: 'sample' },
    topics: [{ id: `top_${UNUSED_ID}`, subscription: 'opt_in' }],
    status: unsubscribed ? 'unsubscribed' : 'subscribed',
    consent: null,
    confirmation: null,
    createdAt: isoTime(nowMs - MINUTE_MS),
    updatedAt: isoTime(nowMs),
  };
}

function sampleReceived(nowMs: number): object {
  return {
    id: `in_${UNUSED_ID}`,
    sender: 'reader@example.org',
    to: 'support@example.com',
    recipients: ['support@example.com'],
    from: 'reader@example.org',
    subject: 'A sample',
    messageId: '<sample@example.org>',
    emailId: null,
    sizeBytes: 1_234,
    auth: { spf: 'pass', dkim: 'pass', dmarc: 'pass' },
    flagged: false,
    createdAt: isoTime(nowMs),
  };
}

function sampleSuppression(nowMs: number): object {
  return {
    id: `sup_${UNUSED_ID}`,
    email: RECIPIENT,
    reason: 'manual',
    sourceEmailId: null,
    diagnostic: null,
    createdAt: isoTime(nowMs - MINUTE_MS),
  };
}

const SAMPLE_COUNTS = { recipients: 100, waiting: 0, queued: 0, delivered: 97, bounced: 1, suppressed: 1 };
const OTHER_COUNTS = { optedOut: 1, canceled: 0, failed: 0, sent: 98, complained: 0, unsubscribed: 0 };
const TRACKED_COUNTS = { opened: 60, uniqueOpened: 40, clicked: 12, uniqueClicked: 10 };

function sampleBroadcast(type: Extract<EventType, `broadcast.${string}`>, nowMs: number): object {
  const hasStarted = type !== 'broadcast.failed';
  const counts = { ...SAMPLE_COUNTS, ...OTHER_COUNTS, ...TRACKED_COUNTS };
  return {
    id: `brd_${UNUSED_ID}`,
    status: type.slice('broadcast.'.length),
    audienceId: `aud_${UNUSED_ID}`,
    segmentId: null,
    from: 'sender@example.com',
    subject: 'A sample',
    replyTo: null,
    topicId: `top_${UNUSED_ID}`,
    templateId: null,
    scheduleAt: isoTime(nowMs - MINUTE_MS),
    pace: null,
    pausedReason: type === 'broadcast.paused' ? 'manual' : null,
    failure: hasStarted ? null : 'The domain example.com is not verified',
    approval: null,
    startedAt: hasStarted ? isoTime(nowMs - MINUTE_MS) : null,
    sentAt: type === 'broadcast.sent' ? isoTime(nowMs) : null,
    counts: hasStarted ? counts : Object.fromEntries(Object.keys(counts).map((name) => [name, 0])),
    createdAt: isoTime(nowMs - 2 * MINUTE_MS),
    updatedAt: isoTime(nowMs),
  };
}

function sampleApproval(type: Extract<EventType, `approval.${string}`>, nowMs: number): object {
  const isPending = type === 'approval.requested';
  const isDecided = type === 'approval.approved' || type === 'approval.declined';
  return {
    id: `apr_${UNUSED_ID}`,
    kind: 'broadcast',
    emailId: null,
    broadcastId: `brd_${UNUSED_ID}`,
    state: isPending ? 'pending' : type.slice('approval.'.length),
    hash: '0'.repeat(64),
    expiresAt: isoTime(nowMs + 72 * 60 * MINUTE_MS),
    decidedAt: isPending ? null : isoTime(nowMs),
    reason: type === 'approval.declined' ? 'A sample' : null,
    keyId: `key_${UNUSED_ID}`,
    from: 'sender@example.com',
    subject: 'A sample',
    sendAt: null,
    decidedBy: isDecided ? `key_${UNUSED_ID}` : null,
    createdAt: isoTime(nowMs - MINUTE_MS),
  };
}

function sampleEmail(type: EmailEventType, nowMs: number): object {
  return {
    emailId: `em_${UNUSED_ID}`,
    to: RECIPIENT,
    from: 'sender@example.com',
    subject: 'A sample',
    messageId: '<sample@example.com>',
    tags: { sample: 'true' },
    broadcastId: null,
    templateId: null,
    createdAt: isoTime(nowMs - MINUTE_MS),
    ...sampleDetails(type, nowMs),
  };
}

function sampleDetails(type: EmailEventType, nowMs: number): object {
  const at = isoTime(nowMs);
  const reader = { ip: ADDRESS, userAgent: USER_AGENT, bot: false, botReason: null };
  switch (type) {
    case 'email.queued':
    case 'email.sent':
    case 'email.suppressed':
    case 'email.canceled':
      return {};
    case 'email.delivered':
      return {
        delivery: { smtpResponse: '250 2.0.0 OK', mx: 'mx.example.org', tls: 'TLSv1.3', durationMs: 420 },
      };
    case 'email.delivery_delayed':
      return {
        delay: {
          diagnostic: '451 4.7.1 Try again later',
          class: 'greylist',
          advice: 'The server asks for a second try. Nothing needs to be done.',
          attempt: 1,
          nextAttemptAt: isoTime(nowMs + 5 * MINUTE_MS),
          expiresAt: isoTime(nowMs + 48 * 60 * MINUTE_MS),
        },
      };
    case 'email.held':
      return {
        hold: {
          reason: 'interrupted',
          diagnostic: 'The daemon ended during 5 attempts to deliver this; an operator can release it',
        },
      };
    case 'email.bounced':
      return {
        bounce: {
          type: 'permanent',
          subType: 'NoEmail',
          class: 'bad-mailbox',
          advice: 'The mailbox does not exist. Remove the address from your lists.',
          smtpCode: 550,
          enhancedCode: '5.1.1',
          diagnostic: '550 5.1.1 No such mailbox',
          source: 'smtp',
        },
      };
    case 'email.complained':
      return {
        complaint: {
          feedbackType: 'abuse',
          userAgent: USER_AGENT,
          arrivedAt: at,
          class: 'complaint',
          advice: 'The reader reported the message as spam. Do not write to this address again.',
        },
      };
    case 'email.opened':
      return { open: { timestamp: at, ...reader } };
    case 'email.clicked':
      return { click: { timestamp: at, link: 'https://example.com/', ...reader } };
  }
}
