/** Imports what defines the operations of ledger, which run in the threads of the database. */
import './expire.ts';
import './run-store.ts';
