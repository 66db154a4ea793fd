/** Shows the tenant of mail in tables. The one of the installation itself is in no list of tenants, so its id would tell nobody anything. */
import { INSTALLATION_TENANT } from '../tenants/installation.ts';

/** Returns the id of a tenant, or `installation` for the mail that the installation itself sends. */
export function shownTenant(id: string): string {
  return id === INSTALLATION_TENANT ? 'installation' : id;
}
