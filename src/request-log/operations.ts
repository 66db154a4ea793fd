/** Imports what defines the operations of the request log, which run in the threads of the database. */
import './store.ts';
