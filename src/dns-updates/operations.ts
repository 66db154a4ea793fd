/** Imports what defines the operations of dynamic updates, which run in the threads of the database. */
import './store.ts';
