/**
 * The addresses at which reports of other servers arrive. That of a domain has the id of the domain, which DNS shows anyway and
 * nobody can guess, so that a report belongs to exactly one of several tenants with the same domain.
 */
import type { Config } from '../config/config.ts';
import type { DomainRow } from '../db/tables.ts';
import { ID_CHARACTERS, isId } from '../system/ids.ts';

const LOCAL_PART = 'reports';
const DOMAIN_MARK = `${LOCAL_PART}+`;

/** Returns the address for reports about a domain. */
export function reportAddress({ hostname }: Pick<Config, 'hostname'>, { id }: Pick<DomainRow, 'id'>): string {
  return `${DOMAIN_MARK}${id.slice(-ID_CHARACTERS)}@${hostname.toLowerCase()}`;
}

/** Returns the address for reports about the names of this installation. */
export function ownReportAddress({ hostname }: Pick<Config, 'hostname'>): string {
  return `${LOCAL_PART}@${hostname.toLowerCase()}`;
}

/** The meaning of a local part at the hostname: reports about a domain, or about this installation. */
type ReportRecipient = { kind: 'domain'; domainId: DomainRow['id'] } | { kind: 'installation' };

/** Returns what a local part in lower case stands for, or undefined. */
export function readReportLocalPart(localPart: string): ReportRecipient | undefined {
  if (localPart === LOCAL_PART) return { kind: 'installation' };
  if (!localPart.startsWith(DOMAIN_MARK)) return undefined;
  const domainId = `dom_${localPart.slice(DOMAIN_MARK.length)}`;
  return isId('dom', domainId) ? { kind: 'domain', domainId } : undefined;
}
