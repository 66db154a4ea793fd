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
import { endEd25519, startEd25519, startRotation } from './writes.ts';

type KeysApp = Pick<App, 'db' | 'clock' | 'egress' | 'sealer'>;
type Owned = { tenantId: Domain['tenantId']; id: string };

const ALGORITHMS: readonly Algorithm[] = ['rsa', 'ed25519'];

/**
 * Makes the next key of each algorithm of a domain, and returns the domain. A key that waits already stays, so that a repeated request
 * changes nothing.
 * @throws AppError not_found; invalid_state while the selectors are needed for earlier keys; unavailable
 */
export async function rotateKeys(
  app: KeysApp & { keyPairs: KeyPairs },
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
 * Begins or ends the signatures with Ed25519, and returns the domain.
 * @throws AppError not_found; invalid_state while earlier keys are still published; unavailable
 */
export async function changeEd25519(
  app: KeysApp,
  { enabled, ...owned }: Owned & { enabled: boolean },
): Promise<Domain> {
  const domain = await getDomain(app.db.read, owned.tenantId, owned.id);
  const owner = { ...owned, now: app.clock.now() };
  if (usesEd25519(domain.keys) === enabled) return domain;
  requireReleased(app);
  if (!enabled) return app.db.commit(endEd25519, owner);
  const made = sealKey(app, owned, { algorithm: 'ed25519', pair: await generateEd25519Key() });
  return app.db.commit(startEd25519, { ...owner, made, spareSelector: newSelector() });
}
