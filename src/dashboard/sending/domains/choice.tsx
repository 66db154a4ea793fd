/** The choice of a domain in forms about other things, such as an API key that is limited to one. */
import type { Static } from 'typebox';
import type { domainSchema } from '../../../domains/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import type { pageSchema } from '../../../http/json/page.ts';
import type { Form } from '../../../http/pages/form-body.ts';
import { AppError, invalid } from '../../../system/errors.ts';
import { Field, Select } from '../../frame/forms.tsx';
import { fieldOf, type TenantContext } from '../../page.ts';

export type Domain = Static<typeof domainSchema>;
export type Domains = Static<ReturnType<typeof pageSchema<typeof domainSchema>>>;

/** Maximum number of domains that are offered in a list. A tenant with more enters the name. */
const MAX_OFFERED = 50;
const FIELD = 'domainId';

/** Returns the field with the names of the domains; its empty value stands for all of them. */
export async function domainField(
  context: TenantContext,
  { action, help }: { action: string; help?: string },
) {
  const { data, hasMore } = await context.api.get<Domains>('/domains', { limit: MAX_OFFERED });
  const { keys } = context.texts;
  const common = { context, action, name: FIELD, label: keys.domain, help };
  if (hasMore) return <Field {...common} placeholder={keys.anyDomain} />;
  const options = data.map(({ name }) => ({ value: name, label: name }));
  return <Select {...common} options={[{ value: '', label: keys.anyDomain }, ...options]} />;
}

/**
 * Returns the domain that the field names; null when it is empty.
 * @throws AppError validation_error
 */
export async function readDomain({ api }: TenantContext, form: Form): Promise<Domain | null> {
  const name = fieldOf(form, FIELD).trim();
  if (name === '') return null;
  const { data } = await api.get<Domains>('/domains', { name });
  const [domain] = data;
  if (!domain) throw invalid(FIELD, `There is no domain ${name}`);
  return domain;
}

/** Returns the names of domains by their ids. A deleted domain has none. */
export async function domainNames(
  { api }: TenantContext,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  const found = await Promise.all(
    wanted.map(async (id) => {
      const name = await api.get<Domain>(path`/domains/${id}`).then(
        (domain) => domain.name,
        (error: unknown) => {
          if (error instanceof AppError && error.code === 'not_found') return id;
          throw error;
        },
      );
      return [id, name] as const;
    }),
  );
  return new Map(found);
}
