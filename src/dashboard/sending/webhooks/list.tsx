/** The webhook endpoints of a tenant in a mode. */
import type { Static } from 'typebox';
import type { pageSchema } from '../../../http/json/page.ts';
import type { endpointSchema } from '../../../webhooks/schemas.ts';
import { Foreign, Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { definePage, type TenantContext } from '../../page.ts';

export type Endpoint = Static<typeof endpointSchema>;
type Endpoints = Static<ReturnType<typeof pageSchema<typeof endpointSchema>>>;

export const webhooksPage = definePage({
  area: 'tenant',
  path: '/webhooks',
  menu: { group: 'sending', label: ({ webhooks }) => webhooks.title },
  async show(context) {
    const { webhooks } = context.texts;
    const page = await context.api.get<Endpoints>('/webhooks', pageQueryOf(context.query, []));
    return {
      title: webhooks.title,
      body: (
        <>
          <Heading title={webhooks.title}>
            {context.can('write') && (
              <a class="button" href={context.at('/webhooks/new')}>
                {webhooks.add}
              </a>
            )}
          </Heading>
          <p>{webhooks.ofMode[context.mode]}</p>
          <Table
            context={context}
            caption={webhooks.title}
            rows={page.data}
            keyOf={({ id }) => id}
            empty={webhooks.none}
            columns={[
              {
                label: webhooks.url,
                cell: ({ id, url, description }) => (
                  <>
                    <a href={context.at(`/webhooks/${id}`)}>
                      <Foreign text={url} />
                    </a>
                    {description !== null && (
                      <div class="muted">
                        <Foreign text={description} />
                      </div>
                    )}
                  </>
                ),
              },
              {
                label: webhooks.status,
                cell: (endpoint) => <EndpointStatus context={context} endpoint={endpoint} />,
              },
              { label: webhooks.events, cell: ({ events }) => events.join(', ') },
              {
                label: webhooks.waitingSince,
                cell: ({ waitingSince }) =>
                  waitingSince === null ? '' : <Time context={context} at={waitingSince} />,
              },
            ]}
          />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});

/** The state of an endpoint, with the reason why it is disabled. */
export function EndpointStatus({ context, endpoint }: { context: TenantContext; endpoint: Endpoint }) {
  const { webhooks } = context.texts;
  const [tone, text] = stateOf(webhooks, endpoint);
  return <Status tone={tone}>{text}</Status>;
}

function stateOf(
  webhooks: TenantContext['texts']['webhooks'],
  { disabledReason, failingSince }: Endpoint,
): readonly [Tone, string] {
  if (disabledReason === 'manual') return ['neutral', webhooks.paused];
  if (disabledReason !== null) return ['bad', webhooks.disabled[disabledReason]];
  return failingSince === null ? ['good', webhooks.enabled] : ['warning', webhooks.failing];
}
