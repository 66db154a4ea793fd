/** The API keys of a tenant in a mode. */
import type { Static } from 'typebox';
import type { pageSchema } from '../../../http/json/page.ts';
import type { apiKeySchema } from '../../../tenants/schemas.ts';
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import { Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';
import { domainNames } from '../domains/choice.tsx';

export type ApiKey = Static<typeof apiKeySchema>;
export type ApiKeys = Static<ReturnType<typeof pageSchema<typeof apiKeySchema>>>;

export const keysPage = definePage({
  area: 'tenant',
  path: '/keys',
  // A key that only reads does not see other keys, and neither does a viewer.
  needs: 'write',
  menu: { group: 'sending', label: ({ keys }) => keys.title },
  async show(context) {
    const { keys, frame } = context.texts;
    const page = await context.api.get<ApiKeys>('/api-keys', pageQueryOf(context.query, []));
    const names = await domainNames(
      context,
      page.data.map(({ domainId }) => domainId),
    );
    return {
      title: keys.title,
      body: (
        <>
          <Heading title={keys.title}>
            <a class="button" href={context.at('/keys/new')}>
              {keys.create}
            </a>
          </Heading>
          <p>{keys.ofMode[context.mode]}</p>
          <Table
            context={context}
            caption={keys.title}
            rows={page.data}
            keyOf={({ id }) => id}
            empty={keys.none}
            columns={[
              {
                label: keys.name,
                cell: ({ id, name }) => (
                  <a href={context.at(`/keys/${id}`)}>
                    <Foreign text={name} />
                  </a>
                ),
              },
              { label: keys.hint, cell: ({ hint }) => <code>…{hint}…</code> },
              { label: keys.permission, cell: ({ permission }) => keys.permissions[permission] },
              {
                label: keys.domain,
                cell: ({ domainId }) =>
                  domainId === null ? keys.anyDomain : <bdi>{names.get(domainId)}</bdi>,
              },
              {
                label: keys.approval,
                cell: ({ requiresApproval }) =>
                  requiresApproval === null ? keys.noApproval : keys.approvals[requiresApproval],
              },
              { label: keys.addresses, cell: ({ allowedIps }) => allowedIps?.join(', ') ?? frame.all },
              { label: keys.expiresAt, cell: ({ expiresAt }) => <Time context={context} at={expiresAt} /> },
              {
                label: keys.lastUsedAt,
                cell: ({ lastUsedAt }) => <Time context={context} at={lastUsedAt} />,
              },
            ]}
          />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});
