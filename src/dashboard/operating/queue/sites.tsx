/** The sites that mail waits for, each with its queue, and with what suspends or resumes it. */
import type { ShownAction } from '../../../queue/control/show.ts';
import { Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { NextPager, Table } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';
import { changePath, mailPath, type OperatorContext, sitePath, tracePath } from './criteria.tsx';
import type { QueueStats } from './overview.tsx';
import { QueueTabs } from './tabs.tsx';

/** Number of sites on a page, which stays within 100 kB. */
const PAGE_SIZE = 50;

type Group = QueueStats['groups'][number];
type Site = { name: string; counts: Group | undefined; hold: ShownAction | undefined };

export const sitesPage = definePage({
  area: 'operator',
  path: '/queue/sites',
  async show(context) {
    const { operator, query, texts } = context;
    const { sites } = texts;
    const [stats, { actions }] = await Promise.all([
      operator.get<QueueStats>('/queue/stats', {
        by: 'site',
        limit: PAGE_SIZE,
        after: query.get('after') ?? '',
      }),
      operator.get<{ actions: ShownAction[] }>('/queue/actions'),
    ]);
    return {
      title: sites.title,
      body: (
        <>
          <Heading title={sites.title} />
          <QueueTabs context={context} />
          <p>{sites.text}</p>
          <SiteTable context={context} rows={sitesOf(stats, actions)} />
          <NextPager context={context} next={stats.next} />
        </>
      ),
    };
  },
});

/** Returns the sites with mail, and on the last page those that are suspended without any. Groups in parentheses are no sites. */
function sitesOf({ groups, next }: QueueStats, actions: readonly ShownAction[]): Site[] {
  const holds = actions.filter(({ verb, isInForce, site }) => verb === 'hold' && isInForce && site !== null);
  const named = groups.flatMap((counts) => {
    const name = String((counts as Record<string, unknown>)['site']);
    return name.startsWith('(') ? [] : [{ name, counts, hold: holds.find((hold) => isOf(hold, name)) }];
  });
  const others = next === null ? holds.filter((hold) => !named.some((site) => site.hold === hold)) : [];
  return [...named, ...others.map((hold) => ({ name: hold.site ?? '', counts: undefined, hold }))];
}

/** Returns true for a hold of this site alone, which names it or one of its hosts. */
function isOf({ site, domain, tenantId, kind, class: replyClass }: ShownAction, name: string): boolean {
  const isNarrower = [domain, tenantId, kind, replyClass].some((criterion) => criterion !== null);
  return !isNarrower && (site === name || name.split(',').includes(site ?? ''));
}

function SiteTable({ context, rows }: { context: OperatorContext; rows: readonly Site[] }) {
  const { sites, queue, frame } = context.texts;
  const { number } = context.formats;
  const counts = (['waiting', 'deferred', 'due', 'held', 'inFlight'] as const).map((name) => ({
    label: queue[name],
    isNumeric: true,
    cell: (site: Site) => number(site.counts?.[name] ?? 0),
  }));
  return (
    <Table
      context={context}
      caption={sites.title}
      rows={rows}
      keyOf={({ name, hold }) => `${name} ${hold?.id}`}
      empty={sites.none}
      columns={[
        {
          label: sites.site,
          cell: ({ name }) => (
            <a href={sitePath(name)}>
              <Foreign text={name.replaceAll(',', ', ')} />
            </a>
          ),
        },
        { label: sites.state, cell: ({ hold }) => <SiteState context={context} hold={hold} /> },
        ...counts,
        { label: frame.actions, cell: (site) => <Links context={context} site={site} /> },
      ]}
    />
  );
}

function SiteState({ context, hold }: { context: OperatorContext; hold: ShownAction | undefined }) {
  const { sites } = context.texts;
  if (!hold) return <Status tone="good">{sites.delivering}</Status>;
  return (
    <>
      <Status tone="warning">{sites.suspended}</Status> {sites.since}{' '}
      <Time context={context} at={hold.createdAt} /> <Foreign text={hold.reason} />
    </>
  );
}

/** Each link leads to the page that counts the mail first. */
function Links({ context, site: { name, hold } }: { context: OperatorContext; site: Site }) {
  const { sites } = context.texts;
  const link = (text: string, href: string) => (
    <a href={href} aria-label={`${text}: ${name}`}>
      {text}
    </a>
  );
  return (
    <div class="links">
      {hold
        ? link(sites.resume, changePath({ verb: 'release', hold: hold.id }))
        : link(sites.suspend, changePath({ verb: 'hold', site: name }))}
      {link(sites.retry, changePath({ verb: 'retry', site: name }))}
      {link(sites.mail, mailPath({ site: name }))}
      {link(sites.trace, tracePath(name))}
    </div>
  );
}
