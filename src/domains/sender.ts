/**
 * Decides whether a tenant may send from a domain. It is checked before mail is accepted (specification 1, 4.1), and
 * again when scheduled mail becomes due.
 */
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import type { DomainRow, Mode } from '../db/tables.ts';
import { AppError } from '../system/errors.ts';
import type { PartApp } from '../thread-app.ts';
import { sandboxDomain, simulatorDomain } from './name.ts';
import type { FindDomain } from './named-domains.ts';
import { findDomainByName, findSendingDomain, type TrackingSettings } from './sending-store.ts';
import { maySend } from './states.ts';

export type Sender = {
  tenantId: DomainRow['tenantId'];
  mode: Mode;
  /** The domain of the From address, in lower case and A-labels. */
  domain: string;
  /** True when every recipient is at the simulator, so that no mail leaves this machine in any mode. */
  simulatorOnly: boolean;
};

/** Returns true for `sandbox.<hostname>`, which every tenant may use as the sender of simulated mail. */
export function isSandboxDomain(config: Pick<Config, 'hostname'>, domain: string): boolean {
  return domain.toLowerCase() === sandboxDomain(config);
}

/** Returns true for `simulator.<hostname>`, whose recipients behave as their names say. */
export function isSimulatorDomain(config: Pick<Config, 'hostname'>, domain: string): boolean {
  return domain.toLowerCase() === simulatorDomain(config);
}

/** Returns true for a domain whose mail never leaves this machine. */
export function isLocalDomain(config: Pick<Config, 'hostname'>, domain: string): boolean {
  return isSandboxDomain(config, domain) || isSimulatorDomain(config, domain);
}

/** The domain of a sender. Everything is null for the sandbox domain, which has no key and whose mail is not tracked. */
export type SenderDomain = {
  domainId: DomainRow['id'] | null;
  tracking: TrackingSettings | null;
  /** Domain of the return paths while its record is right; null means the installation's. */
  returnPathHost: DomainRow['returnPathHost'];
};

/**
 * Returns the domain whose key signs the mail. A verified parent domain is not enough.
 * @param findDomain finds the domain of the tenant; by default in the database
 * @throws AppError domain_not_verified
 */
export async function getSendingDomain(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  { tenantId, mode, domain, simulatorOnly }: Sender,
  findDomain: FindDomain = (owner, name) => findDomainByName(app.db.read, owner, name),
): Promise<SenderDomain> {
  if (isSandboxDomain(app.config, domain)) {
    if (mode === 'test' || simulatorOnly) return { domainId: null, tracking: null, returnPathHost: null };
    throw refusal(
      `${domain} sends with test keys, or to addresses at ${simulatorDomain(app.config)} alone; use a verified domain`,
    );
  }
  const found = await findDomain(tenantId, domain);
  if (found && maySend(found, app.clock.now())) {
    const { id: domainId, returnPathHost } = found;
    const { openTracking, clickTracking, trackingHost, trackingCheckedAt } = found;
    const tracking = { openTracking, clickTracking, trackingHost, trackingCheckedAt };
    return { domainId, tracking, returnPathHost };
  }
  throw refusal(
    found
      ? `The domain ${domain} is not verified; publish its DNS records, then POST /v1/domains/${found.id}/verify`
      : `The domain ${domain} is not one of yours; add it with POST /v1/domains, then publish its DNS records`,
  );
}

/**
 * Returns true when scheduled mail of the domain may still be sent when it becomes due: the domain may have failed or
 * been deleted since the mail was accepted. Other mail is not checked again.
 */
export async function mayStillSend(
  app: Pick<PartApp, 'db' | 'clock'>,
  domainId: DomainRow['id'],
): Promise<boolean> {
  const found = await findSendingDomain(app.db.read, domainId);
  return found !== undefined && maySend(found, app.clock.now());
}

function refusal(message: string): AppError {
  return new AppError('domain_not_verified', message, { param: 'from' });
}
