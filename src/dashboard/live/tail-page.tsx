/**
 * The live view of what happens: for members of a tenant its own events, and for the operator the envelopes of all mail. It begins with the newest
 * lines, and scripts add those that come; without them, a link shows the page again.
 */
import type { TailLine } from '../../events/tail-store.ts';
import { path } from '../calls.ts';
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { Table } from '../frame/lists.tsx';
import { type BaseContext, definePage } from '../page.ts';
import { firstLines, operatorTail, type TailTopic, tenantTail } from './topics.ts';

export const tailPage = definePage({
  area: 'tenant',
  path: '/tail',
  menu: { group: 'sending', label: ({ live }) => live.title },
  async show(context) {
    const { tenant, mode, at } = context;
    const topic = tenantTail({ ...tenant, mode });
    return tailView(context, { topic, emailPath: at('/emails/'), help: context.texts.live.help });
  },
});

export const operatorTailPage = definePage({
  area: 'operator',
  path: '/tail',
  menu: { group: 'operating', label: ({ live }) => live.title },
  show: (context) =>
    tailView(context, {
      topic: operatorTail,
      emailPath: '/operator/queue/emails/',
      help: context.texts.live.operatorHelp,
    }),
});

type Shown = {
  topic: TailTopic;
  /** Path of the page of an email, without its id. */
  emailPath: string;
  help: string;
};

async function tailView(context: BaseContext, { topic, emailPath, help }: Shown) {
  const { texts, app, path: here } = context;
  const { live } = texts;
  const { lines, position } = await firstLines(app.tail, topic);
  return {
    title: live.title,
    isLive: true,
    body: (
      <>
        <Heading title={live.title}>
          <button type="button" class="secondary outline" id="tail-pause" data-other={live.goOn} hidden>
            {live.pause}
          </button>
          <a href={here}>{texts.frame.refresh}</a>
        </Heading>
        <p>{help}</p>
        <p
          id="tail-state"
          role="status"
          data-connected={live.connected}
          data-lost={live.lost}
          data-paused={live.paused}
        />
        <p id="tail-omitted" class="muted" data-some={live.omitted} data-more={live.omittedMore} hidden />
        <div
          id="tail-view"
          data-topic={topic.name}
          data-position={position}
          data-emails={emailPath}
          data-names={JSON.stringify(live.events)}
          data-zone={context.formats.timeZone}
        >
          <LineTable context={context} lines={lines.reverse()} emailPath={emailPath} />
        </div>
        {lines.length === 0 && <p class="empty">{live.none}</p>}
      </>
    ),
  };
}

type TableProps = { context: BaseContext; lines: readonly TailLine[]; emailPath: string };

function LineTable({ context, lines, emailPath }: TableProps) {
  const { live } = context.texts;
  const names: Readonly<Record<string, string>> = live.events;
  const foreign = (name: 'to' | 'from' | 'reply') => ({
    label: live[name],
    cell: (line: TailLine) => <Foreign text={line[name]} />,
  });
  return (
    <Table
      context={context}
      id="tail"
      caption={live.lines}
      rows={lines}
      keyOf={({ position }) => String(position)}
      isGrowing
      columns={[
        { label: live.time, cell: ({ at }) => <Time context={context} at={at} /> },
        {
          label: live.event,
          cell: ({ type, emailId }) => {
            const name = names[type] ?? type;
            return emailId === null ? name : <a href={emailPath + path`${emailId}`}>{name}</a>;
          },
        },
        ...(['to', 'from', 'reply'] as const).map(foreign),
      ]}
    />
  );
}
