/** The writes of a request that changes a domain and its keys together: both are stored, or neither. */
import { defineWrite } from '../db/operation.ts';
import { changeEd25519, type Ed25519Change, type Owner } from './rotation/writes.ts';
import { changeSettings, type Domain, getDomain, insertDomain, type SettingsChange } from './store.ts';

type WithEd25519 = { ed25519: Ed25519Change | undefined };

/**
 * Stores a new domain, and returns it.
 * @throws AppError the errors of `insertDomain`
 */
export const addDomain = defineWrite(
  'domains.add',
  async (tx, { domain, ed25519 }: WithEd25519 & { domain: Domain }): Promise<Domain> => {
    const { id, tenantId, createdAt: now } = domain;
    await insertDomain(tx, domain);
    if (ed25519) await changeEd25519(tx, { id, tenantId, now }, ed25519);
    return getDomain(tx, tenantId, id);
  },
);

/**
 * Changes the settings and the Ed25519 signatures of a domain, and returns it.
 * @throws AppError not_found; invalid_state while earlier Ed25519 keys are still published
 */
export const updateDomain = defineWrite(
  'domains.update',
  async (
    tx,
    { ed25519, spread, change, ...owner }: WithEd25519 & Owner & Pick<SettingsChange, 'spread' | 'change'>,
  ): Promise<Domain> => {
    if (ed25519) await changeEd25519(tx, owner, ed25519);
    return changeSettings(tx, { ...owner, spread, change });
  },
);
