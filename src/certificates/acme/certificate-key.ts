/** Keys of certificates by ACME, sealed for the name and the tenant that they belong to. */
import type { App } from '../../app.ts';
import type { AcmeCertificateRow } from '../../db/own-tables.ts';
import { generateCertificateKey } from '../new-key.ts';

type Owner = Pick<AcmeCertificateRow, 'name' | 'tenantId'>;

/** First part of the associated data of a sealed key. */
const SEALED_FOR = 'acme certificate';

function contextOf({ name, tenantId }: Owner): string[] {
  return [SEALED_FOR, name, tenantId ?? ''];
}

/** Seals a key in PEM, or a new one on the curve P-256 when none is given. */
export async function sealCertificateKey(
  { sealer }: Pick<App, 'sealer'>,
  owner: Owner,
  keyPem?: string,
): Promise<string> {
  return sealer.seal(keyPem ?? (await generateCertificateKey('ec')), contextOf(owner));
}

/**
 * Returns a key in PEM.
 * @throws Error when the value was changed or moved to another name, or sealed with another master key
 */
export function openCertificateKey({ sealer }: Pick<App, 'sealer'>, owner: Owner, sealed: string): string {
  return sealer.open(sealed, contextOf(owner));
}

/** Returns a key in PEM; undefined, with a line in the log, when it cannot be opened: the name then needs another one. */
export function tryOpenCertificateKey(
  app: Pick<App, 'sealer' | 'log'>,
  owner: Owner,
  sealed: string,
): string | undefined {
  try {
    return openCertificateKey(app, owner, sealed);
  } catch (err) {
    const { name, tenantId } = owner;
    app.log.error(
      { err, name, tenantId },
      'the key of a certificate cannot be opened, so another one is ordered',
    );
    return undefined;
  }
}
