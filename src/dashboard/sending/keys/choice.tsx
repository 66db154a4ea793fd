/** API keys as things that others name: the choice of one in a filter, and a link to one. */
import { Foreign } from '../../frame/elements.tsx';
import { MAX_OFFERED } from '../../frame/lists.tsx';
import type { TenantContext } from '../../page.ts';
import type { ApiKeys } from './list.tsx';

/** An API key by its name; by its id when there are many keys, or when it is removed. Viewers see no keys. */
export function KeyLink({
  context,
  keyId,
  name,
}: {
  context: TenantContext;
  keyId: string;
  name: string | undefined;
}) {
  if (!context.can('write')) return <code>{keyId}</code>;
  return (
    <a href={context.at(`/keys/${keyId}`)}>
      {name === undefined ? <code>{keyId}</code> : <Foreign text={name} />}
    </a>
  );
}

/** Returns the keys by their names; undefined when there are many. Viewers see none. */
export async function listKeys({ api, can }: TenantContext) {
  if (!can('write')) return undefined;
  const { data, hasMore } = await api.get<ApiKeys>('/api-keys', { limit: MAX_OFFERED });
  return hasMore
    ? undefined
    : data.map(({ id, name, hint }) => ({ value: id, label: `${name} (…${hint}…)` }));
}
