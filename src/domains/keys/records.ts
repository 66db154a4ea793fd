/**
 * The optional records of the DKIM keys of a domain beside the RSA key that signs: where the next keys are looked for, and the Ed25519 key
 * (RFC 8463). Each is a CNAME to the name at which the operator publishes the key, so that the owner publishes it once.
 */
import type { Config } from '../../config/config.ts';
import { dkimKeyRecord } from '../../mail/dkim/key.ts';
import type { DnsLookups } from '../../system/dns.ts';
import { evaluateDkim, evaluateTracking, type Verdict } from '../check.ts';
import { type DnsRecord, dkimName, dkimTarget } from '../records.ts';
import type { Algorithm } from './states.ts';
import type { DomainKey } from './store.ts';

export type KeyRecord = {
  record: 'DKIM_NEXT' | 'DKIM_ED25519' | 'DKIM_ED25519_NEXT';
  purpose: 'dkim_next' | 'dkim_ed25519';
  type: 'CNAME';
  name: string;
  value: string;
  /** The key itself, for providers of DNS that cannot publish the CNAME. Absent while there is no key. */
  alternative?: DnsRecord;
};

/** A domain as the records need it. */
type KeyedName = {
  id: Parameters<typeof dkimTarget>[1]['id'];
  name: string;
  keys: readonly DomainKey[];
};

type Purposes = Pick<KeyRecord, 'record' | 'purpose'>;

const NEXT: Record<Algorithm, Purposes> = {
  rsa: { record: 'DKIM_NEXT', purpose: 'dkim_next' },
  ed25519: { record: 'DKIM_ED25519_NEXT', purpose: 'dkim_next' },
};
const ED25519: Purposes = { record: 'DKIM_ED25519', purpose: 'dkim_ed25519' };

/** Returns the records. Those of retired keys are among them, because the next key has the same name. */
export function keyRecordsToPublish(config: Pick<Config, 'hostname'>, domain: KeyedName): KeyRecord[] {
  return domain.keys.map((key) => {
    const { selector, publicKey, algorithm } = key;
    const name = dkimName({ name: domain.name, selector });
    const record: KeyRecord = {
      ...(isFirst(domain.keys, key) ? ED25519 : NEXT[algorithm]),
      type: 'CNAME',
      name,
      value: dkimTarget(config, { id: domain.id, selector }),
    };
    if (publicKey === '') return record;
    return { ...record, alternative: { type: 'TXT', name, value: dkimKeyRecord(publicKey, algorithm) } };
  });
}

/** Returns true for the Ed25519 key that signs, and for one that nothing has signed before. */
function isFirst(keys: readonly DomainKey[], { algorithm, state }: DomainKey): boolean {
  if (algorithm !== 'ed25519') return false;
  const isSigning = keys.some((key) => key.algorithm === 'ed25519' && key.state === 'signing');
  return state === 'signing' || (state === 'waiting' && !isSigning);
}

/** Checks one of the records: it must lead to the key, or to the place of a key that does not exist yet. */
export async function checkKeyRecord(
  dns: Pick<DnsLookups, 'txt' | 'cname'>,
  { name, value: target }: KeyRecord,
  { keys }: Pick<KeyedName, 'keys'>,
): Promise<Verdict> {
  const key = keys.find(({ selector }) => name.startsWith(`${selector}.`));
  const alias = await dns.cname(name);
  if (!key || key.publicKey === '') return evaluateTracking(alias, target);
  return evaluateDkim(alias, await dns.txt(name), { target, key });
}
