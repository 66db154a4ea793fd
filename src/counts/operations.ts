/** Imports what defines the operations of counts, which run in the threads of the database. */
import './store.ts';
