/** The queue at a glance: how much waits, by domain, site, tenant or kind. Each group leads to its mail, and to what can be done with it. */

import { answerOf } from '../../../http/json/calls.ts';
import { GROUPINGS, type Grouping, type sumQueues } from '../../../queue/control/stats.ts';
import { Facts, Foreign, Heading, Time } from '../../frame/elements.tsx';
import { FilterSelect, Filters, NextPager, Table } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';
import { changePath, domainPath, mailPath, type OperatorContext, Refused } from './criteria.tsx';
import { QueueTabs } from './tabs.tsx';

export type QueueStats = Awaited<ReturnType<typeof sumQueues>>;

/** Number of groups on a page, which stays within 100 kB. */
const PAGE_SIZE = 100;

export const queuePage = definePage({
  area: 'operator',
  path: '/queue',
  menu: { group: 'operating', label: ({ queue }) => queue.title },
  async show(context) {
    const { operator, query, texts } = context;
    const { queue } = texts;
    const by = query.get('by') || 'domain';
    const asked = { by, limit: PAGE_SIZE, after: query.get('after') ?? '' };
    const stats = await answerOf(operator.get<QueueStats>('/queue/stats', asked));
    const options = GROUPINGS.map((value) => ({ value, label: queue.groupings[value] }));
    return {
      title: queue.title,
      body: (
        <>
          <Heading title={queue.title} />
          <QueueTabs context={context} />
          <p>{queue.text}</p>
          <Filters context={context}>
            <FilterSelect context={context} name="by" label={queue.by} options={options} fallback="domain" />
          </Filters>
          {stats instanceof Error ? (
            <Refused context={context} refusal={stats} />
          ) : (
            <>
              <Groups context={context} by={by as Grouping} stats={stats} />
              <NextPager context={context} next={stats.next} />
            </>
          )}
        </>
      ),
    };
  },
});

type GroupsProps = {
  context: OperatorContext;
  by: Grouping;
  stats: QueueStats;
  /** Criteria of all groups, such as the domain whose mail they are. */
  criteria?: Readonly<Record<string, string>>;
};

/** The numbers of the queue, and a table of its groups. */
export function Groups({ context, by, stats: { countedAt, total, groups }, criteria = {} }: GroupsProps) {
  const { queue } = context.texts;
  const { number } = context.formats;
  const nameOf = (group: QueueStats['groups'][number]) => String((group as Record<string, unknown>)[by]);
  const counts = (['waiting', 'deferred', 'due', 'held', 'inFlight'] as const).map((name) => ({
    name,
    label: queue[name],
  }));
  return (
    <>
      <Facts
        facts={[
          ...counts.map(({ name, label }) => [label, number(total[name])] as const),
          [queue.nextDueAt, <Time key="" context={context} at={total.nextDueAt} otherwise={queue.noneDue} />],
          [queue.countedAt, <Time key="" context={context} at={countedAt} />],
        ]}
      />
      <Table
        context={context}
        caption={`${queue.recipients}: ${queue.groupings[by]}`}
        rows={groups}
        keyOf={nameOf}
        empty={queue.empty}
        columns={[
          {
            label: queue.groupings[by],
            cell: (group) => <GroupLink context={context} by={by} name={nameOf(group)} criteria={criteria} />,
          },
          ...counts.map(({ name, label }) => ({
            label,
            isNumeric: true,
            cell: (group: QueueStats['groups'][number]) => number(group[name]),
          })),
          {
            label: queue.nextDueAt,
            cell: ({ nextDueAt }) => <Time context={context} at={nextDueAt} otherwise={queue.noneDue} />,
          },
          {
            label: context.texts.frame.actions,
            cell: (group) =>
              isNamed(nameOf(group)) && (
                <a href={changePath({ ...criteria, [by]: nameOf(group) })}>{context.texts.frame.edit}</a>
              ),
          },
        ]}
      />
    </>
  );
}

type GroupLinkProps = {
  context: OperatorContext;
  by: Grouping;
  name: string;
  criteria: Readonly<Record<string, string>>;
};

/** A domain leads to its page, and other groups to their mail. */
function GroupLink({ context, by, name, criteria }: GroupLinkProps) {
  const { groups, kinds } = context.texts.queue;
  const words: Readonly<Record<string, string>> = by === 'kind' ? kinds : groups;
  const label = Object.hasOwn(words, name) ? (words[name] ?? name) : name;
  if (!isNamed(name)) return <span class="muted">{label}</span>;
  const page = by === 'domain' ? domainPath(name) : mailPath({ ...criteria, [by]: name });
  return (
    <a href={page}>
      <Foreign text={label} />
    </a>
  );
}

/** Returns false for the groups of domains without a known site and of test mail, which stand in parentheses and are no criterion. */
function isNamed(group: string): boolean {
  return !group.startsWith('(');
}
