/** Shows how many emails wait to be sent, in which states, and since when the oldest of them waits. */
import type { Static } from 'typebox';
import type { emailPageSchema } from '../../../emails/show.ts';
import { firstIdAt } from '../../../system/ids.ts';
import { Time } from '../../frame/elements.tsx';
import { Table } from '../../frame/lists.tsx';
import type { TenantContext } from '../../page.ts';
import { RecipientStatusMark } from '../emails/states.tsx';

/** States of recipients that wait. */
const WAITING = ['queued', 'deferred', 'held'] as const;
/** Number up to which emails are counted: the largest page of the API. */
const COUNTED = 100;

/** Returns the table of what waits, or a sentence when nothing does. */
export async function waitingMail(context: TenantContext) {
  const { texts, formats, at } = context;
  const { overview, frame } = texts;
  const rows = (await Promise.all(WAITING.map((status) => readWaiting(context, status)))).filter(
    ({ count }) => count > 0,
  );
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">{overview.waiting}</h2>
      {rows.length > 0 && <p class="muted">{overview.waitingHelp}</p>}
      <Table
        context={context}
        caption={overview.waitingCaption}
        rows={rows}
        keyOf={({ status }) => status}
        empty={overview.nothingWaits}
        columns={[
          {
            label: overview.recipients,
            cell: ({ status }) => <RecipientStatusMark context={context} status={status} />,
          },
          {
            label: texts.emails.title,
            isNumeric: true,
            cell: ({ status, count, hasMore }) => (
              <a href={at(`/emails?recipientStatus=${status}`)}>
                {hasMore ? frame.more(formats.number(count)) : formats.number(count)}
              </a>
            ),
          },
          { label: overview.oldest, cell: ({ oldest }) => <Time context={context} at={oldest} /> },
        ]}
      />
    </section>
  );
}

/** Reads the list of emails from its end, so that the oldest is among those that are counted. */
async function readWaiting({ api }: TenantContext, status: (typeof WAITING)[number]) {
  const { data, hasMore } = await api.get<Static<typeof emailPageSchema>>('/emails', {
    recipientStatus: status,
    endingBefore: firstIdAt('em', 0),
    limit: COUNTED,
  });
  return { status, count: data.length, hasMore, oldest: data.at(-1)?.createdAt };
}
