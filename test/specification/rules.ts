/** Sections 5 to 8: authentication, events, errors, limits; and the mailbox product of section 1. */
import { type Section, TO_COME } from './table.ts';

export const RULES: readonly Section[] = [
  {
    title: '5 Authentication',
    statements: {
      'every request carries Authorization: Bearer <API_KEY>':
        'tenants/authenticate.test.ts: every route of the API asks for a key before anything else',
      'requests with a body carry Content-Type: application/json':
        'http/json/server.test.ts: a body of another type is unsupported',
      'keys are made in the dashboard': TO_COME,
      'a key is shown only once, at its creation':
        'tenants/keys-api.test.ts: a key is created with its whole record and its token, which is shown then and never again',
      'live and test keys carry a fixed prefix each, svc_prd_ and svc_dev_':
        'tenants/keys.test.ts: a key is its prefix and 40 characters of base62, all of them random',
      'a test key accepts sends and delivers nothing':
        'queue/deliver.test.ts: a test key never opens a socket',
      'sending requires a key with send permission':
        'tenancy.test.ts: a sending key may do what sending needs, a reading key may read, and neither may do anything else',
      'data is scoped to the tenant of the key':
        "tenancy.test.ts: getEmail tells nothing of what is not its caller's, and works with what is",
      'webhook posts are authenticated by their signature':
        'webhooks/posts.test.ts: a post carries the event as it was recorded, signed with the secret that was shown',
    },
  },
  {
    title: '6 Events',
    statements: {
      'an endpoint gets the events it subscribed to, and no others':
        'webhooks/fan-out.test.ts: an event becomes a delivery for each endpoint of its tenant and mode that asked for its type',
      'an event is posted as JSON':
        'webhooks/posts.test.ts: a post carries the event as it was recorded, signed with the secret that was shown',
      'email.queued: accepted into the send queue':
        'webhooks/email-events.test.ts: email.queued, email.sent and email.delivered are posted, with emailId, to and from',
      'email.sent: handed off to the mail transfer agent':
        'webhooks/email-events.test.ts: email.queued, email.sent and email.delivery_delayed are posted, with emailId, to and from',
      'email.delivered: the recipient server accepted the message':
        'webhooks/email-events.test.ts: email.queued, email.sent and email.delivered are posted, with emailId, to and from',
      'email.bounced: a hard bounce':
        'webhooks/email-events.test.ts: email.bounced is posted of a bounce that is permanent',
      'email.bounced: a soft bounce':
        'webhooks/email-events.test.ts: email.bounced is posted of a bounce that is transient',
      'email.complained: a spam complaint':
        'queue/feedback.test.ts: a complaint turns the recipient complained and suppresses the address',
      'email.opened: only when open tracking is enabled':
        'tracking/pages.test.ts: nothing is tracked until the domain asks for it, and then each part by itself',
      'email.clicked: only when click tracking is enabled':
        'tracking/pages.test.ts: nothing is tracked until the domain asks for it, and then each part by itself',
      'email.delivery_delayed: a temporary deferral':
        'webhooks/email-events.test.ts: email.queued, email.sent and email.delivery_delayed are posted, with emailId, to and from',
      'the payload is type, createdAt and data':
        'webhooks/posts.test.ts: a post carries the event as it was recorded, signed with the secret that was shown',
      'data carries emailId, to (a string) and from (a string)':
        'webhooks/email-events.test.ts: email.queued, email.sent and email.delivered are posted, with emailId, to and from',
      'X-Service-Signature is t=<unix>,v1=<hex>':
        'webhooks/posting/signature.test.ts: the header is t and v1 of specification 6: HMAC-SHA256 of "<t>.<body>" under the secret as it is shown',
      'v1 is HMAC-SHA256 of t.body with the secret of the endpoint, in lower-case hex':
        'webhooks/posting/signature.test.ts: the header is t and v1 of specification 6: HMAC-SHA256 of "<t>.<body>" under the secret as it is shown',
      'a receiver that allows 300 s accepts every attempt, late ones too':
        'webhooks/posts.test.ts: a failing post is made eight times on the schedule, each signed anew over the same bytes, then given up',
      'who verifies as section 6 says accepts what is genuine and refuses the rest':
        'webhooks/posting/signature.test.ts: a receiver refuses another body',
      'the test endpoint sends a sample event':
        'webhooks/send-test.test.ts: a test posts one signed sample and returns the result',
      'posts that fail with 5xx are retried':
        'webhooks/posts.test.ts: a 500 is not success: it is posted again',
      'retries come with growing delays':
        'webhooks/posts.test.ts: a failing post is made eight times on the schedule, each signed anew over the same bytes, then given up',
    },
  },
  {
    title: '7 Errors',
    statements: {
      '400 validation_error for missing fields, which are named':
        'emails/send.test.ts: to, subject and type are required',
      '400 validation_error for invalid addresses':
        'emails/send.test.ts: to may be a string or a list, of up to 50 addresses',
      '400 for endingBefore with startingAfter': 'http/json/query.test.ts: two cursors are a bad request',
      '409 idempotency_conflict for the same key with a different body':
        'emails/idempotency/key.test.ts: a request with the same key and another body is a conflict, and the first response stays',
      '422 domain_not_verified':
        'emails/send.test.ts: a live key sends from a verified domain of its tenant and from nothing else',
      '422 suppressed_recipient when all recipients are suppressed':
        'emails/send.test.ts: a request with only suppressed recipients is refused, and a suppressed recipient among others is left out',
      '429 rate_limited beyond the requests per second of the plan':
        'emails/rate-limit.test.ts: sends beyond the requests a second of the plan are refused with 429, and taken a second later',
      'in a batch an error is type (the code) and message':
        'emails/batch.test.ts: an email in a batch gets the same errors as alone',
    },
  },
  {
    title: '8 Limits',
    statements: {
      '50 recipients in to': 'emails/send.test.ts: to may be a string or a list, of up to 50 addresses',
      '10 attachments': 'emails/attachments.test.ts: there are at most 10 files',
      '25 MB of attachments in total':
        'emails/attachments.test.ts: attachments have at most 25 MiB in total, decoded',
      '10 tags, pairs of strings':
        'emails/content.test.ts: tags are up to 10 pairs of strings, and are shown',
      '100 emails in a batch': 'emails/batch.test.ts: a batch holds 1 to 100 emails',
      'an Idempotency-Key has at most 256 characters':
        'emails/idempotency/key.test.ts: a key has 1 to 256 characters',
      'a key is remembered for 24 hours':
        'emails/idempotency/key.test.ts: a key is free again after 24 hours, and not a millisecond before',
      'a key is that of one tenant':
        'emails/idempotency/key.test.ts: a key belongs to one tenant and one mode, also that of a batch',
      'a page has 20 items by default, 100 at most':
        'http/json/query.test.ts: a page holds 20 items, or as many as asked for up to 100',
      'a webhook signature is good for 5 minutes':
        'webhooks/posting/signature.test.ts: a difference of 300 seconds is accepted, and so is the second of two signatures',
      'the free plan has 3,000 emails a month':
        'tenants/quota.test.ts: the free plan accepts exactly 3,000 of 3,100 concurrent emails',
      'the same key and body within the window: the original response is replayed':
        'emails/idempotency/key.test.ts: a repeated request gets the response of the first one, with a header that says so',
      'the same key and another body: 409 idempotency_conflict':
        'emails/idempotency/key.test.ts: a request with the same key and another body is a conflict, and the first response stays',
      'for a batch the key covers the whole request':
        'emails/batch-idempotency.test.ts: a repeat answers what the first was answered, failures among it, and sends nothing',
    },
  },
  {
    title: '1 and 2 The mailbox product',
    statements: {
      'IMAP on 993': TO_COME,
      'POP3 on 995': TO_COME,
      'submission on 465 and 587': TO_COME,
    },
  },
];
