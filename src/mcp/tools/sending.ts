/** Tools that send single emails, now or later, and change those that wait. */
import { type Static, Type } from 'typebox';
import type { approvalSchema } from '../../approvals/schemas.ts';
import type { sentSchema } from '../../emails/sent-schemas.ts';
import type { emailSchema } from '../../emails/show.ts';
import { type Calls, path } from '../../http/json/calls.ts';
import { AppError } from '../../system/errors.ts';
import {
  addressArgument,
  addressesArgument,
  bodyArgument,
  idArgument,
  idempotencyKeyArgument,
  optional,
  subjectArgument,
  timeArgument,
  valueArgument,
  variablesArgument,
} from '../arguments.ts';
import { type Answer, defineTool, input, type ToolContext } from '../tool.ts';

type Email = Static<typeof emailSchema>;
type Sent = Static<typeof sentSchema>;
type Approval = Static<typeof approvalSchema>;

/** Maximum numbers of recipients, of each kind, of files and of tags that a tool takes. The API takes more. */
const MAX_RECIPIENTS = 50;
const MAX_ATTACHMENTS = 10;
const MAX_TAGS = 10;

const emailArguments = {
  from: addressArgument('Sender, at a verified domain of the account. `list_domains` shows them.'),
  to: addressesArgument(MAX_RECIPIENTS, 'Recipients.'),
  cc: optional(addressesArgument(MAX_RECIPIENTS, 'Recipients of a copy.')),
  bcc: optional(addressesArgument(MAX_RECIPIENTS, 'Recipients of a copy whom the others do not see.')),
  replyTo: optional(addressArgument('Address that receives replies.')),
  subject: subjectArgument('Subject, one line.'),
  text: optional(bodyArgument('Text of the email. Give `text`, `html`, both, or `templateId`.')),
  html: optional(bodyArgument('HTML of the email. A text is made of it when `text` is absent.')),
  templateId: optional(idArgument('tpl', 'Template, instead of `html`. `list_templates` shows them.')),
  variables: variablesArgument,
  attachments: Type.Optional(
    Type.Array(
      Type.Object(
        {
          filename: optional(valueArgument('Name of the file.')),
          url: Type.String({ minLength: 1, maxLength: 2_048, description: 'Address of the file, https.' }),
        },
        { additionalProperties: false },
      ),
      {
        minItems: 1,
        maxItems: MAX_ATTACHMENTS,
        description: 'Files, which are fetched when the email is accepted.',
      },
    ),
  ),
  tags: Type.Optional(
    Type.Record(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }), Type.String({ maxLength: 256 }), {
      maxProperties: MAX_TAGS,
      additionalProperties: false,
      description: 'Tags, by which `find_emails` finds the email again.',
    }),
  ),
  idempotencyKey: idempotencyKeyArgument,
};

const sentFacts = Type.Object({
  id: Type.String({ description: 'Id of the email.' }),
  status: Type.String(),
  idempotencyKey: Type.String({ description: 'Repeat the call with it: nothing is sent twice.' }),
  approvalId: Type.Optional(Type.String({ description: 'Id of the approval that a person has to give.' })),
  waitsForApprovalUntil: Type.Optional(
    Type.String({ description: 'Time until which a person can decide. Then the email is canceled.' }),
  ),
});

export const sendEmail = defineTool({
  name: 'send_email',
  title: 'Send an email',
  description:
    'Sends one transactional email now, to people who expect it. It cannot be taken back. Use it when you were asked to send mail and know ' +
    'the recipients; mail to a list of contacts is a broadcast. When the call fails or its answer is lost, repeat it with the same ' +
    '`idempotencyKey`. The answer says when the email waits for the approval of a person first.',
  effect: 'sends',
  input: input(emailArguments),
  output: sentFacts,
  run: (context, given) => send(context, given),
});

export const scheduleEmail = defineTool({
  name: 'schedule_email',
  title: 'Schedule an email',
  description:
    'Accepts one transactional email now, which is sent at a later time. Until then `reschedule_email` and `cancel_email` change that. ' +
    'Otherwise as `send_email`.',
  effect: 'sends',
  input: input({ ...emailArguments, sendAt: timeArgument('Time at which the email is sent.') }),
  output: sentFacts,
  run: (context, { sendAt, ...email }) => send(context, { ...email, scheduledAt: sendAt }),
});

type EmailBody = { idempotencyKey?: string; scheduledAt?: string };

async function send(context: ToolContext, { idempotencyKey, ...email }: EmailBody): Promise<Answer> {
  const key = idempotencyKey ?? context.newIdempotencyKey();
  const body = { ...email, type: 'transactional' };
  const { id, status, approval } = await context.apiOnce(key).post<Sent>('/emails', body);
  if (!approval) {
    const when = email.scheduledAt === undefined ? 'is on its way' : 'is sent at its time';
    return { says: `The email is accepted and ${when}.`, facts: { id, status, idempotencyKey: key } };
  }
  const approvalId = await findApproval(context.api, id);
  const facts = { id, status, idempotencyKey: key, ...(approvalId !== undefined && { approvalId }) };
  return {
    says:
      'The email is accepted and waits: a person has to approve it first, in the dashboard, because this key requires approval. Nothing was ' +
      'sent. Do not send it again; `check_approval` shows the decision.',
    facts: { ...facts, waitsForApprovalUntil: approval.expiresAt },
  };
}

/** Number of approvals among which that of an email is looked for, the newest first. */
const SEARCHED_APPROVALS = 20;

/** Returns the id of the approval that an email or a broadcast waits for; undefined when the key may not see it. */
export async function findApproval(api: Calls, id: string): Promise<string | undefined> {
  try {
    const query = { state: 'pending', limit: SEARCHED_APPROVALS };
    const { data } = await api.get<{ data: Approval[] }>('/approvals', query);
    return data.find(({ emailId, broadcastId }) => emailId === id || broadcastId === id)?.id;
  } catch (refusal) {
    if (refusal instanceof AppError) return undefined;
    throw refusal;
  }
}

const changedFacts = Type.Object({
  id: Type.String(),
  status: Type.String(),
  scheduledAt: Type.Union([Type.String(), Type.Null()]),
});

const changed = ({ id, status, scheduledAt }: Email) => ({ id, status, scheduledAt });

export const cancelEmail = defineTool({
  name: 'cancel_email',
  title: 'Cancel an email',
  description:
    'Cancels an email that was scheduled, is queued or is being retried, for every recipient who has not received it yet. Mail that has left cannot be taken back.',
  effect: 'changes',
  input: input({ emailId: idArgument('em', 'Email.') }),
  output: changedFacts,
  async run({ api }, { emailId }) {
    const email = await api.post<Email>(path`/emails/${emailId}/cancel`);
    return {
      says: 'Recipients that have not received the email yet do not receive it.',
      facts: changed(email),
    };
  },
});

export const rescheduleEmail = defineTool({
  name: 'reschedule_email',
  title: 'Reschedule an email',
  description: 'Changes the time of an email that is scheduled and has not been sent.',
  effect: 'changes',
  input: input({
    emailId: idArgument('em', 'Email.'),
    sendAt: timeArgument('New time. One that has passed means now.'),
  }),
  output: changedFacts,
  async run({ api }, { emailId, sendAt }) {
    const email = await api.patch<Email>(path`/emails/${emailId}`, { scheduledAt: sendAt });
    return { says: 'The email has a new time.', facts: changed(email) };
  },
});
