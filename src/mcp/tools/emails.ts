/** Tools that find emails, and say what became of them and why. */
import { type Static, Type } from 'typebox';
import type { attemptsSchema } from '../../emails/attempts-api.ts';
import type { emailPageSchema, emailSchema } from '../../emails/show.ts';
import type { foundSubjectsSchema } from '../../emails/subjects-api.ts';
import { answerOf, type Calls, path } from '../../http/json/calls.ts';
import type { suppressionSchema } from '../../suppressions/schemas.ts';
import { AppError, invalid } from '../../system/errors.ts';
import {
  addressArgument,
  idArgument,
  oneOf,
  optional,
  pageArguments,
  timeArgument,
  valueArgument,
} from '../arguments.ts';
import { saysPage } from '../says-page.ts';
import { defineTool, input } from '../tool.ts';

type Email = Static<typeof emailSchema>;
type Recipient = Email['recipients'][number];
type Attempts = Static<typeof attemptsSchema>;
type Suppression = Static<typeof suppressionSchema>;

const STATUSES = ['queued', 'sent', 'delivered', 'bounced', 'complained', 'canceled'] as const;
const RECIPIENT_STATUSES = [
  'queued',
  'sent',
  'deferred',
  'held',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'canceled',
] as const;

export const findEmails = defineTool({
  name: 'find_emails',
  title: 'Find emails',
  description:
    'Lists sent emails, the newest first, by recipient, sender, status, tag or time, or by a part of the subject. Use it to find the id of an ' +
    'email, or to see which emails bounced or still wait (`recipientStatus` deferred). `show_email` has everything about one of them.',
  effect: 'reads',
  input: input({
    subject: optional(
      valueArgument('Part of the subject, in any case. It cannot be combined with other filters.'),
    ),
    to: optional(addressArgument('Address of a recipient.')),
    from: optional(addressArgument('Address of the sender.')),
    status: optional(oneOf(STATUSES, 'Status of the email as a whole.')),
    recipientStatus: optional(oneOf(RECIPIENT_STATUSES, 'Status of at least one recipient.')),
    tag: optional(valueArgument('Tag as `name:value`, or its name.')),
    createdAfter: optional(timeArgument('Only emails that were accepted then or later.')),
    createdBefore: optional(timeArgument('Only emails that were accepted before.')),
    ...pageArguments,
  }),
  async run({ api }, { subject, limit = 10, ...filters }) {
    if (subject === undefined) {
      const page = await api.get<Static<typeof emailPageSchema>>('/emails', { ...filters, limit });
      return { says: saysPage('emails', page), foreign: page.data };
    }
    if (Object.keys(filters).length > 0) {
      throw invalid('subject', '`subject` cannot be combined with other filters');
    }
    const query = { text: subject, days: 90, limit };
    const found = await api.get<Static<typeof foundSubjectsSchema>>('/emails/subjects', query);
    const reach = found.isComplete
      ? 'All emails of the last 90 days were searched.'
      : `The newest ${found.examined} emails were searched, back to ${found.since}.`;
    return { says: `Number of emails found: ${found.data.length}. ${reach}`, foreign: found.data };
  },
});

export const showEmail = defineTool({
  name: 'show_email',
  title: 'Show an email with its history',
  description:
    'Shows one email: its content, each recipient with its status, the events, and every attempt with the reply of the server. Use ' +
    '`explain_bounce` or `explain_wait` when the question is why.',
  effect: 'reads',
  input: input({
    emailId: idArgument('em', 'Email.'),
    includeHtml: Type.Optional(Type.Boolean({ description: 'Shows the HTML too, which is often long.' })),
  }),
  async run({ api }, { emailId, includeHtml = false }) {
    const { html, amp, ...email } = await getEmail(api, emailId);
    const { attempts } = await api.get<Attempts>(path`/emails/${emailId}/attempts`);
    return {
      says: `The email ${email.id} is ${email.status}. Recipients: ${email.recipients.length}. Attempts: ${attempts.length}.`,
      foreign: { ...email, ...(includeHtml && { html, amp }), attempts },
    };
  },
});

export const explainBounce = defineTool({
  name: 'explain_bounce',
  title: 'Explain a bounce',
  description:
    'Says why an email did not reach some of its recipients: the reply of the server, what it means, what to do, and whether the address is ' +
    'suppressed now, so that nothing more is sent to it.',
  effect: 'reads',
  input: input({
    emailId: idArgument('em', 'Email that bounced, or whose recipient complained or is suppressed.'),
  }),
  async run({ api }, { emailId }) {
    const { recipients } = await getEmail(api, emailId);
    const failed = recipients.filter(({ status }) => FAILED.has(status));
    if (failed.length === 0) {
      return {
        says: saysOther(recipients, 'No recipient has bounced, complained or is suppressed.'),
        foreign: [],
      };
    }
    const shown = failed.slice(0, MAX_EXPLAINED);
    const suppressions = await Promise.all(shown.map(({ email }) => findSuppression(api, email)));
    return {
      says: [
        `${failed.length} of ${recipients.length} recipients did not take the email.`,
        ...meaningsOf(failed),
      ].join('\n'),
      foreign: shown.map((recipient, index) => ({ ...recipient, suppression: suppressions[index] ?? null })),
    };
  },
});

const FAILED: ReadonlySet<string> = new Set(['bounced', 'complained', 'suppressed']);
/** Maximum number of recipients that an explanation names. */
const MAX_EXPLAINED = 10;

/** Returns the suppression of an address; undefined when there is none, or the key may not see it. */
async function findSuppression(api: Calls, email: string): Promise<Suppression | undefined> {
  const found = await answerOf(api.get<{ data: Suppression[] }>('/suppressions', { email, limit: 1 }));
  return found instanceof AppError ? undefined : found.data[0];
}

export const explainWait = defineTool({
  name: 'explain_wait',
  title: 'Why does this email wait?',
  description:
    'Says why an email has not arrived yet: it is scheduled, waits for approval, is held, its broadcast is paused, a server put it off, or its servers get a pause; ' +
    'with that reply, what it means, and the time of the next attempt.',
  effect: 'reads',
  input: input({ emailId: idArgument('em', 'Email that has not arrived.') }),
  async run({ api }, { emailId }) {
    const email = await getEmail(api, emailId);
    const waiting = email.recipients.filter(({ status }) => WAITING.has(status));
    if (waiting.length === 0) {
      return { says: saysOther(email.recipients, 'No recipient waits.'), foreign: [] };
    }
    const { attempts } = await api.get<Attempts>(path`/emails/${emailId}/attempts`);
    const reasons = [
      ...(await reasonsOf(api, email)),
      ...[...new Set(waiting.map(reasonOf))].slice(0, MAX_EXPLAINED),
      ...meaningsOf(waiting),
    ];
    return {
      says: [`${waiting.length} of ${email.recipients.length} recipients wait.`, ...reasons].join('\n'),
      foreign: { waiting: waiting.slice(0, MAX_EXPLAINED), lastAttempts: attempts.slice(-MAX_EXPLAINED) },
    };
  },
});

const WAITING: ReadonlySet<string> = new Set(['queued', 'sent', 'deferred', 'held']);

/** Returns the reasons for which the email as a whole waits. */
async function reasonsOf(api: Calls, { approval, scheduledAt, broadcastId }: Email): Promise<string[]> {
  const reasons: string[] = [];
  if (approval?.state === 'pending') reasons.push(`A person has to approve it until ${approval.expiresAt}.`);
  if (scheduledAt !== null) reasons.push(`It was scheduled for ${scheduledAt}.`);
  if (broadcastId === null) return reasons;
  const broadcast = await answerOf(
    api.get<{ status: string; pausedReason: string | null }>(path`/broadcasts/${broadcastId}`),
  );
  if (broadcast instanceof AppError || broadcast.status !== 'paused') return reasons;
  return [...reasons, `Its broadcast ${broadcastId} is paused (${broadcast.pausedReason}).`];
}

/** Sentences for what keeps mail whose time has come. */
const WAITS = {
  rest: 'The receiving servers get a pause after they have refused mail or could not be reached. Then one message tries before the others.',
  rate: 'The receiving servers get all the mail that their limits allow. The rest follows at that rate.',
  warm_up: 'The sending address is new and has reached its limit of the day.',
  hold: 'It is held.',
} as const satisfies Record<NonNullable<Recipient['waiting']>['reason'], string>;

function reasonOf({ status, attempts, nextAttemptAt, holdReason, smtpCode, waiting }: Recipient): string {
  const next = nextAttemptAt === null ? '' : ` The next attempt is due at ${nextAttemptAt}.`;
  if (status === 'held') return `Held (${holdReason}): it is sent only after a person releases it.`;
  if (waiting !== null)
    return `${WAITS[waiting.reason]}${waiting.until === null ? '' : ` Until ${waiting.until}.`}`;
  if (status === 'deferred') {
    const reply = smtpCode === null ? 'no server could be reached' : `the server replied ${smtpCode}`;
    return `Put off (attempts so far: ${attempts}), because ${reply}.${next}`;
  }
  if (status === 'sent') return 'An attempt runs now, or was cut off and is repeated.';
  return `Its first attempt has not begun: it waits for its time, or behind other mail to the same site.${next}`;
}

/** Returns what the replies of servers mean, and what to do. These are sentences of this program, by the kind of the reply. */
function meaningsOf(recipients: readonly Recipient[]): string[] {
  const meanings = recipients.flatMap(({ class: kind, advice }) =>
    kind === null ? [] : [`${kind}: ${advice ?? 'no advice'}`],
  );
  return [...new Set(meanings)].slice(0, MAX_EXPLAINED);
}

function saysOther(recipients: readonly Recipient[], first: string): string {
  const counts = Map.groupBy(recipients, ({ status }) => status);
  return `${first} Recipients by status: ${[...counts].map(([status, of]) => `${status} ${of.length}`).join(', ')}.`;
}

function getEmail(api: Calls, emailId: string): Promise<Email> {
  return api.get<Email>(path`/emails/${emailId}`);
}
