/** Domains as rows, made without a key pair (which costs a tenth of a second), and their records as zone text. */
import { recordsToPublish } from '../../src/domains/records.ts';
import { newState } from '../../src/domains/states.ts';
import type { Domain } from '../../src/domains/store.ts';
import { addDomain as addDomainWrite } from '../../src/domains/writes.ts';
import { newId } from '../../src/system/ids.ts';
import type { TestApp } from '../support/test-app.ts';

export const HOSTNAME = 'mx.postrider.example';

/** Of the shape of a key, and no key. */
export const PUBLIC_KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A';

export function domainRow(tenantId: Domain['tenantId'], fields: Partial<Domain> = {}): Domain {
  // A domain that may send has been verified at some time.
  const isVerified = fields.status === 'verified' || fields.status === 'temporary_failure';
  return {
    ...newState(0, 0),
    verifiedSince: isVerified ? 0 : null,
    id: newId('dom', 0),
    tenantId,
    name: 'example.com',
    productType: 'api',
    region: 'sg',
    openTracking: 0,
    clickTracking: 0,
    selector: 'prabcdefgh',
    publicKey: PUBLIC_KEY,
    privateKeySealed: 'v1.00000000.',
    createdAt: 0,
    updatedAt: 0,
    keys: [],
    ...fields,
  };
}

export async function addDomain(test: TestApp, fields: Partial<Domain> = {}): Promise<Domain> {
  const domain = domainRow(test.tenantId, fields);
  await test.app.db.commit(addDomainWrite, { domain, ed25519: undefined });
  return domain;
}

export type Published = {
  record: string;
  type: string;
  name: string;
  value: string;
  alternative?: { value: string };
};

/**
 * The records as their owner publishes them, but for those that `change` replaces or, with '', leaves out; and the key
 * that the operator publishes where the DKIM record leads.
 */
export function zoneOf(
  records: readonly Published[],
  change: Partial<Record<'SPF' | 'DKIM' | 'DMARC' | 'TRACKING', string>> = {},
): string {
  return records
    .map(({ record, name, type, value, alternative }) => {
      const key = alternative ? `\n${value} TXT "${alternative.value}"` : '';
      return change[record as keyof typeof change] ?? `${name} ${type} "${value}"${key}`;
    })
    .join('\n');
}

export function zoneOfDomain(domain: Domain, change: Parameters<typeof zoneOf>[1] = {}): string {
  return zoneOf(recordsToPublish({ hostname: HOSTNAME }, domain), change);
}
