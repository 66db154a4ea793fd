/** Asks DNS for the three records and writes down what it said. */
import type { App } from '../app.ts';
import { checkRecords } from './check.ts';
import { type Domain, getDomain, recordCheck } from './store.ts';

/** The domain as it is after the check. @throws AppError not_found */
export async function verifyDomain(
  app: Pick<App, 'db' | 'clock' | 'config' | 'dns'>,
  tenantId: Domain['tenantId'],
  id: string,
): Promise<Domain> {
  const domain = await getDomain(app.db.read, tenantId, id);
  const verdicts = await checkRecords(app, domain);
  return app.db.commit(recordCheck, { id: domain.id, tenantId, verdicts, now: app.clock.now() });
}
