/** Section 4, up to 4.5: the endpoints of what is sent. */
import type { Section } from './table.ts';

export const SENDING_ENDPOINTS: readonly Section[] = [
  {
    title: '4 Endpoints',
    statements: {
      'each is served at its path and method, and succeeds with its status':
        'specification/operations.test.ts: every endpoint of section 4 is served, and succeeds with the status it has there',
      'each takes the body fields of its table, and requires those that are required':
        'specification/operations.test.ts: every body of section 4 takes the fields it has there, and requires those alone',
      'each takes the query parameters of its table, none of them required':
        'specification/operations.test.ts: every query of section 4 takes the parameters it has there, none of them required',
      'requests and responses are JSON': 'http/json/server.test.ts: a body of another type is unsupported',
    },
  },
  {
    title: '4.1 POST /v1/emails',
    statements: {
      'it answers 200 with id and status queued':
        'emails/send.test.ts: an accepted email answers its id and status alone, with a request id',
      'the domain of from must be verified':
        'emails/send.test.ts: a live key sends from a verified domain of its tenant and from nothing else',
      'the key must have send permission':
        'tenancy.test.ts: a sending key may do what sending needs, a reading key may read, and neither may do anything else',
      'from is required': 'emails/send.test.ts: from is one address',
      'to is required': 'emails/send.test.ts: to, subject and type are required',
      'to is a string or a list of at most 50':
        'emails/send.test.ts: to may be a string or a list, of up to 50 addresses',
      'subject is required': 'emails/send.test.ts: to, subject and type are required',
      'html is required when text and templateId are absent':
        'emails/send.test.ts: html or text is required, each of at most 2 MiB of well-formed text',
      'text is generated from html when omitted':
        'emails/content.test.ts: text is generated from HTML when it is omitted, and sent along',
      'type is required: transactional or broadcast':
        'emails/send.test.ts: to, subject and type are required',
      'cc is a string or a list': 'emails/send.test.ts: cc may be a string or a list, of up to 50 addresses',
      'bcc is a string or a list':
        'emails/send.test.ts: bcc may be a string or a list, of up to 50 addresses',
      'replyTo is a string or a list':
        'emails/send.test.ts: replyTo may be a string or a list, of up to 50 addresses',
      'headers are sent': 'emails/content.test.ts: custom headers are part of the message, and are shown',
      'reserved header names are rejected':
        'emails/content.test.ts: custom headers are part of the message, and are shown',
      'attachments: at most 10 files': 'emails/attachments.test.ts: there are at most 10 files',
      'attachments: at most 25 MB in total':
        'emails/attachments.test.ts: attachments have at most 25 MiB in total, decoded',
      'an attachment comes as base64 content':
        'emails/attachments.test.ts: an attachment arrives byte for byte, and is shown without its bytes',
      'an attachment comes from a remote HTTPS URL':
        'emails/attachments.test.ts: path and url name a file that is fetched once, when the email is accepted',
      'an attachment has a contentType':
        'emails/attachments.test.ts: the type of an attachment is given or follows from its name, and is part of the message',
      'tags: up to 10 pairs of strings':
        'emails/content.test.ts: tags are up to 10 pairs of strings, and are shown',
      'tags are for filtering': 'emails/list.test.ts: filters: a tag, by its key and its value',
      'tags are for analytics':
        'statistics/metrics.test.ts: mail with a tag is counted again from its events, and agrees with the counters',
      'scheduledAt is a future time, at which it is sent':
        'emails/change.test.ts: a scheduled email is queued, and leaves when it is due and not before',
      'scheduledAt is ISO 8601':
        'emails/change.test.ts: scheduledAt needs an offset, exists on the calendar, and is at most a year ahead',
      'templateId is used instead of inline html':
        'emails/content.test.ts: a template gives the HTML, the given subject wins, and variables are filled in',
      'variables fill in the template':
        'emails/content.test.ts: a template gives the HTML, the given subject wins, and variables are filled in',
      'variables fill in inline bodies':
        'emails/content.test.ts: variables fill in inline subject, HTML and text, escaped in HTML alone',
      'topicId is required when type is broadcast':
        'emails/send.test.ts: a broadcast needs a topic, and a topic must exist',
      'Idempotency-Key is optional':
        'emails/send.test.ts: an accepted email answers its id and status alone, with a request id',
      'invalid requests are 400 validation_error': 'emails/send.test.ts: to, subject and type are required',
      'an unverified domain is 422 domain_not_verified':
        'emails/send.test.ts: a live key sends from a verified domain of its tenant and from nothing else',
      'only suppressed recipients are 422 suppressed_recipient':
        'emails/send.test.ts: a request with only suppressed recipients is refused, and a suppressed recipient among others is left out',
      'too many requests are 429 rate_limited':
        'emails/rate-limit.test.ts: sends beyond the requests a second of the plan are refused with 429, and taken a second later',
      'a reused key is 409 idempotency_conflict':
        'emails/idempotency/key.test.ts: a request with the same key and another body is a conflict, and the first response stays',
    },
  },
  {
    title: '4.1 GET /v1/emails and /v1/emails/{id}',
    statements: {
      'retrieve answers 200 with the email':
        'emails/send.test.ts: the email shows the fields as the request gave them',
      'list is of the emails of the tenant':
        'tenancy/lists.test.ts: no list shows a row of another tenant, whatever it is filtered by',
      'list has cursors': 'specification/lists.test.ts: GET /v1/emails pages as every list does',
      'limit is 20 by default and at most 100':
        'specification/lists.test.ts: GET /v1/emails pages as every list does',
      'status filters by each of the six':
        'emails/statuses.test.ts: an email with each of the six statuses is shown with it and found by it',
      'from filters by address or domain':
        'emails/list.test.ts: filters: sender by address or by domain, whatever the case',
      'to filters by recipient':
        'emails/list.test.ts: filters: recipient in any field, whatever the case and the script',
    },
  },
  {
    title: '4.2 POST /v1/emails/batch',
    statements: {
      'emails are send objects of the same shape':
        'emails/batch.test.ts: an email in a batch gets the same errors as alone',
      'there are at most 100': 'emails/batch.test.ts: a batch holds 1 to 100 emails',
      'it answers 200 with one item for each, in order':
        'emails/batch.test.ts: each email of a batch has a result at its position: accepted, or failed with type and message',
      'an accepted item is its id and status queued':
        'emails/batch.test.ts: each email of a batch has a result at its position: accepted, or failed with type and message',
      'a failed item has id null, status failed, and an error of type and message':
        'emails/batch.test.ts: each email of a batch has a result at its position: accepted, or failed with type and message',
      'partial success: one failed item does not stop the others':
        'emails/batch.test.ts: each email of a batch has a result at its position: accepted, or failed with type and message',
      'Idempotency-Key applies to the whole batch':
        'emails/batch-idempotency.test.ts: a repeat answers what the first was answered, failures among it, and sends nothing',
    },
  },
  {
    title: '4.3 Domains',
    statements: {
      'create requires name': 'domains/api.test.ts: creation with no name is refused',
      'create takes productType, api unless it is said, or mailbox, or both':
        'domains/api.test.ts: a domain is for the API, for mailboxes or for both, and for the API unless it is said',
      'create takes region, with a default':
        'domains/api.test.ts: product type and region are taken as given, and nothing of the private key is shown',
      'create answers 201 with the domain and its records':
        'domains/api.test.ts: a domain is created with its three records, all pending',
      'list answers the envelope': 'specification/lists.test.ts: GET /v1/domains pages as every list does',
      'retrieve answers the domain':
        'domains/api.test.ts: a domain is created with its three records, all pending',
      'verify takes no body, asks DNS again and answers the record statuses':
        'domains/api.test.ts: published records verify, with a CNAME or with a TXT key',
      'a domain is verified with SPF, DKIM and DMARC, all three':
        'domains/states.test.ts: a domain stays pending until all its records are right: absent ones are pending, wrong ones failed, unknown ones as before',
      'update takes trackingSubdomain, openTracking, clickTracking, productType, region':
        'domains/update.test.ts: every setting can be changed at once, and the domain is answered',
      'each of them is optional':
        'changes.test.ts: PATCH /v1/domains/{id} changes all fields at once or each alone, and leaves the others',
      'update answers the updated domain':
        'domains/update.test.ts: every setting can be changed at once, and the domain is answered',
      'delete answers 204':
        "tenancy.test.ts: deleteDomain tells nothing of what is not its caller's, and works with what is",
      'a domain with active scheduled sends cannot be deleted':
        'domains/api.test.ts: a domain with scheduled mail is not deleted, and the refusal says how many wait',
    },
  },
  {
    title: '4.4 Templates',
    statements: {
      'create requires name': 'templates/api.test.ts: refused with 400: no name',
      'create requires subject': 'templates/api.test.ts: refused with 400: no subject',
      'create requires html': 'templates/api.test.ts: refused with 400: no html',
      'create takes text': 'templates/api.test.ts: text may be absent',
      'create answers 201 with id, name, subject, createdAt':
        'templates/api.test.ts: a template is created with its whole record, and retrieved the same with either key',
      'the subject supports variables':
        'templates/api.test.ts: a template is created with its whole record, and retrieved the same with either key',
      'html holds {{variable}} placeholders':
        'templates/api.test.ts: a template is created with its whole record, and retrieved the same with either key',
      list: 'specification/lists.test.ts: GET /v1/templates pages as every list does',
      get: 'templates/api.test.ts: a template is created with its whole record, and retrieved the same with either key',
      update:
        'changes.test.ts: PATCH /v1/templates/{id} changes all fields at once or each alone, and leaves the others',
      delete:
        "tenancy.test.ts: deleteTemplate tells nothing of what is not its caller's, and works with what is",
      'a template is used by sending templateId with variables':
        'emails/content.test.ts: a template gives the HTML, the given subject wins, and variables are filled in',
    },
  },
  {
    title: '4.5 Broadcasts',
    statements: {
      'audienceId is required when segmentId is absent':
        'broadcasts/api.test.ts: a broadcast for nobody is refused',
      'segmentId targets a saved segment instead of the audience':
        'broadcasts/api.test.ts: a segment brings its audience, which may be named too',
      'from is required': 'broadcasts/api.test.ts: refused with 400: no sender',
      'from is a verified address':
        'broadcasts/api.test.ts: an email is sent only from a verified domain of the tenant, in the mode of the key',
      'subject is required': 'broadcasts/api.test.ts: refused with 400: no subject',
      'subject may hold merge tags':
        'broadcasts/api.test.ts: HTML allows only the unsubscribe tag in three braces; subjects and texts are not escaped',
      'the merge tags are filled in for each contact':
        'broadcasts/sending/sending.test.ts: each contact gets the broadcast once, with values of its own',
      'html or templateId': 'broadcasts/api.test.ts: refused with 400: neither HTML nor template',
      'a topic should be supplied':
        'broadcasts/preflight.test.ts: warned of: HTML that Gmail clips, and no topic',
      'topicId is optional, and one of the tenant':
        'broadcasts/api.test.ts: a broadcast is created as a draft with its whole record, and retrieved the same',
      'replyTo is optional':
        'broadcasts/api.test.ts: a broadcast is created as a draft with its whole record, and retrieved the same',
      'the body must contain {{{unsubscribe_url}}}':
        'broadcasts/api.test.ts: the body must hold the merge tag unsubscribe_url in three braces',
      'scheduleAt omitted means a draft':
        'broadcasts/api.test.ts: a broadcast is created as a draft with its whole record, and retrieved the same',
      'scheduleAt schedules it':
        'broadcasts/plan.test.ts: a broadcast with a time is scheduled, and shows time and pace',
      'POST /v1/broadcasts/{id}/send moves a draft to sending':
        'broadcasts/sending/sending.test.ts: each contact gets the broadcast once, with values of its own',
      list: 'specification/lists.test.ts: GET /v1/broadcasts pages as every list does',
      retrieve:
        'broadcasts/api.test.ts: a broadcast is created as a draft with its whole record, and retrieved the same',
    },
  },
];
