/** Makes new DKIM keys for a domain, when its tenant or the operator asks for them. */
import type { App } from '../../app.ts';
import { generateEd25519Key } from '../../mail/dkim/key.ts';
import { isoTime } from '../../system/clock.ts';
import { HeldEgressError } from '../../system/egress.ts';
import { AppError } from '../../system/errors.ts';
import type { KeyPair, KeyPairs } from '../key-pairs.ts';
import { type Algorithm, type NewKey, nextKeyOf, usesEd25519 } from '../keys/states.ts';
import { newSelector } from '../selector.ts';
import { type Domain, getDomain } from '../store.ts';
import { type Ed25519Change, startRotation } from './writes.ts';

type Owned = { tenantId: Domain['tenantId']; id: string };

const ALGORITHMS: readonly Algorithm[] = ['rsa', 'ed25519'];

/**
 * Makes the next key of each algorithm of a domain, and returns the domain. A key that waits already stays, so that a repeated request
 * changes nothing.
 * @throws AppError not_found; invalid_state while the selectors are needed for earlier keys; unavailable
 */
export async function rotateKeys(
  app: Pick<App, 'db' | 'clock' | 'egress' | 'sealer'> & { keyPairs: KeyPairs },
  { tenantId, id }: Owned,
): Promise<Domain> {
  requireReleased(app);
  const domain = await getDomain(app.db.read, tenantId, id);
  const { selector } = domain;
  const keys = [{ selector, algorithm: 'rsa', state: 'signing', since: 0 } as const, ...domain.keys];
  const next = ALGORITHMS.map((algorithm) => ({
    algorithm,
    ...nextKeyOf(keys, algorithm, app.clock.now()),
  }));
  const free = next.filter(({ kind }) => kind === 'free');
  if (free.length === 0) {
    if (next.some(({ kind }) => kind === 'waiting')) return domain;
    throw tooEarly(next.flatMap((one) => (one.kind === 'busy' ? [one.notBefore] : [])));
  }
  const made = await Promise.all(free.map(({ algorithm }) => makeKey(app, domain, algorithm)));
  return app.db.commit(startRotation, { id: domain.id, tenantId, made, now: app.clock.now() });
}

/** The keys of a restored installation are those of the one that it is a copy of. @throws AppError unavailable */
export function requireReleased({ egress }: Pick<App, 'egress'>): void {
  if (egress.isHeld) throw new AppError('unavailable', `No key is rotated: ${new HeldEgressError().message}`);
}

function tooEarly(times: readonly number[]): AppError {
  return new AppError(
    'invalid_state',
    `The key before is still published for mail that was signed with it; the next rotation can begin on ${isoTime(Math.min(...times))} or later`,
  );
}

async function makeKey(
  app: Pick<App, 'sealer'> & { keyPairs: KeyPairs },
  { id, tenantId }: Pick<Domain, 'id' | 'tenantId'>,
  algorithm: Algorithm,
): Promise<NewKey> {
  const pair = await (algorithm === 'rsa' ? app.keyPairs.generate() : generateEd25519Key());
  return sealKey(app, { id, tenantId }, { algorithm, pair });
}

function sealKey(
  { sealer }: Pick<App, 'sealer'>,
  { id, tenantId }: Owned,
  { algorithm, pair }: { algorithm: Algorithm; pair: KeyPair },
): NewKey {
  const privateKeySealed = sealer.seal(pair.privateKeyPem, [tenantId, id]);
  return { selector: newSelector(), algorithm, publicKey: pair.publicKeyBase64, privateKeySealed };
}

/**
 * Returns the change that makes a domain sign with Ed25519 too, or no longer; undefined when it is as wanted already.
 * @throws AppError unavailable
 */
export async function prepareEd25519(
  app: Pick<App, 'egress' | 'sealer'>,
  { id, tenantId, keys }: Pick<Domain, 'id' | 'tenantId' | 'keys'>,
  isWanted: boolean,
): Promise<Ed25519Change | undefined> {
  if (usesEd25519(keys) === isWanted) return undefined;
  requireReleased(app);
  if (!isWanted) return { kind: 'end' };
  const pair = await generateEd25519Key();
  const made = sealKey(app, { id, tenantId }, { algorithm: 'ed25519', pair });
  return { kind: 'start', made, spareSelector: newSelector() };
}
