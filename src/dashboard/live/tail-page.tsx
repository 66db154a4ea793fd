/**
 * The live view of what happens: for members of a tenant its own events, and for the operator the envelopes of all mail. It begins with the newest
 * lines, and scripts add those that come; without them, a link shows the page again.
 */
import { type BaseContext, definePage } from '../page.ts';
import { LiveHeading, LiveLines } from './live-lines.tsx';
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
  const { texts, app } = context;
  const { live } = texts;
  const { lines, position } = await firstLines(app.tail, topic);
  return {
    title: live.title,
    isLive: true,
    body: (
      <>
        <LiveHeading context={context} title={live.title} />
        <p>{help}</p>
        <LiveLines
          context={context}
          topic={topic.name}
          position={position}
          lines={lines.reverse()}
          emailPath={emailPath}
          names={live.events}
          labels={live}
        />
      </>
    ),
  };
}
