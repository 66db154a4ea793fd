/** Imports what defines the operations of the name server, which run in the threads of the database. */
import './store.ts';
