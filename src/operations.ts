/**
 * Every module that defines a write or a long read. The database's threads import this one, and so find an operation by
 * its name; a module that is missing here fails at the first use of what it defines.
 */
import './domains/store.ts';
import './emails/store.ts';
import './queue/claim.ts';
import './queue/settle.ts';
import './suppressions/store.ts';
import './tenants/store.ts';
import './webhooks/store.ts';
