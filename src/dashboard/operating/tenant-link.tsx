/** The id of a tenant, which leads to its page. The installation itself has none. */
import { INSTALLATION_TENANT } from '../../tenants/installation.ts';

export function TenantLink({ id }: { id: string }) {
  if (id === INSTALLATION_TENANT) return <code>{id}</code>;
  return (
    <a href={`/operator/tenants/${id}`}>
      <code>{id}</code>
    </a>
  );
}
