/** Imports what defines the operations of events, which run in the threads of the database. */
import './store.ts';
import './tail-store.ts';
