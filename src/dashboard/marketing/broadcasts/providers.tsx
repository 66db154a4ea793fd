/** How a broadcast fared with each provider of mailboxes. */
import type { Static } from 'typebox';
import type { providersSchema } from '../../../broadcasts/recipients/providers-api.ts';
import { Foreign, Heading } from '../../frame/elements.tsx';
import { isWhole, Later } from '../../frame/later.tsx';
import { Table } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';
import { broadcastPath, getBroadcast } from './facts.tsx';

type Providers = Static<typeof providersSchema>['data'];

export const providersPage = definePage({
  area: 'tenant',
  path: '/broadcasts/:broadcastId/providers',
  async show(context) {
    const { api, texts, formats, at } = context;
    const { broadcasts } = texts;
    const broadcast = await getBroadcast(context);
    const counted = isWhole(context)
      ? await api.get<{ data: Providers }>(`${broadcastPath(context)}/providers`)
      : undefined;
    const count = (label: string, name: keyof Providers[number], isOfDelivered = false) => ({
      label,
      cell: (row: Providers[number]) => {
        const value = Number(row[name]);
        const of = isOfDelivered ? row.delivered : row.recipients;
        const share = name !== 'recipients' && of > 0 ? ` (${formats.percent(value / of)})` : '';
        return formats.number(value) + share;
      },
      isNumeric: true,
    });
    return {
      title: broadcasts.providers,
      body: (
        <>
          <Heading title={broadcasts.providers}>
            <a href={at(`/broadcasts/${broadcast.id}`)}>{broadcasts.back}</a>
          </Heading>
          <p>
            <Foreign text={broadcast.subject} />
          </p>
          <Later context={context} id="providers">
            {counted && (
              <Table
                context={context}
                caption={broadcasts.providers}
                rows={counted.data}
                keyOf={({ provider }) => provider}
                columns={[
                  { label: broadcasts.provider, cell: ({ provider }) => broadcasts.providerNames[provider] },
                  count(broadcasts.counts.recipients, 'recipients'),
                  count(broadcasts.counts.delivered, 'delivered'),
                  count(broadcasts.counts.bounced, 'bounced'),
                  count(broadcasts.counts.uniqueOpened, 'opened', true),
                  count(broadcasts.counts.uniqueClicked, 'clicked', true),
                ]}
              />
            )}
          </Later>
        </>
      ),
    };
  },
});
