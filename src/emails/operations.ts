/** Imports what defines the operations of emails, which run in the threads of the database. */
import './accept.ts';
import './approval.ts';
import './idempotency/store.ts';
import './list/read.ts';
import './list/subjects-store.ts';
import './store.ts';
