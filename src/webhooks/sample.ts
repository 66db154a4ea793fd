/** What the events of a test post tell: made up, in the shape of the real ones. */
import type { EventType } from '../events/store.ts';
import { isoTime } from '../system/clock.ts';

const MINUTE_MS = 60_000;
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
/** Of a range reserved for documentation. */
const ADDRESS = '192.0.2.1';

/** The `data` of a sample. */
export function sampleData(type: EventType, nowMs: number): object {
  if (type === 'domain.verified' || type === 'domain.failed') {
    return { domainId: 'dom_00000000000000000000000000', name: 'example.com', status: type.slice(7) };
  }
  return {
    emailId: 'em_00000000000000000000000000',
    to: 'recipient@example.org',
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

function sampleDetails(type: Exclude<EventType, `domain.${string}`>, nowMs: number): object {
  const at = isoTime(nowMs);
  const reader = { ip: ADDRESS, userAgent: USER_AGENT, bot: false };
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
          attempt: 1,
          nextAttemptAt: isoTime(nowMs + 5 * MINUTE_MS),
          expiresAt: isoTime(nowMs + 48 * 60 * MINUTE_MS),
        },
      };
    case 'email.bounced':
      return {
        bounce: {
          type: 'permanent',
          subType: 'NoEmail',
          smtpCode: 550,
          enhancedCode: '5.1.1',
          diagnostic: '550 5.1.1 No such mailbox',
          source: 'smtp',
        },
      };
    case 'email.complained':
      return { complaint: { feedbackType: 'abuse', userAgent: USER_AGENT, arrivedAt: at } };
    case 'email.opened':
      return { open: { timestamp: at, ...reader } };
    case 'email.clicked':
      return { click: { timestamp: at, link: 'https://example.com/', ...reader } };
  }
}
