/** Imports what defines the operations of mailbox imports, which run in the threads of the database. */
import './error-store.ts';
import './folder-store.ts';
import './store.ts';
