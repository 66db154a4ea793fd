/** Imports what defines the operations of inbound, which run in the threads of the database. */
import './store.ts';
import './tasks/kind.ts';
import './tasks/read-store.ts';
