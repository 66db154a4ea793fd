/** The results of a broadcast: numbers that counters keep, its links, and the ways to more. */
import type { Static } from 'typebox';
import type { clickedLinksSchema } from '../../../broadcasts/clicked-links/api.ts';
import type { ShownBroadcast, ShownCounts } from '../../../broadcasts/schemas.ts';
import { Foreign } from '../../frame/elements.tsx';
import { ActionButton, Disclosure } from '../../frame/forms.tsx';
import { Pager, pageIn, Table } from '../../frame/lists.tsx';
import { shortened } from '../../frame/shortened.ts';
import type { TenantContext } from '../../page.ts';
import { broadcastPath } from './facts.tsx';

type Links = Static<typeof clickedLinksSchema>['data'];

/** Number of links on a page, and of characters of each: a broadcast has up to 500, and the export has all of them whole. */
const SHOWN_LINKS = 50;
const SHOWN_CHARACTERS = 300;

/** Counts that are shown as cards, in their order. */
const SHOWN = [
  'recipients',
  'delivered',
  'bounced',
  'uniqueOpened',
  'uniqueClicked',
  'unsubscribed',
  'complained',
  'suppressed',
  'optedOut',
  'canceled',
  'failed',
] as const satisfies readonly (keyof ShownCounts)[];

/** Counts that are shares of the copies that were delivered. */
const OF_DELIVERED: ReadonlySet<string> = new Set([
  'uniqueOpened',
  'uniqueClicked',
  'unsubscribed',
  'complained',
]);

export async function reportParts(context: TenantContext, broadcast: ShownBroadcast) {
  const { api, texts, at, can } = context;
  const { broadcasts } = texts;
  const { id, counts, startedAt } = broadcast;
  if (startedAt === null) return null;
  const links = await api.get<{ data: Links }>(`${broadcastPath(context)}/clicked-links`);
  return (
    <section aria-labelledby="results">
      <h2 id="results">{broadcasts.results}</h2>
      <Cards context={context} counts={counts} />
      <div class="buttons">
        <a href={at(`/broadcasts/${id}/recipients`)}>{broadcasts.recipients}</a>
        <a href={at(`/broadcasts/${id}/providers`)}>{broadcasts.providers}</a>
      </div>
      <LinkTable context={context} links={links.data} />
      {can('write') && counts.delivered > 0 && (
        <Disclosure label={broadcasts.again} isOpen={context.failed?.action === 'again'}>
          <p>{broadcasts.againText}</p>
          <ActionButton context={context} action="again" submit={broadcasts.again} />
        </Disclosure>
      )}
    </section>
  );
}

function Cards({ context, counts }: { context: TenantContext; counts: ShownCounts }) {
  const { texts, formats } = context;
  const { broadcasts } = texts;
  return (
    <div class="cards">
      {SHOWN.map((name) => (
        <div key={name} class="card">
          {broadcasts.counts[name]}
          <strong>{formats.number(counts[name])}</strong>
          {OF_DELIVERED.has(name) && counts.delivered > 0 && (
            <small>{broadcasts.ofDelivered(formats.percent(counts[name] / counts.delivered))}</small>
          )}
        </div>
      ))}
    </div>
  );
}

function LinkTable({ context, links }: { context: TenantContext; links: Links }) {
  const { texts, formats } = context;
  const { broadcasts } = texts;
  const count = (name: 'clicks' | 'uniqueClicks' | 'machineClicks') => ({
    label: broadcasts[name],
    cell: (link: Links[number]) => formats.number(link[name]),
    isNumeric: true,
  });
  const rows = links.map((link) => ({ ...link, id: String(link.number) }));
  const page = pageIn(rows, context.query, SHOWN_LINKS);
  return (
    <>
      <Table
        context={context}
        caption={broadcasts.links}
        rows={page.data}
        keyOf={({ id }) => id}
        empty={broadcasts.noLinks}
        columns={[
          { label: broadcasts.link, cell: ({ url }) => <Foreign text={shortened(url, SHOWN_CHARACTERS)} /> },
          ...(['clicks', 'uniqueClicks', 'machineClicks'] as const).map(count),
        ]}
      />
      <Pager context={context} page={page} isOrdered />
    </>
  );
}
