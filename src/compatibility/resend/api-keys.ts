/** The calls about API keys. A new key has the mode of the key that asks, and full access unless the call says otherwise. */
import type { NewApiKey } from '../../tenants/schemas.ts';
import type { Call } from './call.ts';
import { fieldsOf, given } from './fields.ts';
import { askPage, showPage } from './lists.ts';

type ApiKey = { id: string; name: string; createdAt: string; lastUsedAt: string | null };

export const apiKeyCalls: readonly Call[] = [
  {
    at: 'POST /api-keys',
    operation: 'createApiKey',
    ask({ body }) {
      const { name, permission, domain_id: domainId } = fieldsOf(body);
      const defaults = { permission: 'full_access' } satisfies Partial<NewApiKey>;
      return { body: { ...defaults, ...given({ name, permission, domainId }) } };
    },
    answer: ({ id, token }: { id: string; token: string }) => ({ id, token }),
  },
  {
    at: 'GET /api-keys',
    operation: 'listApiKeys',
    ask: askPage,
    answer: showPage(({ id, name, createdAt, lastUsedAt }: ApiKey) => ({
      id,
      name,
      created_at: createdAt,
      last_used_at: lastUsedAt,
    })),
  },
  {
    at: 'PATCH /api-keys/:id',
    operation: 'updateApiKey',
    ask: ({ body }) => ({ body: given({ name: fieldsOf(body)['name'] }) }),
    answer: ({ id }: ApiKey) => ({ object: 'api_key', id }),
  },
  {
    at: 'DELETE /api-keys/:id',
    operation: 'deleteApiKey',
    answer: (_: undefined, { params }) => ({ object: 'api_key', id: params['id'], deleted: true }),
  },
];
