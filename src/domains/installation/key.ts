/**
 * The DKIM key of the installation: it signs reports and seals mail that is forwarded, both in the name of `<hostname>`. It is
 * made when it is first needed, and kept sealed like the keys of domains.
 */
import { createPrivateKey } from 'node:crypto';
import type { InstallationKeyRow } from '../../db/own-tables.ts';
import { generateDkimKey } from '../../mail/dkim/key.ts';
import type { DkimKey } from '../../mail/dkim/sign.ts';
import type { PartApp } from '../../thread-app.ts';
import { newSelector } from '../selector.ts';
import { findInstallationKey, insertInstallationKey } from './store.ts';

/** The public key is in base64, in the form of the DNS record. */
export type InstallationKey = DkimKey & { publicKey: string };

type KeyApp = Pick<PartApp, 'db' | 'sealer' | 'config' | 'clock'>;

/** First part of the associated data of the sealed key. The second one is its selector. */
const SEALED_FOR = 'installation key';

const keys = new WeakMap<PartApp['sealer'], Promise<InstallationKey>>();

/** Returns the key, and makes it at the first call of all. Concurrent calls get the same one. */
export function installationKeyOf(app: KeyApp): Promise<InstallationKey> {
  const known = keys.get(app.sealer);
  if (known !== undefined) return known;
  const opening = open(app);
  keys.set(app.sealer, opening);
  opening.catch(() => keys.delete(app.sealer));
  return opening;
}

async function open(app: KeyApp): Promise<InstallationKey> {
  const row = (await findInstallationKey(app.db.read)) ?? (await create(app));
  const pem = app.sealer.open(row.privateKeySealed, [SEALED_FOR, row.selector]);
  return {
    domain: app.config.hostname.toLowerCase(),
    selector: row.selector,
    algorithm: 'rsa-sha256',
    privateKey: createPrivateKey(pem),
    publicKey: row.publicKey,
  };
}

async function create({ db, sealer, clock }: KeyApp): Promise<InstallationKeyRow> {
  const { privateKeyPem, publicKeyBase64: publicKey } = await generateDkimKey();
  const selector = newSelector();
  const privateKeySealed = sealer.seal(privateKeyPem, [SEALED_FOR, selector]);
  return db.commit(insertInstallationKey, { selector, publicKey, privateKeySealed, createdAt: clock.now() });
}
