/** Lists the DNS records that belong to the account with an authority. */
import type { App } from '../../app.ts';
import type { OperatorRecord } from '../../domains/operator-records.ts';
import { issueValue, persistentRecordName } from './persistent-record.ts';
import { findAccount } from './store.ts';

/** Returns the records for the hostname; none before there is an account, and for an authority that names no issuer. */
export async function listAccountRecords({
  config: { acme, hostname },
  db,
}: Pick<App, 'config'> & { db: Pick<App['db'], 'read'> }): Promise<OperatorRecord[]> {
  const account = acme.directory === '' ? undefined : await findAccount(db.read, acme.directory);
  if (!account || account.url === null || account.issuer === null) return [];
  const host = hostname.toLowerCase();
  const value = issueValue(account.issuer, account.url);
  const caa: OperatorRecord = {
    type: 'CAA',
    name: host,
    // RFC 8659 section 4.2, with the parameter of RFC 8657 section 3.
    value: `0 issue "${value}"`,
    purpose:
      'only this account may have certificates for this name and those below it; other authorities refuse them',
    isOptional: true,
  };
  const persistent: OperatorRecord = {
    type: 'TXT',
    name: persistentRecordName(host),
    value,
    purpose:
      'proves the name by itself, if the authority offers dns-persist-01; with it, port 80 may stay closed',
    isOptional: true,
  };
  return acme.challenges.includes('dns-persist-01') ? [caa, persistent] : [caa];
}
