/** Adds a domain with a key pair of its own. None of its records is verified yet. */
import type { App } from '../app.ts';
import type { ParentPolicy } from '../mail/dmarc/policy-records.ts';
import { TimeoutError, withTimeout } from '../system/clock.ts';
import { invalid } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { lookUpParentPolicy } from './check.ts';
import type { KeyPairs } from './key-pairs.ts';
import { unusedKey } from './keys/states.ts';
import { readDomainName } from './name.ts';
import { prepareEd25519, requireReleased } from './rotation/rotate.ts';
import type { NewDomain } from './schemas.ts';
import { newSelector } from './selector.ts';
import { newState } from './states.ts';
import { type Domain, requireNewDomain } from './store.ts';
import { addDomain } from './writes.ts';

/** Time for which the creation of a domain waits for DNS. The caller waits too. */
const POLICY_TIMEOUT_MS = 2_000;

/**
 * Adds a domain and returns it.
 * @throws AppError validation_error, already_exists, unavailable
 */
export async function createDomain(
  app: App & { keyPairs: KeyPairs },
  tenantId: Domain['tenantId'],
  { name: text, productType = 'api', region: wanted, ed25519 = false }: NewDomain,
): Promise<Domain> {
  const name = readDomainName(app.config, text);
  const region = readRegion(app.config.regions, wanted);
  await requireNewDomain(app.db.read, tenantId, name);
  if (ed25519) requireReleased(app);
  const [key, parentPolicy] = await Promise.all([app.keyPairs.generate(), askParentPolicy(app, name)]);
  const now = app.clock.now();
  const id = newId('dom', now);
  const domain: Domain = {
    ...newState(now, app.random(), parentPolicy),
    id,
    tenantId,
    name,
    productType,
    region,
    openTracking: 0,
    clickTracking: 0,
    selector: newSelector(),
    publicKey: key.publicKeyBase64,
    privateKeySealed: app.sealer.seal(key.privateKeyPem, [tenantId, id]),
    createdAt: now,
    updatedAt: now,
    keys: [unusedKey(newSelector(), 'rsa')],
  };
  return app.db.commit(addDomain, { domain, ed25519: await prepareEd25519(app, domain, ed25519) });
}

/**
 * Returns the DMARC policy that a parent of the domain sets for it, so that the first records that are shown are none weaker. Without
 * an answer in time there is none, and the first check finds it.
 */
async function askParentPolicy(
  { clock, dns }: Pick<App, 'clock' | 'dns'>,
  name: string,
): Promise<ParentPolicy | undefined> {
  const what = 'The lookup of the DMARC policy';
  try {
    const lookUp = lookUpParentPolicy(dns.fresh, name);
    return (await withTimeout(clock, lookUp, { timeoutMs: POLICY_TIMEOUT_MS, what })) ?? undefined;
  } catch (error) {
    if (error instanceof TimeoutError) return undefined;
    throw error;
  }
}

/**
 * Returns the wanted region, or the first one when the request names none.
 * @throws AppError validation_error
 */
export function readRegion(regions: readonly string[], wanted: string | undefined): string {
  const region = wanted === undefined ? regions[0] : regions.find((code) => code === wanted);
  if (region === undefined) throw invalid('region', `\`region\` must be one of: ${regions.join(', ')}`);
  return region;
}
