/** Imports what defines the operations of TLS policies, which run in the threads of the database. */
import './store.ts';
