/** Calls of Resend's API that no operation of ours answers, with the reasons that their callers read. */
import type { FastifyRequest } from 'fastify';

/** Path before the paths of the calls. */
export const PREFIX = '/compat/resend';

/** Methods and paths, in which `:name` is one segment and `*` is any rest, and the reason. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  'ANY /automations*': 'This server has no automations; send emails and broadcasts from your application',
  'ANY /events*': 'This server has no automations, and therefore no custom events',
  'ANY /oauth*': 'This server has no OAuth grants; use API keys',
  'ANY /inboxes*': 'This door has no inboxes; mailboxes are reached by /v1/mailboxes and IMAP',
  'ANY /contacts/imports*':
    'Import contacts with POST /v1/audiences/{audienceId}/contacts/imports, which takes CSV files',
  'ANY /contact-properties*':
    'Properties need not be declared here: contacts have any, and each merge tag may have its own fallback',
  'ANY /domains/claim': 'This server has no claims of domains; create and verify the domain',
  'ANY /domains/:id/claim*': 'This server has no claims of domains; create and verify the domain',
  'POST /emails/:id/share': 'This server has no public links to emails',
  'GET /emails/metrics': 'Read metrics with GET /v1/metrics',
  'GET /webhooks/:webhookId/events/:id/attempts':
    'The log of posts has the last attempt of each, which GET /v1/webhooks/{id}/deliveries/{id} shows',
  'ANY /logs*': 'Read the log of requests with GET /v1/request-log',
  'GET /usage': 'Read the usage with GET /v1/plan',
};

const REASONS = Object.entries(UNSUPPORTED).map(([at, reason]) => {
  const [method, path = ''] = at.split(' ');
  const pattern = path.replace(/:\w+/g, '[^/]+').replace('*', '(?:/.*)?');
  return { method, pattern: new RegExp(`^${PREFIX}${pattern}$`), reason };
});

/** Returns why this server does not answer a call; undefined for a call that Resend does not have either. */
export function findReason({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): string | undefined {
  const path = url.replace(/\?.*$/, '');
  const found = REASONS.find(
    (one) => (one.method === 'ANY' || one.method === method) && one.pattern.test(path),
  );
  return found?.reason;
}
