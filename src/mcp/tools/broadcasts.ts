/** Tools for broadcasts: drafts, their check, sending, and the report. */
import { type Static, Type } from 'typebox';
import type { preflightSchema, testAnswerSchema } from '../../broadcasts/preview-schemas.ts';
import type { providersSchema } from '../../broadcasts/recipients/providers-api.ts';
import type { broadcastSchema, broadcastSummarySchema } from '../../broadcasts/schemas.ts';
import { type Calls, path } from '../../http/json/calls.ts';
import {
  addressArgument,
  addressesArgument,
  bodyArgument,
  idArgument,
  oneOf,
  optional,
  pageArguments,
  subjectArgument,
  timeArgument,
} from '../arguments.ts';
import { saysPage } from '../says-page.ts';
import { type Answer, defineTool, input } from '../tool.ts';
import { findApproval } from './sending.ts';

type Broadcast = Static<typeof broadcastSchema>;
type Summary = Static<typeof broadcastSummarySchema>;

const STATUSES = ['draft', 'scheduled', 'sending', 'paused', 'sent', 'canceled', 'failed'] as const;
/** Maximum number of addresses of a test. */
const MAX_TEST_ADDRESSES = 5;

const broadcastArgument = { broadcastId: idArgument('brd', 'Broadcast.') };

const contentArguments = {
  from: addressArgument('Sender, at a verified domain.'),
  subject: subjectArgument('Subject, one line. It may have merge tags such as {{firstName|there}}.'),
  html: optional(
    bodyArgument('HTML with merge tags. It must contain {{{unsubscribe_url}}}. Give it or `templateId`.'),
  ),
  text: optional(
    bodyArgument('Text. Made of the HTML when it is absent; it needs {{{unsubscribe_url}}} too.'),
  ),
  templateId: optional(idArgument('tpl', 'Template, instead of `html`.')),
  audienceId: optional(idArgument('aud', 'Audience that receives it. Give it or `segmentId`.')),
  segmentId: optional(idArgument('seg', 'Segment that receives it.')),
  topicId: optional(idArgument('top', 'Topic, so that readers can leave this kind of mail alone.')),
  replyTo: optional(addressArgument('Address that receives replies.')),
};

const broadcastFacts = Type.Object({
  id: Type.String(),
  status: Type.String(),
  scheduleAt: Type.Union([Type.String(), Type.Null()]),
  approvalId: Type.Optional(Type.String({ description: 'Id of the approval that a person has to give.' })),
});

const factsOf = ({ id, status, scheduleAt }: Summary) => ({ id, status, scheduleAt });

export const listBroadcasts = defineTool({
  name: 'list_broadcasts',
  title: 'List broadcasts',
  description: 'Lists broadcasts, the newest first, with their status and counts.',
  effect: 'reads',
  input: input({ status: optional(oneOf(STATUSES, 'Only broadcasts with this status.')), ...pageArguments }),
  async run({ api }, { limit = 10, ...query }) {
    const page = await api.get<{ data: Summary[]; nextCursor: string | null }>('/broadcasts', {
      limit,
      ...query,
    });
    return { says: saysPage('broadcasts', page), foreign: page.data };
  },
});

export const draftBroadcast = defineTool({
  name: 'draft_broadcast',
  title: 'Draft a broadcast',
  description:
    'Makes a draft of one email for all contacts of an audience or a segment. Nobody receives it: `preflight_broadcast` checks it, ' +
    '`test_broadcast` sends it to a few people, and `send_broadcast` to all.',
  effect: 'adds',
  input: input(contentArguments),
  output: broadcastFacts,
  async run({ api }, draft) {
    const made = await api.post<Broadcast>('/broadcasts', draft);
    return {
      says: 'The draft is there. Check it with preflight_broadcast before it is sent.',
      facts: factsOf(made),
    };
  },
});

export const changeBroadcast = defineTool({
  name: 'change_broadcast',
  title: 'Change a draft of a broadcast',
  description:
    'Changes the content, the sender or the receivers of a broadcast that has not begun. Fields that are absent stay.',
  effect: 'changes',
  input: input({
    ...broadcastArgument,
    ...contentArguments,
    from: optional(contentArguments.from),
    subject: optional(contentArguments.subject),
  }),
  output: broadcastFacts,
  async run({ api }, { broadcastId, ...change }) {
    const broadcast = await api.patch<Broadcast>(path`/broadcasts/${broadcastId}`, change);
    return { says: 'The broadcast is changed.', facts: factsOf(broadcast) };
  },
});

export const preflightBroadcast = defineTool({
  name: 'preflight_broadcast',
  title: 'Check a broadcast before it is sent',
  description:
    'Says how many contacts a broadcast would reach and how many it leaves out and why, shows the subject as a contact reads it and the links, ' +
    'and warns of mistakes. Use it before `send_broadcast`, and show the result to the person who decides.',
  effect: 'reads',
  input: input(broadcastArgument),
  async run({ api }, { broadcastId }) {
    const found = await api.get<Static<typeof preflightSchema>>(path`/broadcasts/${broadcastId}/preflight`);
    const warnings = found.warnings.map(({ code }) => code);
    return {
      says:
        `It would reach ${found.recipients} of ${found.contacts} contacts. ` +
        (warnings.length === 0 ? 'There are no warnings.' : `Warnings: ${warnings.join(', ')}.`),
      foreign: found,
    };
  },
});

export const testBroadcast = defineTool({
  name: 'test_broadcast',
  title: 'Send a test of a broadcast',
  description: `Sends a broadcast to at most ${MAX_TEST_ADDRESSES} addresses, as a contact would get it. Its contacts receive nothing.`,
  effect: 'sends',
  input: input({
    ...broadcastArgument,
    to: addressesArgument(MAX_TEST_ADDRESSES, 'Addresses of people who look at the test.'),
  }),
  async run({ api }, { broadcastId, to }) {
    const { data } = await api.post<Static<typeof testAnswerSchema>>(path`/broadcasts/${broadcastId}/test`, {
      to,
    });
    const sent = data.filter(({ id }) => id !== null).length;
    return { says: `${sent} of ${data.length} tests are on their way.`, foreign: data };
  },
});

export const sendBroadcast = defineTool({
  name: 'send_broadcast',
  title: 'Send or schedule a broadcast',
  description:
    'Sends a broadcast to all contacts of its audience or segment, now or at a given time. It cannot be taken back. Use it only when the person ' +
    'you work for has seen the result of `preflight_broadcast` and asked for it. With a key that requires approval, it waits for a person.',
  effect: 'sends',
  input: input({
    ...broadcastArgument,
    sendAt: optional(timeArgument('Time of sending; now when it is absent.')),
  }),
  output: broadcastFacts,
  async run({ api }, { broadcastId, sendAt }) {
    const at = path`/broadcasts/${broadcastId}`;
    const broadcast =
      sendAt === undefined
        ? await api.post<Broadcast>(`${at}/send`)
        : await api.patch<Broadcast>(at, { scheduleAt: sendAt });
    return showSent(api, broadcast);
  },
});

async function showSent(api: Calls, broadcast: Broadcast): Promise<Answer> {
  if (broadcast.approval?.state !== 'pending') {
    return { says: `The broadcast is ${broadcast.status}.`, facts: factsOf(broadcast) };
  }
  const approvalId = await findApproval(api, broadcast.id);
  return {
    says:
      'The broadcast waits: a person has to approve it first, in the dashboard, because this key requires approval. Nothing was sent. ' +
      '`check_approval` shows the decision.',
    facts: { ...factsOf(broadcast), ...(approvalId !== undefined && { approvalId }) },
  };
}

export const controlBroadcast = defineTool({
  name: 'control_broadcast',
  title: 'Pause, resume or cancel a broadcast',
  description:
    'Pauses a broadcast that is being sent, resumes a paused one, or cancels one: contacts who have not received it then never do. Pause first when in doubt.',
  effect: 'sends',
  input: input({ ...broadcastArgument, action: oneOf(['pause', 'resume', 'cancel'], 'What to do.') }),
  output: broadcastFacts,
  async run({ api }, { broadcastId, action }) {
    const broadcast = await api.post<Broadcast>(`${path`/broadcasts/${broadcastId}`}/${action}`);
    return showSent(api, broadcast);
  },
});

export const reportBroadcast = defineTool({
  name: 'report_broadcast',
  title: 'Report of a broadcast',
  description:
    'Shows the result of a broadcast: how many received, opened and clicked it, bounced, complained and unsubscribed, by provider, and the links that were followed most.',
  effect: 'reads',
  input: input(broadcastArgument),
  async run({ api }, { broadcastId }) {
    const at = path`/broadcasts/${broadcastId}`;
    const [{ html, text, ...broadcast }, providers, links] = await Promise.all([
      api.get<Broadcast>(at),
      api.get<Static<typeof providersSchema>>(`${at}/providers`),
      api.get<{ data: unknown[] }>(`${at}/clicked-links`, { limit: 10 }),
    ]);
    return {
      says: `The broadcast is ${broadcast.status}. ${broadcast.counts.delivered} of ${broadcast.counts.recipients} contacts have received it.`,
      foreign: { ...broadcast, providers: providers.data, clickedLinks: links.data },
    };
  },
});
