/** Changes the settings of a domain. Settings that the request does not name stay. */
import type { App } from '../app.ts';
import { readRegion } from './create.ts';
import { readTrackingHost } from './name.ts';
import type { DomainChange } from './schemas.ts';
import { changeDomain, type Domain, getDomain } from './store.ts';

/**
 * Changes the settings and returns the domain.
 * @throws AppError not_found, validation_error
 */
export async function updateDomain(
  app: Pick<App, 'db' | 'clock' | 'random' | 'config'>,
  { tenantId, id }: { tenantId: Domain['tenantId']; id: string },
  wanted: DomainChange,
): Promise<Domain> {
  const domain = await getDomain(app.db.read, tenantId, id);
  const { trackingSubdomain: host, openTracking, clickTracking, productType, region } = wanted;
  const change = {
    ...(host !== undefined && {
      trackingSubdomain: host === null ? null : readTrackingHost(app.config, domain.name, host),
    }),
    ...(openTracking !== undefined && { openTracking: toFlag(openTracking) }),
    ...(clickTracking !== undefined && { clickTracking: toFlag(clickTracking) }),
    ...(productType !== undefined && { productType }),
    ...(region !== undefined && { region: readRegion(app.config.regions, region) }),
  };
  return app.db.commit(changeDomain, {
    id: domain.id,
    tenantId,
    change,
    now: app.clock.now(),
    spread: app.random(),
  });
}

function toFlag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
