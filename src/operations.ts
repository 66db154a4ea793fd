/**
 * Imports every module that defines a write or a long read. The database threads import this file and find operations
 * by name. An operation whose module is missing here fails when it is first used.
 */
import './audiences/contacts/change.ts';
import './audiences/contacts/decide.ts';
import './audiences/contacts/export.ts';
import './audiences/contacts/import.ts';
import './audiences/delete.ts';
import './audiences/reach/store.ts';
import './audiences/segments/store.ts';
import './audiences/store.ts';
import './broadcasts/preflight/store.ts';
import './broadcasts/store.ts';
import './domains/spool/store.ts';
import './domains/store.ts';
import './emails/accept.ts';
import './emails/idempotency/store.ts';
import './emails/list/read.ts';
import './emails/store.ts';
import './events/store.ts';
import './exports/store.ts';
import './imports/store.ts';
import './jobs/store.ts';
import './inbound/routes/store.ts';
import './queue/attempts/store.ts';
import './queue/claim.ts';
import './queue/due/store.ts';
import './queue/held/hold.ts';
import './queue/held/trial.ts';
import './queue/state/recover.ts';
import './queue/state/release-unsent.ts';
import './queue/settle.ts';
import './queue/store.ts';
import './suppressions/change.ts';
import './suppressions/export.ts';
import './suppressions/import.ts';
import './suppressions/store.ts';
import './templates/store.ts';
import './tenants/store.ts';
import './topics/store.ts';
import './webhooks/deliveries/replay.ts';
import './webhooks/deliveries/store.ts';
import './webhooks/fan-out.ts';
import './webhooks/lease.ts';
import './webhooks/settle.ts';
import './webhooks/store.ts';
